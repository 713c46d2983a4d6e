package scenario

import (
	"fmt"
	"slices"
	"strings"

	"outreach.example/conformance/loadtest/measure"
	"outreach.example/conformance/spec"
)

// emptyLists reports lists of which only empty pages were measured. Empty pages
// are legal but cost next to nothing, so their figures do not represent the
// list. Depth and Walk report this themselves, and shards leave it to the
// merge.
func (r *runner) emptyLists() {
	if k := r.scenario.Kind; k == Depth || k == Walk || r.env.Shard.Of > 1 {
		return
	}
	asked := r.accepted()
	empty := slices.DeleteFunc(slices.Clone(asked), func(id string) bool { return !slices.Contains(r.empty, id) })
	switch {
	case len(empty) == 0:
	case len(empty) == len(asked):
		r.void("no checked answer has rows: only empty pages were measured (use a target whose lists have rows)")
	default:
		r.foremost = append(r.foremost, fmt.Sprintf("no checked answer of %s has rows: only empty pages were measured there", strings.Join(empty, ", ")))
	}
}

// accepted returns the operations with accepted requests that count, in the
// order of the catalogue.
func (r *runner) accepted() (ids []string) {
	for _, op := range spec.Operations() {
		if slices.ContainsFunc(r.counted, func(c counted) bool { return c.recording.Label(op.ID).Count[measure.Accepted] > 0 }) {
			ids = append(ids, op.ID)
		}
	}
	return ids
}
