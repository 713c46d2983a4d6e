package suites

import (
	"cmp"
	"net/http"
	"slices"
	"sync"

	"outreach.example/conformance/internal/client"
	"outreach.example/conformance/reports"
	"outreach.example/conformance/spec"
)

// tally counts the requests of a run by operation and by what the specification allows as
// their response. A request that got 429 and goes out again counts once.
type tally struct {
	mu   sync.Mutex
	kind map[kind]*reports.Requests
}

type kind struct {
	operation string
	allowed   client.Allowed
}

func (t *tally) add(ex client.Exchange) {
	waits := ex.Status == http.StatusTooManyRequests && !ex.Request.NoRetry && ex.Err == nil
	if waits || ex.Request.Operation == "" || !ex.Request.Allowed.Declared() {
		return
	}
	of := kind{ex.Request.Operation, ex.Request.Allowed}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.kind == nil {
		t.kind = map[kind]*reports.Requests{}
	}
	n := t.kind[of]
	if n == nil {
		n = &reports.Requests{Operation: of.operation, Allowed: of.allowed.String()}
		t.kind[of] = n
	}
	n.Sent++
	if ex.Status/100 == 2 {
		n.Accepted++
	}
}

// Requests returns how many requests of each kind the target accepted: by operation in the
// order of the catalogue, valid requests first.
func (e *Env) Requests() []reports.Requests {
	e.sent.mu.Lock()
	defer e.sent.mu.Unlock()
	var all []reports.Requests
	for _, op := range spec.Operations() {
		first := len(all)
		for of, n := range e.sent.kind {
			if of.operation == op.ID {
				all = append(all, *n)
			}
		}
		slices.SortFunc(all[first:], func(a, b reports.Requests) int { return cmp.Compare(a.Allowed, b.Allowed) })
	}
	return all
}
