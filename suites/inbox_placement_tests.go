package suites

import (
	"net/http"
	"strconv"

	. "github.com/onsi/ginkgo/v2"
	"github.com/onsi/gomega"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/internal/paging"
	"outreach.example/conformance/spec"

	. "outreach.example/conformance/suites/api"
)

// inboxPlacementTests judges creating, listing, reading and deleting tests.
func inboxPlacementTests() {
	Describe(spec.CreatePlacementTest, func() {
		createdValues()
		It("accepts run_immediately", Requires(spec.StateCreateRunImmediately), Needs(Implemented(spec.GetPlacementTest)), func(api *API) {
			for _, value := range []bool{true, false} {
				expectCreated(api, api.Request().WithField("run_immediately", value))
			}
		})
		It("makes one test, even if it runs at once", Requires(spec.StateCreateDistinct), Needs(Implemented(spec.ListPlacementTests)), makesOneTest)
		It("accepts null where a field may be null", Requires(spec.StateCreateNull), Needs(Implemented(spec.GetPlacementTest)), func(api *API) {
			request := api.Request()
			for _, field := range Nullable {
				request = request.WithField(field, nil)
			}
			expectCreated(api, request)
		})
		It("makes two tests of two requests", Requires(spec.StateCreateDistinct), Needs(Implemented(spec.GetPlacementTest).Optional()), func(api *API) {
			request := api.Request()
			first, second := api.Do(request), api.Do(request)
			api.Expect(second).To(HaveMember("id", Be("an id of its own", gomega.Not(EqualID(first.ID())))))
			for _, made := range []Response{first, second} {
				api.Expect(Find(api, made)).To(HaveStatus(http.StatusOK))
			}
			if api.Serves(spec.ListPlacementTests) {
				keepsOlderTests(api)
			}
		})
		for _, field := range spec.CreateReadOnly {
			It("does not let a body set "+field, Requires(spec.StateReadOnly(field)), Needs(Implemented(spec.GetPlacementTest), Implemented(spec.ListPlacementTests)), func(api *API) {
				for _, value := range readOnlyValues(api, field) {
					expectReadOnly(api, field, value)
				}
			})
		}

		documentedShape(func(api *API) {
			api.DoAll(api.Request(), WithAllOptional(api, api.Request()), api.Request())
		})
	})

	Describe(spec.ListPlacementTests, func() {
		It("finds names with special characters", Requires(spec.FilterSearchMissing), Needs(RequestOf(dataset.Main, spec.CreatePlacementTest), Implemented(spec.GetPlacementTest).Optional()), findsSpecialNames)
		It("finds a new test by its name and its status together", Requires(spec.FilterStatusMissing), Needs(RequestOf(dataset.Main, spec.CreatePlacementTest)), findsByNameAndStatus)
		It("filters new tests by status", Requires(spec.FilterStatusMissing, spec.FilterStatusExtra), Needs(RequestOf(dataset.Main, spec.CreatePlacementTest)), filtersNewTests)
		It("sorts ascending", Requires(spec.SortAsc), Needs(RequestOf(dataset.Main, spec.CreatePlacementTest).Optional()), func(api *API) { expectSorted(api, "asc") })
		It("sorts descending", Requires(spec.SortDesc), Needs(RequestOf(dataset.Main, spec.CreatePlacementTest).Optional()), func(api *API) { expectSorted(api, "desc") })
		It("keeps a walk whole while rows are inserted", Requires(spec.PageInsert), Needs(RequestOf(dataset.Main, spec.CreatePlacementTest)), func(api *API) {
			walkWhile(api, "", func() changing { return insertRow(api) })
		})
		It("keeps a descending walk whole while rows are inserted", Requires(spec.PageInsert), Needs(RequestOf(dataset.Main, spec.CreatePlacementTest)), func(api *API) {
			walkWhile(api, "desc", func() changing { return insertRow(api) }) // new rows come first
		})
		It("keeps a walk whole while rows are deleted", Requires(spec.PageRemove), Needs(RequestOf(dataset.Main, spec.CreatePlacementTest), Operation(spec.DeletePlacementTest)), func(api *API) {
			walkWhile(api, "", func() changing { return removeRow(api) })
		})
		It("keeps a descending walk whole while rows are deleted", Requires(spec.PageRemove), Needs(RequestOf(dataset.Main, spec.CreatePlacementTest), Operation(spec.DeletePlacementTest)), func(api *API) {
			walkWhile(api, "desc", func() changing { return removeRow(api) })
		})
	})

	Describe(spec.GetPlacementTest, func() {
		It("shows a test as the list does", Requires(spec.StateGetList), Needs(Implemented(spec.ListPlacementTests)), getLikeList)
		It("shows metadata when asked", Requires(spec.MetaTrue), func(api *API) {
			expectMetadata(api, "true", Be("an object", gomega.BeAssignableToTypeOf(map[string]any{})))
		})
		It("shows no metadata when told not to", Requires(spec.MetaFalse), func(api *API) {
			expectMetadata(api, "false", BeAbsent())
		})
		It("shows no metadata unasked", Requires(spec.MetaAbsent), func(api *API) {
			expectMetadata(api, "", BeAbsent())
		})

		documentedShape(getEveryKind, EmptyRequest(spec.GetPlacementTest), Implemented(spec.ListPlacementTests).Optional(), RequestOf(dataset.Main, spec.CreatePlacementTest).Optional())
	})

	Describe(spec.DeletePlacementTest, func() {
		deletions(spec.ListPlacementTests)
		It("leaves nothing to get", Requires(spec.StateDeleteGet), Needs(Implemented(spec.GetPlacementTest)), func(api *API) {
			remove := api.Request()
			forms := withMetadataToo(api.As(dataset.Main, spec.GetPlacementTest).WithID(remove.ID))
			for _, form := range forms { // a server may cache the test
				MustShow(api, "a created test in a get", func() bool { return api.Do(form.MayGet(http.StatusNotFound)).OK() })
			}
			api.Do(remove)
			for _, form := range forms {
				api.Expect(UntilGone(api, "a deletion in a get", form.Breaking(spec.StateDeleteGet))).To(HaveStatus(http.StatusNotFound))
			}
		})

		documentedShape(func(api *API) {
			full := api.Do(WithAllOptional(api, api.RequestAs(dataset.Main, spec.CreatePlacementTest)))
			for _, made := range []Response{NewTest(api), full, NewTest(api)} {
				api.Do(api.As(dataset.Main, spec.DeletePlacementTest).WithID(made.ID()))
			}
		})
	})
}

