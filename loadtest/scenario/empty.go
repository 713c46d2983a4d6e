package scenario

import (
	"fmt"
	"slices"
	"strings"

	"outreach.example/conformance/loadtest/measure"
	"outreach.example/conformance/spec"
)

// emptyLists says of which lists nothing but empty pages was measured. They are
// legal, and cost next to nothing: where there was nothing else, the figures say no
// more of a server's lists than a walk of no rows does. Depth and Walk say it in
// their own terms, and shards leave it to the whole.
func (r *runner) emptyLists() {
	if k := r.scenario.Kind; k == Depth || k == Walk || r.env.Shard.Of > 1 {
		return
	}
	asked := r.accepted()
	empty := slices.DeleteFunc(slices.Clone(asked), func(id string) bool { return !slices.Contains(r.empty, id) })
	switch {
	case len(empty) == 0:
	case len(empty) == len(asked):
		r.void("no answer that was judged showed a row: what was measured is the cost of empty pages; load a target whose lists have rows")
	default:
		r.foremost = append(r.foremost, fmt.Sprintf("no answer of %s that was judged showed a row: what was measured there is the cost of empty pages", strings.Join(empty, ", ")))
	}
}

// accepted are the operations of which requests that count were accepted, in the
// catalogue's order.
func (r *runner) accepted() (ids []string) {
	for _, op := range spec.Operations() {
		if slices.ContainsFunc(r.counted, func(c counted) bool { return c.recording.Label(op.ID).Count[measure.Accepted] > 0 }) {
			ids = append(ids, op.ID)
		}
	}
	return ids
}
