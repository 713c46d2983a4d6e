package explore

import (
	"github.com/onsi/gomega"
	"github.com/onsi/gomega/types"

	"outreach.example/conformance/internal/paging"
	"outreach.example/conformance/spec"
	"outreach.example/conformance/suites/api"
)

// examine charges what the matcher finds in a response or a walk to the requirement on the
// operation, if the catalogue binds it there.
func (m *machine) examine(id spec.ID, operation string, actual any, matcher types.GomegaMatcher) {
	if !spec.Has(id.On(operation)) {
		return
	}
	_, _ = matcher.Match(actual) // ours only fail on another type
	found := api.VerdictOf(matcher, actual, "")
	api.Count(m.API, id, operation, found.Assessed)
	for _, f := range found.Findings {
		api.Charge(m.API, id, operation, f)
	}
}

// examineWalk charges what any walk of a list must show: that it ends, and that its
// cursors are of a documented kind.
func (m *machine) examineWalk(w api.Walk) {
	operation := w.List.Operation.ID
	ends := spec.PageWalkEnds
	if len(w.List.Query) > 0 && spec.Has(spec.FilterWalk.On(operation)) {
		ends = spec.FilterWalk
	}
	if w.End != paging.Capped && w.End != paging.Broken {
		m.examine(ends, operation, w, api.End())
	}
	id := api.CursorRequirement(w.List.Operation)
	m.examine(id, operation, w, api.CarryCursors(id == spec.PageCursorTimestamp))
}

// examineMetadata charges metadata that a get shows against what it asked for: true, false
// or nothing.
func (m *machine) examineMetadata(r api.Response, asked string) {
	id, fits := spec.MetaAbsent, api.BeAbsent()
	switch asked {
	case "true":
		id, fits = spec.MetaTrue, api.Be("an object", gomega.BeAssignableToTypeOf(map[string]any{}))
	case "false":
		id = spec.MetaFalse
	}
	m.examine(id, spec.GetPlacementTest, r, api.HaveMember("metadata", fits))
}
