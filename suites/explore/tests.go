package explore

import (
	"fmt"
	"maps"
	"net/http"
	"slices"

	"github.com/onsi/gomega/types"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/internal/oracle"
	"outreach.example/conformance/internal/paging"
	"outreach.example/conformance/spec"
	"outreach.example/conformance/suites"
)

// test is a test that the case has created, and what is known of it.
type test struct {
	sent     map[string]any
	made     suites.Response
	fields   suites.NewTestFields
	listed   map[string]any // as the list showed it last; nil if it has not
	gone     bool
	deletion bool // another test was deleted since this one was seen
}

func (t *test) key() string { return paging.FoldID(t.made.ID()) }

// create creates a test. It reports whether there is one to go on with.
func (m *machine) create(fields suites.NewTestFields) bool {
	call, sent := m.NewTestCall(fields)
	if fields.ReadOnly != "" || len(fields.Texts) > 0 { // the specification does not say which texts it takes
		call = call.MayBeRefused()
	}
	made := m.add(call, sent, fields)
	switch {
	case fields.ReadOnly != "" && !made.OK():
		m.Examine(spec.StateReadOnly(fields.ReadOnly), spec.CreatePlacementTest, made, suites.BeRefused())
	case len(fields.Null) > 0:
		m.Examine(spec.StateCreateNull, spec.CreatePlacementTest, made, suites.BeServed())
	}
	return made.OK()
}

// again sends the creation of a test once more: that makes another test.
func (m *machine) again(t *test) {
	made := m.add(t.made.Call.MustGet(http.StatusOK), maps.Clone(t.sent), t.fields)
	m.Examine(spec.StateCreateDistinct, spec.CreatePlacementTest, made, suites.BeServed())
}

// add sends a creation and adds the test to the state.
func (m *machine) add(call suites.Call, sent map[string]any, fields suites.NewTestFields) suites.Response {
	made := m.Do(call)
	if !made.OK() {
		return made
	}
	if sent["name"] != nil { // a target may demand another name than before
		sent["name"] = made.SentField("name")
	}
	for _, other := range m.tests {
		m.Examine(spec.StateCreateDistinct, spec.CreatePlacementTest, made, suites.HaveField("id", suites.NotEqualID(other.made.ID())))
	}
	t := &test{sent: sent, made: made, fields: fields}
	m.tests = append(m.tests, t)
	m.shows(t, made, "", made.Row())
	return made
}

// shows compares what a response shows of a test with what was sent. The row stands at the
// pointer in its body.
func (m *machine) shows(t *test, r suites.Response, at string, row map[string]any) {
	compare := func(id spec.ID, operation, field, expected string, matcher types.GomegaMatcher) {
		fits, err := matcher.Match(row[field])
		m.verify(err == nil && fits, id, operation, r, at+"/"+field, expected, suites.RenderedMember(row, field))
	}
	for _, field := range slices.Sorted(maps.Keys(t.sent)) {
		compare(spec.StateCreate(field), r.Call.Operation.ID, field, suites.RenderedMember(t.sent, field), suites.Keep(field, t.sent[field]))
	}
	if field := t.fields.ReadOnly; field != "" {
		compare(spec.StateReadOnly(field), spec.CreatePlacementTest, field, "the server's own value", suites.DifferFromJSON(t.made.SentField(field)))
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
		m.Examine(spec.StateGetList, spec.GetPlacementTest, r, suites.AgreesWith(t.listed))
		m.ExamineMetadata(r, s.Metadata)
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
	m.Examine(spec.StateDeleteAnswer, spec.DeletePlacementTest, r, suites.AgreeAtItsEnd(t.made.Row()))
	m.Examine(spec.StateDeleteAnswer, spec.DeletePlacementTest, r, suites.AgreeAtItsEnd(t.listed))
}

// reach sends a call that names a living test, until the target knows the test.
func (m *machine) reach(t *test, call suites.Call) suites.Response {
	r := m.Until("a created test", call, func(r suites.Response) bool { return r.Status != http.StatusNotFound })
	m.verifyShown(t, r.Status == http.StatusOK, r, call.Operation.ID, "status", r.Status)
	return r
}

// verifyShown expects that an operation shows a living test, and no other.
func (m *machine) verifyShown(t *test, shown bool, r suites.Response, operation, pointer string, actual any) {
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
func (m *machine) notFound(call suites.Call, view string, id spec.ID, operation string) {
	r := m.Until(view, call, func(r suites.Response) bool { return r.Status == http.StatusNotFound })
	m.verify(r.Status == http.StatusNotFound, id, operation, r, "status", "404", r.Status)
}

// list reads pages of the list until they show the state, as soon as changes show.
func (m *machine) list(s Step) {
	name := map[string]string{profile.ParamSearch: fmt.Sprint(numbered(m.tests, s, 0).sent["name"])}
	q := oracle.Query{Sizes: []int{numbered([]int{100, 7, 2, 1}, s, 1)}, Pages: 3, Parameters: numbered([]map[string]string{{profile.ParamSortOrder: "desc"}, name}, s, 2)}
	search := q.Parameters[profile.ParamSearch] != ""
	var walk suites.Walk
	m.Eventually("a change in the list", func() bool {
		walk = m.Ask(m.As(dataset.Main, spec.ListPlacementTests), q).Walk
		return m.agrees(walk, search)
	})
	for _, t := range m.tests {
		r, at, row := t.place(walk)
		if t.isDue(walk, search) {
			m.verifyShown(t, row != nil, r, spec.ListPlacementTests, at, suites.Rendered(row))
		}
		if row != nil && !t.gone {
			t.deletion, t.listed = false, row
			m.shows(t, r, at, row)
		}
	}
}

// agrees reports whether the walk shows every test that it must show, and none that is gone.
func (m *machine) agrees(w suites.Walk, search bool) bool {
	return !slices.ContainsFunc(m.tests, func(t *test) bool {
		return t.isDue(w, search) && (w.Row(t.made.ID()) != nil) == t.gone
	})
}

// isDue reports whether the walk says something about the test. A walk that searches for
// another test need not show it. Another walk begins with the newest tests, and may end
// before the test.
func (t *test) isDue(w suites.Walk, search bool) bool {
	rows := w.Rows()
	return t.gone || !search && len(rows) > 0 && (w.Complete() || t.key() > rows[len(rows)-1].Key)
}

// place returns where the walk shows the test. The row is nil if it does not.
func (t *test) place(w suites.Walk) (r suites.Response, at string, row map[string]any) {
	for p, page := range w.Pages {
		for i, row := range page.Rows {
			if row.Key == t.key() {
				return w.At(p), w.List.Operation.RowPointer(i), row.Value
			}
		}
	}
	return w.Last(), "/items", nil
}