// keepsOlderTests creates a full test and compares the tests that the list shows before and
// after. A server that takes a creation for an update changes one of them.
func keepsOlderTests(api *API) {
	list := api.As(dataset.Main, spec.ListPlacementTests)
	walkAfterCreation := func() Walk {
		made := api.Do(WithAllOptional(api, api.Request()).WithField("description", api.Word()).WithField("test_code", api.Word()))
		return MustList(api, list, made.ID())
	}
	before := api.Read(list)
	expectOthersKept(api, spec.StateCreateDistinct, before, walkAfterCreation(), walkAfterCreation)
}

// makesOneTest creates a test that runs at once, and then another test. Once the list shows both,
// it would show a second test of the first name, too.
func makesOneTest(api *API) {
	made := api.Do(api.Request().WithField("run_immediately", true))
	later := NewTest(api)
	list := MustList(api, api.As(dataset.Main, spec.ListPlacementTests), made.ID(), later.ID())
	var namesakes []Finding
	for p, page := range list.Pages {
		for i, row := range page.Rows {
			if row.Key != paging.FoldID(made.ID()) && SameText(row.Value["name"], made.SentField("name")) {
				namesakes = append(namesakes, Found(list.At(p), PointerIn(i), "one test of the name, "+made.ID(), "another test of the same name: "+Shorten(row.Key)))
			}
		}
	}
	api.For(spec.StateCreateDistinct).Judge(Comparison(namesakes...))
}

