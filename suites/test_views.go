package suites

import (
	"maps"
	"net/http"
	"slices"
	"time"

	"github.com/onsi/gomega"
	"github.com/onsi/gomega/types"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/internal/paging"
	"outreach.example/conformance/schemas"
	"outreach.example/conformance/spec"

	. "outreach.example/conformance/suites/api"
)

// getLikeList reads some of the list's rows one by one and compares the fields that both
// show. A difference counts if it lasts: the specification does not say how soon a change
// shows in another view.
func getLikeList(api *API) {
	get := api.As(dataset.Main, api.Operation().ID)
	rows, _ := get.Operation.List()
	list := api.As(dataset.Main, rows.ID)
	tests := get.Operation.ID == spec.GetPlacementTest
	var made Response
	var before map[string]map[string]any
	if tests {
		made = Shown(api, NewTest(api))
		before = ListShowing(api, list, made.ID()).ByKey()
	} else {
		before = api.Read(list).ByKey()
	}
	var calls []Call
	for _, id := range sampleOf(list.Operation.Resource, before, 10) {
		calls = append(calls, get.WithID(id).MayGet(http.StatusNotFound)) // the others' tests may be gone
	}
	if tests {
		own := get.WithID(made.ID())
		if found := api.Do(own); IsMade(made, found) && found.Row()["timestamp_created"] != nil {
			expectCreationTime(api, made, found)
		}
		calls = append(calls, own)
	}
	var differing []func()
	api.Eventually(func() bool {
		shown := api.DoAll(calls...)
		after := api.Read(list).ByKey()
		calls, differing = nil, nil
		for _, response := range shown {
			id := paging.FoldID(response.Call.ID)
			row, still := after[id]
			if !response.OK() || !still || !schemas.Covers(spec.Documented(get.Operation.Resource, before[id]), row) {
				continue // gone, or changed meanwhile
			}
			judge := func() { api.Expect(response).To(AgreeWithRow(row)) }
			if Fits(AgreeWithRow(row), response) {
				judge()
				continue
			}
			calls, differing = append(calls, response.Call), append(differing, judge)
		}
		before = after
		return len(calls) == 0
	}).Should(gomega.BeTrue())
	for _, judge := range differing {
		judge()
	}
	if !api.For(spec.StateGetList).Judged() {
		api.NotAssessed("a row that %s and a get both show", rows.ID)
	}
}

// sampleOf is sample, and for each field of the resource that none of these rows has, the
// key of a row that has it.
func sampleOf(resource string, rows map[string]map[string]any, n int) []string {
	picked := sample(rows, n)
	has := map[string]bool{}
	adds := func(key string) (added bool) {
		for field, value := range spec.Documented(resource, rows[key]) {
			if value != nil && !has[field] {
				has[field], added = true, true
			}
		}
		return added
	}
	for _, key := range picked {
		adds(key)
	}
	for _, key := range slices.Sorted(maps.Keys(rows)) {
		if adds(key) {
			picked = append(picked, key)
		}
	}
	return picked
}

// sample returns up to n keys of a list's rows, spread over it.
func sample(rows map[string]map[string]any, n int) []string {
	keys := slices.Sorted(maps.Keys(rows))
	if len(keys) <= n {
		return keys
	}
	picked := make([]string, n)
	for i := range picked {
		picked[i] = keys[i*len(keys)/n]
	}
	return picked
}

// clockSkew is how far the clocks of two machines of a target may be apart that note when
// a test was created.
const clockSkew = time.Minute

// expectCreationTime expects the same time of creation in a get as in the response to the
// creation, but for the precision and the clocks of two machines.
func expectCreationTime(api *API, made, found Response) {
	const field = "timestamp_created"
	said, known := timeIn(made.Row()[field])
	shown, ok := timeIn(found.Row()[field])
	if !known || !ok { // the rules judge the form
		api.For(spec.StateGetList).Missing("a creation and a get that show %s", field)
		return
	}
	words := made.Text(field) + ", as in the response to the creation"
	api.For(spec.StateGetList).Judge(JudgeValue(found, "/"+field, shown, Be(words, gomega.BeTemporally("~", said, clockSkew))))
}

// timeIn parses a timestamp.
func timeIn(value any) (time.Time, bool) {
	text, _ := value.(string)
	t, err := time.Parse(time.RFC3339Nano, text)
	return t, err == nil
}

// expectMetadata reads a minimal and a full test. An empty value asks without
// the parameter.
func expectMetadata(api *API, withMetadata string, fits types.GomegaMatcher) {
	create := func() Call { return api.RequestAs(dataset.Main, spec.CreatePlacementTest) }
	for _, k := range []Call{create(), WithAllOptional(api, create())} {
		made := Shown(api, api.Do(k))
		get := api.As(dataset.Main, spec.GetPlacementTest).WithID(made.ID())
		if withMetadata != "" {
			get = get.WithQuery("with_metadata", withMetadata)
		}
		shown := api.Do(get)
		if !IsMade(made, shown) {
			api.NotAssessed("a get that shows the test that was created")
		}
		api.Expect(shown).To(HaveMember("metadata", fits))
	}
}

// getEveryKind reads tests of every kind that there is, and a full one with
// metadata.
func getEveryKind(api *API) {
	get := api.As(dataset.Main, spec.GetPlacementTest)
	list := api.Do(api.As(dataset.Main, spec.ListPlacementTests).WithQuery("limit", "50"))
	var calls []Call
	for _, row := range list.Rows() {
		if id, ok := row["id"].(string); ok {
			calls = append(calls, get.WithID(id).MayGet(http.StatusNotFound)) // the tests of other specs may be gone
		}
	}
	api.DoAll(calls...)
	made := Shown(api, api.Do(WithAllOptional(api, api.RequestAs(dataset.Main, spec.CreatePlacementTest))))
	api.Do(get.WithID(made.ID()).WithQuery("with_metadata", "true"))
}
