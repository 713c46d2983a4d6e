package explore

import (
	"net/http"
	"slices"

	"pgregory.net/rapid"

	"outreach.example/conformance/internal/oracle"
	"outreach.example/conformance/spec"
	"outreach.example/conformance/suites"
)

// gets generates gets of tests that the list shows; nil if there are none.
func (e *explorer) gets() *rapid.Generator[Case] {
	if !e.Selects(spec.GetPlacementTest) {
		return nil
	}
	lists := slices.DeleteFunc(slices.Clone(e.wholes), func(w *whole) bool {
		_, ok := e.Env.Profile.KeyFor(w.role, spec.MustOperation(spec.GetPlacementTest))
		return !ok || w.operation.ID != spec.ListPlacementTests
	})
	if len(lists) == 0 {
		return nil
	}
	return rapid.Custom(func(t *rapid.T) Case {
		w := rapid.SampledFrom(lists).Draw(t, "list")
		row := rapid.SampledFrom(w.now().Rows).Draw(t, "row")
		return Case{Get: &Get{Role: w.role, ID: idOf(row.Value), Metadata: rapid.SampledFrom([]string{"", "true", "false"}).Draw(t, "metadata")}}
	})
}

// idOf returns the id of a row as the list shows it.
func idOf(row map[string]any) string {
	id, _ := row["id"].(string)
	return id
}

// get reads a test that the list shows, and compares both views. If they differ, it reads
// both again: what changed meanwhile is no violation.
func (e *explorer) get(g Get) func(*suites.API) {
	return func(api *suites.API) {
		list := List{Operation: spec.ListPlacementTests, Role: g.Role}
		w := e.find(list)
		if w == nil {
			api.NotAssessed("the list %s of the workspace %q", list.Operation, g.Role)
		}
		call := api.As(g.Role, spec.GetPlacementTest).WithID(g.ID).MayGet(http.StatusNotFound)
		if g.Metadata != "" {
			call = call.WithQuery("with_metadata", g.Metadata)
		}
		r := api.Do(call)
		if !r.OK() {
			return // it may be gone
		}
		before := w.now()
		if row := rowIn(before, g.ID); !agrees(r, row) {
			api.Aside(func() {
				api.Look(func() bool {
					after := api.ReadAll(api.As(g.Role, list.Operation)).Rows()
					e.changed.Add(int64(w.renew(after)))
					row = rowIn(oracle.Between(w.operation, before.Rows, after), g.ID)
					if agrees(r, row) {
						return true
					}
					before = w.now()
					later := api.Do(call)
					if !later.OK() {
						row = nil // it is gone
						return true
					}
					r = later
					return false
				})
			})
			api.Examine(spec.StateGetList, spec.GetPlacementTest, r, suites.AgreesWith(row))
		}
		api.Count(spec.StateGetList, spec.GetPlacementTest, 1)
		api.ExamineMetadata(r, g.Metadata)
	}
}

// rowIn returns the row of the list with that id; nil if there is none, or if it changed.
func rowIn(l oracle.List, id string) map[string]any {
	for _, row := range l.Rows {
		if idOf(row.Value) == id {
			return row.Value
		}
	}
	return nil
}

// agrees reports whether the response agrees with the row. No row contradicts it.
func agrees(r suites.Response, row map[string]any) bool {
	if row == nil {
		return true
	}
	same, _ := suites.AgreesWith(row).Match(r)
	return same
}