// findsByNameAndStatus looks for a new test by its name, by its status, and by both with each
// sort order. A server may serve combined filters from a view of its own.
func findsByNameAndStatus(api *API) {
	creation := api.RequestAs(dataset.Main, spec.CreatePlacementTest).WithField("status", Paused)
	name, _ := creation.Members()["name"].(string)
	list := api.Request()
	byStatus := list.WithQuery("status", strconv.Itoa(Paused))
	both := byStatus.WithQuery("search", name)
	together := []Call{both, both.WithQuery("sort_order", "asc"), both.WithQuery("sort_order", "desc")}
	for _, k := range together { // a server may cache what a search found
		api.Read(k)
	}
	made := api.Do(creation)
	for _, k := range []Call{list.WithQuery("search", name), byStatus} { // FILTER-SEARCH and FILTER-STATUS judge these
		if shown := ListShowing(api, k, made.ID()); shown.Keys()[paging.FoldID(made.ID())] == 0 {
			api.NotAssessed("a new test that a search by its name and a filter by its status find")
		}
	}
	for _, k := range together {
		api.Expect(ListShowing(api, k, made.ID())).To(ShowRow(made.ID(), "the new test"))
	}
}

// expectCreated expects that the request makes a test that can be read.
func expectCreated(api *API, k Call) {
	expectMade(api, api.Do(k.Breaking(api.Requirement())))
}

// expectMade expects that the response shows a test that can be read.
func expectMade(api *API, made Response) {
	if !made.OK() {
		return
	}
	found := Find(api, made)
	if found.Status == http.StatusOK && !IsMade(made, found) {
		api.For(api.Requirement()).Missing("a get that shows the test that was created")
		return
	}
	api.Expect(found).To(HaveStatus(http.StatusOK))
}

// readOnlyValues returns the values to send for the field. A server may take over only an id
// that exists, such as that of another workspace.
func readOnlyValues(api *API, field string) []any {
	values := []any{ReadOnlyValue(api, field)}
	if id := api.Workspace(dataset.Second).ID; field == "organization_id" && id != "" {
		values = append(values, id)
	}
	return values
}

// expectReadOnly sends the value for the field. The body must be refused, or the
// field must keep the server's own value wherever the test is shown.
func expectReadOnly(api *API, field string, value any) {
	made := api.Do(api.Request().WithField(field, value).MayBeRefused())
	api.Observe(spec.OpenPointReadOnlySent, "%s: %d", field, made.Status)
	requirement := api.For(spec.StateReadOnly(field))
	switch {
	case made.Status != http.StatusOK:
		requirement.Expect(made).To(BeRefused())
		return
	case !made.OK():
		requirement.Missing("%s", made.Shortfall())
		return
	}
	list := ListShowing(api, api.As(dataset.Main, spec.ListPlacementTests), made.ID())
	requirement.Judge(takenOver(creation{made, Find(api, made), list}, field, value))
}

// takenOver judges that the test shows another value than the one that was sent for a
// read-only field.
func takenOver(test creation, field string, sent any) Verdict {
	var found []Finding
	look := func(r Response, pointer string, row map[string]any) {
		found = append(found, JudgeValue(r, pointer+"/"+field, row[field], Be("a value other than the one sent", gomega.Not(EqualJSON(sent)))).Findings...)
	}
	look(test.made, "", test.made.Row())
	look(test.found, "", test.found.Row())
	for p, page := range test.list.Pages {
		for i, row := range page.Rows {
			if row.Key == paging.FoldID(test.made.ID()) || row.Key == sent {
				look(test.list.At(p), PointerIn(i), row.Value)
			}
		}
	}
	if len(found) == 0 && (!IsMade(test.made, test.found) || test.found.Row()[field] == nil) {
		return Verdict{Missing: "a get that shows the test that was created, with " + field}
	}
	return Comparison(found...)
}
