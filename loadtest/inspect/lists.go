package inspect

import (
	"maps"
	"net/http"
	"slices"
	"sync"

	"outreach.example/conformance/internal/judge"
	"outreach.example/conformance/spec"
)

// lists remembers which list operations have returned rows.
type lists struct {
	mu   sync.Mutex
	rows map[string]bool
}

// saw notes an answer. An answer with a violation counts as one with rows: it may have
// some in the wrong place.
func (l *lists) saw(a Answer, s judge.Result) {
	if a.Status != http.StatusOK || a.Asked.Operation.Answer != spec.Page {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.rows[a.Asked.Operation.ID] = l.rows[a.Asked.Operation.ID] || len(s.Rows)+len(s.Findings) > 0
}

// empty returns the operations whose answers had no rows, sorted.
func (l *lists) empty() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.DeleteFunc(slices.Sorted(maps.Keys(l.rows)), func(id string) bool { return l.rows[id] })
}
