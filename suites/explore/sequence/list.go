package sequence

import (
	"fmt"
	"maps"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/internal/oracle"
	"outreach.example/conformance/internal/paging"
	"outreach.example/conformance/spec"
	"outreach.example/conformance/suites"
)

// list reads the list of tests until it shows the state, as soon as changes show.
func (m *model) list(t *own, q oracle.Query) {
	q.Parameters = maps.Clone(q.Parameters)
	if _, search := q.Parameters[profile.ParamSearch]; search {
		q.Parameters[profile.ParamSearch] = fmt.Sprint(t.sent["name"])
	}
	var asked suites.Asked
	var found []mismatch
	m.api.Eventually("a change in the list", func() bool {
		asked = m.api.Ask(m.api.As(dataset.Main, spec.ListPlacementTests), q)
		found = m.differences(asked)
		return len(found) == 0
	})
	for _, d := range found {
		d.charge()
	}
	for _, other := range m.tests {
		m.shows(other, asked)
	}
}

// mismatch is a difference that is charged if it stays.
type mismatch struct{ charge func() }

// differences compares the list with the tests that live and those that are gone.
func (m *model) differences(asked suites.Asked) []mismatch {
	op := spec.MustOperation(spec.ListPlacementTests)
	var rows []paging.Row
	byKey := map[string]*own{}
	for _, t := range m.tests {
		key := paging.FoldID(t.made.ID())
		byKey[key] = t
		if !t.gone {
			rows = append(rows, paging.Row{Key: key, ByID: true, Value: map[string]any{"id": t.made.ID(), "name": t.sent["name"]}})
		}
	}
	var found []mismatch
	for _, d := range asked.Compare(oracle.List{Operation: op, Rows: rows}).Mismatches {
		switch d.Requirement {
		case spec.ListSameValues, spec.PageLimitHonoured, spec.PageWalkSequence:
			continue // shows and the queries compare these, and the tests are not the whole list
		}
		if t := byKey[d.Missing]; t != nil && t.deletion {
			found = append(found, mismatch{func() { m.api.Charge(spec.StateDeleteOthers, spec.DeletePlacementTest, asked.Finding(d)) }})
			continue
		}
		found = append(found, mismatch{func() { m.api.Charge(d.Requirement, op.ID, asked.Finding(d)) }})
	}
	for p, page := range asked.Walk.Pages {
		for i, row := range page.Rows {
			if t := byKey[row.Key]; t != nil && t.gone {
				found = append(found, mismatch{func() {
					m.api.Charge(spec.StateDeleteList, spec.DeletePlacementTest, suites.Finding{Response: asked.Walk.At(p), Pointer: op.RowPointer(i),
						Expected: "no test that was deleted", Actual: row.Key})
				}})
			}
		}
	}
	return found
}

// shows compares what the list shows of a test with what was sent.
func (m *model) shows(t *own, asked suites.Asked) {
	for p, page := range asked.Walk.Pages {
		for i, row := range page.Rows {
			if !t.gone && row.Key == paging.FoldID(t.made.ID()) {
				at := spec.MustOperation(spec.ListPlacementTests).RowPointer(i)
				t.deletion, t.listed = false, row.Value
				m.keeps(asked.Walk.At(p), spec.ListPlacementTests, t.sent, at, row.Value)
				m.ownValue(t, asked.Walk.At(p), at, row.Value)
			}
		}
	}
}

// ownValue expects that a row of the list does not show the value that was sent for a field
// that only the server may set.
func (m *model) ownValue(t *own, r suites.Response, at string, row map[string]any) {
	field := t.fields.ReadOnly
	if field == "" {
		return
	}
	if differs, _ := suites.DifferFromJSON(t.made.SentField(field)).Match(row[field]); !differs {
		m.api.Charge(spec.StateReadOnly(field), spec.CreatePlacementTest, suites.Finding{Response: r, Pointer: at + "/" + field,
			Expected: "the server's own value", Actual: suites.RenderedMember(row, field)})
	}
}
