package suites

import (
	"net/http"
	"slices"

	. "github.com/onsi/ginkgo/v2"
	"github.com/onsi/gomega"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/internal/paging"
	"outreach.example/conformance/schemas/contract"
	"outreach.example/conformance/spec"

	. "outreach.example/conformance/suites/api"
)

// createdValues judges that a created test keeps every kind of value that its fields may
// have, wherever it is shown.
func createdValues() {
	for _, field := range KeptFields() {
		It("keeps "+field, Requires(stored(field)...), storedWhereShown(), Needs(Value(field), Implemented(spec.GetPlacementTest), Implemented(spec.ListPlacementTests)), func(api *API) { keepsValues(api, field) })
	}
	It("keeps values of several fields together", Requires(stored(KeptFields()...)...), storedWhereShown(),
		Needs(Value("campaign_id").For(spec.StateCreate("campaign_id")), Implemented(spec.GetPlacementTest), Implemented(spec.ListPlacementTests)), keepsValuesTogether)
}

// stored returns the requirements that a created test keeps the fields.
func stored(fields ...string) []spec.ID {
	ids := make([]spec.ID, len(fields))
	for i, field := range fields {
		ids[i] = spec.StateCreate(field)
	}
	return ids
}

// testViews are the operations that show a created test.
var testViews = []string{spec.CreatePlacementTest, spec.GetPlacementTest, spec.ListPlacementTests}

// storedWhereShown says that the spec judges its requirements on all operations
// that show a created test.
func storedWhereShown() any { return AlsoOn(testViews[1:]...) }

// keepsValues creates a test with each value of the field. The response, a get and the list
// must show the value: a server that only echoes is caught.
func keepsValues(api *API, field string) {
	const atOnce = 24 // more tests would get in the way of walks through the list
	values := ValuesOf(api, field)
	if len(values) == 0 {
		api.NotAssessed("%s", LackedValue(field))
	}
	for some := range slices.Chunk(values, atOnce) {
		var creations []Call
		for _, v := range some {
			creations = append(creations, Creating(api, field, v))
		}
		for _, test := range created(api, creations) {
			api.For(spec.StateCreate(field), spec.GetPlacementTest).Expect(test.found).To(HaveStatus(http.StatusOK))
			expectKept(api, test, field)
		}
		TidyUp(api)
	}
	needJudged(api, field)
}

// created creates tests and returns, of each that the server makes, what shows it.
func created(api *API, creations []Call) []creation {
	made := slices.DeleteFunc(api.DoAll(creations...), func(r Response) bool { return !r.OK() })
	if len(made) == 0 {
		return nil
	}
	var ids []string
	for _, r := range made {
		ids = append(ids, r.ID())
	}
	found := Each(api, made, func(r Response) Response { return Find(api, r) })
	list := ListShowing(api, api.As(dataset.Main, spec.ListPlacementTests), ids...)
	tests := make([]creation, len(made))
	for i, r := range made {
		tests[i] = creation{r, found[i], list}
	}
	return tests
}

// creation is a test that was created, as three operations show it.
type creation struct {
	made, found Response
	list        Walk
}

// expectKept expects that the test shows the value that was sent for the field.
func expectKept(api *API, test creation, field string) {
	id, sent := spec.StateCreate(field), test.made.SentField(field)
	if IsUpToTheServer(field, sent) {
		return
	}
	kept := Keep(field, sent)
	if shown := test.made.Row()[field]; Fits(kept, shown) && !Fits(EqualJSON(sent), shown) {
		api.Observe(spec.OpenPointNormalForm, "%s", field)
	}
	api.For(id, spec.CreatePlacementTest).Expect(test.made).To(HaveMember(field, kept))
	api.For(id, spec.ListPlacementTests).Expect(test.list).To(ShowField(test.made.ID(), field, kept))
	if test.found.OK() {
		api.For(id, spec.GetPlacementTest).Expect(test.found).To(HaveMember(field, kept))
	}
}

// needJudged notes for which of the fields the server has created no test.
func needJudged(api *API, fields ...string) {
	for _, field := range fields {
		for _, view := range testViews {
			if kept := api.For(spec.StateCreate(field), view); !kept.Judged() {
				kept.Missing("a created test with a value in %s", field)
			}
		}
	}
}

// findsSpecialNames creates tests whose names hold special characters, and searches for
// each by its full name.
func findsSpecialNames(api *API) {
	var creations []Call
	for _, v := range contract.Member(spec.CreatePlacementTest, "name").Valid {
		if !v.Open {
			creations = append(creations, Creating(api, "name", v))
		}
	}
	list := api.Request()
	search := func(creation Call) Walk {
		return api.Read(list.WithQuery("search", creation.Members()["name"].(string)))
	}
	Each(api, creations, search) // a server may cache what a search found
	var listed []Response
	for _, test := range created(api, creations) {
		if test.list.Row(test.made.ID())["name"] == test.made.SentField("name") { // otherwise another requirement is broken
			listed = append(listed, test.made)
		}
	}
	for _, made := range listed {
		var found Walk
		api.Eventually(func() int { // a search may show a new row later than the list
			found = search(made.Call)
			return found.Keys()[paging.FoldID(made.ID())]
		}).Should(gomega.BeNumerically(">", 0))
		api.Expect(found).To(ShowRow(made.ID(), "the test "+Shorten(made.Text("name"))))
	}
	if len(listed) == 0 {
		api.NotAssessed("a created test that the list shows")
	}
}
