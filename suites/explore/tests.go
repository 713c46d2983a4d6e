package explore

import (
	"fmt"
	"maps"
	"net/http"
	"slices"

	"github.com/onsi/gomega"
	"github.com/onsi/gomega/types"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/internal/oracle"
	"outreach.example/conformance/internal/paging"
	"outreach.example/conformance/spec"
	"outreach.example/conformance/suites/api"
)

// test is a test that the case has created, and what is known of it.
type test struct {
	sent     map[string]any
	made     api.Response
	fields   api.NewTestFields
	listed   map[string]any // as the list showed it last; nil if it has not
	gone     bool
	deletion bool // another test was deleted since this one was seen
}

func (t *test) key() string { return paging.FoldID(t.made.ID()) }

// create creates a test. It reports whether there is one to go on with.
func (m *machine) create(fields api.NewTestFields) bool {
	call, sent := api.NewTestCall(m.API, fields)
	if fields.ReadOnly != "" || len(fields.Texts) > 0 { // the specification does not say which texts it takes
		call = call.MayBeRefused()
	}
	if len(fields.Null) > 0 {
		call = call.Breaking(spec.StateCreateNull)
	}
	made := m.add(call, sent, fields)
	if fields.ReadOnly != "" && !made.OK() {
		m.examine(spec.StateReadOnly(fields.ReadOnly), spec.CreatePlacementTest, made, api.BeRefused())
	}
	return made.OK()
}

// again sends the creation of a test once more: that makes another test.
func (m *machine) again(t *test) {
	m.add(t.made.Call.MustGet(http.StatusOK, spec.StateCreateDistinct), maps.Clone(t.sent), t.fields)
}

// add sends a creation and adds the test to the state.
func (m *machine) add(call api.Call, sent map[string]any, fields api.NewTestFields) api.Response {
	made := m.Do(call)
	if !made.OK() {
		return made
	}
	if sent["name"] != nil { // a target may demand another name than before
		sent["name"] = made.SentField("name")
	}
	for _, other := range m.tests {
		m.examine(spec.StateCreateDistinct, spec.CreatePlacementTest, made, api.HaveMember("id", api.Be("an id of its own", gomega.Not(api.EqualID(other.made.ID())))))
	}
	t := &test{sent: sent, made: made, fields: fields}
	m.tests = append(m.tests, t)
	m.shows(t, made, "", made.Row())
	return made
}

// shows compares what a response shows of a test with what was sent. The row stands at the
// pointer in its body.
func (m *machine) shows(t *test, r api.Response, at string, row map[string]any) {
	compare := func(id spec.ID, operation, field, expected string, matcher types.GomegaMatcher) {
		fits, err := matcher.Match(row[field])
		m.verify(err == nil && fits, id, operation, r, at+"/"+field, expected, api.RenderedMember(row, field))
	}
	for _, field := range slices.Sorted(maps.Keys(t.sent)) {
		compare(spec.StateCreate(field), r.Call.Operation.ID, field, api.RenderedMember(t.sent, field), api.Keep(field, t.sent[field]))
	}
	if field := t.fields.ReadOnly; field != "" {
		compare(spec.StateReadOnly(field), spec.CreatePlacementTest, field, "the server's own value", api.Be("a value other than the one sent", gomega.Not(api.EqualJSON(t.made.SentField(field)))))
	}
}

// get reads a test.
func (m *machine) get(t *test, s Step) {
	call := m.getting(s, t.made.ID())
	if t.gone {
		m.notFound(call, "a deletion in a get", spec.StateDeleteGet, spec.DeletePlacementTest)
		return
	}
	if r := m.reach(t, call); r.OK() {
		t.deletion = false
		m.shows(t, r, "", r.Row())
		m.examine(spec.StateGetList, spec.GetPlacementTest, r, api.AgreeWithRow(t.listed, api.ChangesByItself...))
		m.examineMetadata(r, s.Metadata)
	}
}

