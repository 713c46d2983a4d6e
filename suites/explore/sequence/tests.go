package sequence

import (
	"fmt"
	"maps"
	"net/http"
	"slices"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/internal/paging"
	"outreach.example/conformance/spec"
	"outreach.example/conformance/suites"
)

// create creates a test. It reports false if there is none to go on with.
func (m *model) create(fields suites.NewTestFields) bool {
	call, sent := m.api.NewTestCall(fields)
	var made suites.Response
	switch {
	case fields.ReadOnly != "":
		made = m.api.Do(call.MayBeRefused())
		m.readOnly(made, fields.ReadOnly)
	case len(fields.Texts) > 0:
		made = m.api.Do(call.MayBeRefused()) // the specification does not say which texts it takes
	case len(fields.Null) > 0:
		made = m.api.Do(call)
		m.api.Examine(spec.StateCreateNull, spec.CreatePlacementTest, made, suites.BeServed())
	default:
		made = m.api.Do(call)
	}
	if !made.OK() {
		return false
	}
	m.tests = append(m.tests, &own{sent: sent, made: made, fields: fields})
	m.keeps(made, spec.CreatePlacementTest, sent, "", made.Row())
	return true
}

// again sends the creation of a test once more: that makes another test.
func (m *model) again(t *own) {
	made := m.api.Do(t.made.Call.MustGet(http.StatusOK)) // it was served before, but perhaps not under this name again
	m.api.Examine(spec.StateCreateDistinct, spec.CreatePlacementTest, made, suites.BeServed())
	if !made.OK() {
		return
	}
	for _, other := range m.tests {
		m.api.Examine(spec.StateCreateDistinct, spec.CreatePlacementTest, made, suites.HaveField("id", suites.NotEqualID(other.made.ID())))
	}
	sent := maps.Clone(t.sent)
	if _, named := sent["name"]; named { // a target may demand another name than before
		sent["name"] = made.SentField("name")
	}
	m.tests = append(m.tests, &own{sent: sent, made: made, fields: t.fields})
}

// readOnly expects that a test which was created does not show the value that was sent for
// a field that only the server may set.
func (m *model) readOnly(r suites.Response, field string) {
	id := spec.StateReadOnly(field)
	if !r.OK() {
		m.api.Examine(id, spec.CreatePlacementTest, r, suites.BeRefused())
		return
	}
	m.api.Examine(id, spec.CreatePlacementTest, r, suites.HaveField(field, suites.DifferFromJSON(r.SentField(field))))
}

// keeps compares what a response shows of a test with what was sent.
func (m *model) keeps(r suites.Response, operation string, sent map[string]any, at string, row map[string]any) {
	for _, field := range slices.Sorted(maps.Keys(sent)) {
		id := spec.StateCreate(field)
		m.api.Count(id, operation, 1)
		if same, err := suites.Keep(field, sent[field]).Match(row[field]); err != nil || !same {
			m.api.Charge(id, operation, suites.Finding{Response: r, Pointer: at + "/" + field, Expected: suites.RenderedMember(sent, field), Actual: suites.RenderedMember(row, field)})
		}
	}
}

// get reads a test.
func (m *model) get(t *own, metadata string) {
	call := m.api.As(dataset.Main, spec.GetPlacementTest).WithID(t.made.ID()).MayGet(http.StatusNotFound)
	if metadata != "" {
		call = call.WithQuery("with_metadata", metadata)
	}
	if t.gone {
		m.notFound(call, "a deletion in a get", spec.StateDeleteGet, spec.DeletePlacementTest)
		return
	}
	r, served := m.reach(t, call, "a created test in a get")
	if !served || !r.OK() {
		return
	}
	t.deletion = false
	m.keeps(r, spec.GetPlacementTest, t.sent, "", r.Row())
	m.api.Examine(spec.StateGetList, spec.GetPlacementTest, r, suites.AgreesWith(t.listed))
	if field := t.fields.ReadOnly; field != "" {
		m.api.Examine(spec.StateReadOnly(field), spec.CreatePlacementTest, r, suites.HaveField(field, suites.DifferFromJSON(t.made.SentField(field))))
	}
	m.api.ExamineMetadata(r, metadata)
}

// reach sends a call that names a living test, until the target knows the test. It charges
// another status than 200.
func (m *model) reach(t *own, call suites.Call, view string) (r suites.Response, served bool) {
	r = m.api.Until(view, call, func(r suites.Response) bool { return r.Status != http.StatusNotFound })
	if r.Status != http.StatusOK {
		m.lost(t, r, call.Operation.ID, "status", "200 and the test that was created", fmt.Sprint(r.Status))
		return r, false
	}
	return r, true
}

// lost charges that a test does not show: to the deletion of another one, if there was
// one since it was last seen.
func (m *model) lost(t *own, r suites.Response, operation, pointer, expected, actual string) {
	f := suites.Finding{Response: r, Pointer: pointer, Expected: expected, Actual: actual}
	if t.deletion {
		m.api.Charge(spec.StateDeleteOthers, spec.DeletePlacementTest, f)
		return
	}
	if len(t.fields.Null) > 0 {
		m.api.Charge(spec.StateCreateNull, spec.CreatePlacementTest, f)
		return
	}
	if id := spec.StateCreate("name"); spec.Has(id.On(operation)) {
		m.api.Charge(id, operation, f)
		return
	}
	m.api.Charge(spec.Status200, operation, f)
}

// notFound expects a 404, as soon as a change shows.
func (m *model) notFound(call suites.Call, view string, id spec.ID, operation string) {
	r := m.api.Until(view, call, func(r suites.Response) bool { return r.Status == http.StatusNotFound })
	m.api.Count(id, operation, 1)
	if r.Status != http.StatusNotFound {
		m.api.Charge(id, operation, suites.Finding{Response: r, Pointer: "status", Expected: "404", Actual: fmt.Sprint(r.Status)})
	}
}

// remove deletes a test, or tries to delete it again.
func (m *model) remove(t *own) {
	call := m.api.As(dataset.Main, spec.DeletePlacementTest).WithID(t.made.ID()).MayGet(http.StatusNotFound)
	if t.gone {
		m.notFound(call, "a deletion that is repeated", spec.StateDeleteAgain, spec.DeletePlacementTest)
		return
	}
	r, served := m.reach(t, call, "a created test in a deletion")
	if !served {
		return
	}
	t.gone = true
	for _, other := range m.tests {
		other.deletion = other.deletion || other != t
	}
	m.api.Count(spec.StateDeleteAnswer, spec.DeletePlacementTest, 1)
	m.api.Examine(spec.StateDeleteAnswer, spec.DeletePlacementTest, r, suites.AgreeAtItsEnd(t.made.Row()))
	m.api.Examine(spec.StateDeleteAnswer, spec.DeletePlacementTest, r, suites.AgreeAtItsEnd(t.listed))
	if r.OK() && paging.FoldID(r.ID()) != paging.FoldID(t.made.ID()) {
		m.api.Charge(spec.StateDeleteAnswer, spec.DeletePlacementTest, suites.Finding{Response: r, Pointer: "/id", Expected: t.made.ID(), Actual: r.ID()})
	}
}
