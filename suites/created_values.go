package suites

import (
	"net/http"
	"slices"

	. "github.com/onsi/ginkgo/v2"
	"github.com/onsi/gomega"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/internal/paging"
	"outreach.example/conformance/schemas/variants"
	"outreach.example/conformance/spec"

	. "outreach.example/conformance/suites/api"

	. "outreach.example/conformance/suites/match"
)

// createdValues judges that a created test keeps every kind of value that its fields may
// have, wherever it is shown.
func createdValues() {
	for _, field := range KeptFields() {
		It("keeps "+field, Requires(stored(field)...), storedWhereShown(), Needs(Value(field), Implemented(spec.GetPlacementTest), Implemented(spec.ListPlacementTests)), func(api *API) { expectKeptValues(api, field) })
	}
	It("keeps values of several fields together", Requires(stored(KeptFields()...)...), storedWhereShown(),
		Needs(Value("campaign_id").For(spec.StateCreate("campaign_id")), Implemented(spec.GetPlacementTest), Implemented(spec.ListPlacementTests)), keepsValuesTogether)
}

// createdAtOnce is how many tests a spec creates before it deletes them: more would get in
// the way of walks through the list.
const createdAtOnce = 24

// expectKeptValues creates a test with each value of the field.
func expectKeptValues(api *API, field string) {
	values := ValuesOf(api, field)
	if len(values) == 0 {
		api.NotAssessed("%s", LackedValue(field))
	}
	for some := range slices.Chunk(values, createdAtOnce) {
		expectKept(api, field, some)
		TidyUp(api)
	}
	for _, view := range testViews {
		if kept := api.For(spec.StateCreate(field), view); !kept.Judged() {
			kept.NotAssessed("a created test with a value in %s", field)
		}
	}
}

// testViews are the operations that show a created test.
var testViews = []string{spec.CreatePlacementTest, spec.GetPlacementTest, spec.ListPlacementTests}

// expectKept creates tests. The response, a get and the list must show the values that
// were sent: a server that only echoes is caught, and so is one that shows a value in one
// place alone.
func expectKept(api *API, field string, values []variants.Variant) {
	id := spec.StateCreate(field)
	calls := make([]Call, len(values))
	for i, v := range values {
		calls[i] = Creating(api, field, v)
	}
	var made []Response
	var ids []string
	for _, r := range api.DoAll(calls...) {
		if r.OK() {
			made, ids = append(made, r), append(ids, r.ID())
		}
	}
	if len(made) == 0 {
		return
	}
	found, list := viewsOf(api, made, ids)
	for i, r := range made {
		sent := r.SentField(field)
		if IsUpToTheServer(field, sent) {
			continue
		}
		kept := Keep(field, sent)
		if shown := r.Row()[field]; Fits(kept, shown) && !Fits(EqualJSON(sent), shown) {
			api.Observe(spec.OpenPointNormalForm, "%s", field)
		}
		api.For(id, spec.CreatePlacementTest).Expect(r).To(HaveMember(field, kept))
		if found[i].Status == http.StatusOK {
			api.For(id, spec.GetPlacementTest).Expect(found[i]).To(HaveMember(field, kept))
		} else {
			api.For(id, spec.GetPlacementTest).Expect(found[i]).To(HaveStatusBecause(http.StatusOK, "200 and the test that was created"))
		}
		api.For(id, spec.ListPlacementTests).Expect(list).To(ShowField(r.ID(), field, kept))
	}
}

// viewsOf returns what a get shows of each created test, and a walk through the list that
// shows them.
func viewsOf(api *API, made []Response, ids []string) (found []Response, list Walk) {
	found = make([]Response, len(made))
	work := make([]func(), len(made))
	for i := range made {
		work[i] = func() { found[i] = Find(api, made[i]) }
	}
	api.Together(work...)
	return found, ListShowing(api, api.As(dataset.Main, spec.ListPlacementTests), ids...)
}

// findsSpecialNames creates tests whose names hold special characters, and searches for
// each by its full name.
func findsSpecialNames(api *API) {
	var calls []Call
	for _, v := range variants.Member(spec.CreatePlacementTest, "name").Valid {
		if !v.Open {
			calls = append(calls, Creating(api, "name", v))
		}
	}
	list := api.Request()
	work := make([]func(), len(calls))
	for i, k := range calls { // a server may cache what a search found
		work[i] = func() { api.Read(list.WithQuery("search", k.Members()["name"].(string))) }
	}
	api.Together(work...)
	var names, ids []string
	for _, made := range api.DoAll(calls...) {
		if made.OK() {
			names, ids = append(names, made.SentField("name").(string)), append(ids, made.ID())
		}
	}
	listed := ListShowing(api, list, ids...).ByKey()
	found := make([]Walk, len(ids))
	api.Eventually(func() bool { // a search may show a new row later than the list
		work := make([]func(), len(ids))
		for i := range ids {
			work[i] = func() { found[i] = api.Read(list.WithQuery("search", names[i])) }
		}
		api.Together(work...)
		return !slices.ContainsFunc(ids, func(id string) bool {
			return found[slices.Index(ids, id)].Keys()[paging.FoldID(id)] == 0
		})
	}).Should(gomega.BeTrue())
	for i, id := range ids {
		if listed[paging.FoldID(id)]["name"] == names[i] { // otherwise another requirement is broken
			api.Expect(found[i]).To(ShowRow(id, "the test "+Shorten(names[i])))
		}
	}
	if !api.For(spec.FilterSearchMissing).Judged() {
		api.NotAssessed("a created test that the list shows")
	}
}