// remove deletes a test, or tries to delete it again.
func (m *machine) remove(t *test) {
	call := m.As(dataset.Main, spec.DeletePlacementTest).WithID(t.made.ID()).MayGet(http.StatusNotFound)
	if t.gone {
		m.notFound(call, "a deletion that is repeated", spec.StateDeleteAgain, spec.DeletePlacementTest)
		return
	}
	r := m.reach(t, call)
	if r.Status != http.StatusOK {
		return
	}
	t.gone = true
	for _, other := range m.tests {
		other.deletion = other.deletion || other != t
	}
	m.keeps(r, spec.StateDeleteAnswer, "id", t.made.ID())
	m.examine(spec.StateDeleteAnswer, spec.DeletePlacementTest, r, api.AgreeWithRow(t.made.Row(), api.ChangesAtItsEnd...))
	m.examine(spec.StateDeleteAnswer, spec.DeletePlacementTest, r, api.AgreeWithRow(t.listed, api.ChangesAtItsEnd...))
}

// reach sends a call that names a living test, until the target knows the test.
func (m *machine) reach(t *test, call api.Call) api.Response {
	r := api.Until(m.API, "a created test", call, func(r api.Response) bool { return r.Status != http.StatusNotFound })
	m.verifyShown(t, r.Status == http.StatusOK, r, call.Operation.ID, "status", r.Status)
	return r
}

// verifyShown expects that an operation shows a living test, and no other.
func (m *machine) verifyShown(t *test, shown bool, r api.Response, operation, pointer string, actual any) {
	id, expected := spec.StateCreate("name"), "the test "+t.key()
	switch {
	case t.gone:
		id, operation, expected = spec.StateDeleteList, spec.DeletePlacementTest, "no test that was deleted"
	case t.deletion:
		id, operation = spec.StateDeleteOthers, spec.DeletePlacementTest
	case len(t.fields.Null) > 0:
		id, operation = spec.StateCreateNull, spec.CreatePlacementTest
	case !spec.Has(id.On(operation)):
		id = spec.Status200
	}
	m.verify(shown != t.gone, id, operation, r, pointer, expected, actual)
}

// notFound expects a 404, as soon as a change shows.
func (m *machine) notFound(call api.Call, view string, id spec.ID, operation string) {
	call = api.Charging(call, id.On(operation))
	r := api.Until(m.API, view, call, func(r api.Response) bool { return r.Status == http.StatusNotFound })
	m.verify(r.Status == http.StatusNotFound, id, operation, r, "status", "404", r.Status)
}

// list reads pages of the list until they show the state, as soon as changes show.
func (m *machine) list(s Step) {
	name := map[string]string{profile.ParamSearch: fmt.Sprint(numbered(m.tests, s, 0).sent["name"])}
	q := oracle.Query{Sizes: []int{numbered([]int{100, 7, 2, 1}, s, 1)}, Pages: 3, Parameters: numbered([]map[string]string{{profile.ParamSortOrder: "desc"}, name}, s, 2)}
	search := q.Parameters[profile.ParamSearch] != ""
	var walk api.Walk
	m.Eventually(func() bool {
		walk = api.Ask(m.API, m.As(dataset.Main, spec.ListPlacementTests), q).Walk
		return m.agrees(walk, search)
	}).Should(gomega.BeTrue(), "a change in the list")
	for _, t := range m.tests {
		r, at, row := t.place(walk)
		if t.isDue(walk, search) {
			m.verifyShown(t, row != nil, r, spec.ListPlacementTests, at, api.Rendered(row))
		}
		if row != nil && !t.gone {
			t.deletion, t.listed = false, row
			m.shows(t, r, at, row)
		}
	}
}

// agrees reports whether the walk shows every test that it must show, and none that is gone.
func (m *machine) agrees(w api.Walk, search bool) bool {
	return !slices.ContainsFunc(m.tests, func(t *test) bool {
		return t.isDue(w, search) && (w.Row(t.made.ID()) != nil) == t.gone
	})
}

// isDue reports whether the walk says something about the test. A walk that searches for
// another test need not show it. Another walk begins with the newest tests, and may end
// before the test.
func (t *test) isDue(w api.Walk, search bool) bool {
	rows := w.Rows()
	return t.gone || !search && len(rows) > 0 && (w.Complete() || t.key() > rows[len(rows)-1].Key)
}

// place returns where the walk shows the test. The row is nil if it does not.
func (t *test) place(w api.Walk) (r api.Response, at string, row map[string]any) {
	for p, page := range w.Pages {
		for i, row := range page.Rows {
			if row.Key == t.key() {
				return w.At(p), w.List.Operation.RowPointer(i), row.Value
			}
		}
	}
	return w.Last(), "/items", nil
}
