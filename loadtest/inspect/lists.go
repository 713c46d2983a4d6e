package inspect

import (
	"maps"
	"net/http"
	"slices"
	"sync"

	"outreach.example/conformance/internal/judge"
	"outreach.example/conformance/spec"
)

// lists knows which list operations have shown a row, of those that were answered.
type lists struct {
	mu   sync.Mutex
	rows map[string]bool
}

// saw takes down an answer. One that breaks a requirement and shows no row may have
// some where they are not looked for.
func (l *lists) saw(a Answer, s judge.Sighting) {
	if a.Status != http.StatusOK || a.Asked.Operation.Answer != spec.Page {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.rows[a.Asked.Operation.ID] = l.rows[a.Asked.Operation.ID] || len(s.Rows)+len(s.Findings) > 0
}

// empty are the operations of which no answer showed a row, sorted.
func (l *lists) empty() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.DeleteFunc(slices.Sorted(maps.Keys(l.rows)), func(id string) bool { return l.rows[id] })
}
