package explore

import (
	"slices"
	"sync"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/internal/oracle"
	"outreach.example/conformance/internal/paging"
	"outreach.example/conformance/spec"
	"outreach.example/conformance/suites"
)

// roles are the workspaces whose lists are explored.
var roles = []string{dataset.Main, dataset.Second}

// whole is a list of one workspace as the last walk with the full key showed it.
type whole struct {
	operation spec.Operation
	role      string
	keys      []profile.Key // that queries use; one without a name stands for no key

	mu   sync.Mutex
	rows []paging.Row
}

// now returns the list as the last walk showed it.
func (w *whole) now() oracle.List {
	w.mu.Lock()
	defer w.mu.Unlock()
	return oracle.List{Operation: w.operation, Rows: w.rows}
}

// renew takes over the rows of a later walk. It returns how many rows have changed.
func (w *whole) renew(rows []paging.Row) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	changed := len(w.rows) + len(rows) - 2*len(oracle.Between(w.operation, w.rows, rows).Rows)
	w.rows = rows
	return changed
}

// lists reads the lists that the target serves, whole. What cannot be read is not
// explored: the evidence says why.
func (e *explorer) lists() []*whole {
	var read []*whole
	for _, op := range spec.Operations() {
		if op.Answer != spec.Page || !e.Selects(op.ID) {
			continue
		}
		for _, role := range roles {
			w := &whole{operation: op, role: role, keys: e.keysFor(op, role)}
			if _, ok := e.Env.Profile.KeyFor(role, op); !ok {
				continue
			}
			trial := e.read(w)
			if trial.Lacked == "" && len(w.rows) > 0 {
				read = append(read, w)
			}
		}
	}
	return read
}

// read takes over the list as it is now.
func (e *explorer) read(w *whole) suites.Trial {
	return e.try("reads "+w.operation.ID, 0, func(api *suites.API) {
		walk := api.ReadAll(api.As(w.role, w.operation.ID))
		w.renew(walk.Rows())
		if w.operation.ID == spec.ListWebhookEvents {
			api.ExamineAttempts(walk, api.ReadAll(api.As(w.role, w.operation.ID)))
		}
	})
}

// keysFor returns the keys that are sent to a list of the workspace: those of the
// workspace, of which some must be refused, revoked ones, and none.
func (e *explorer) keysFor(op spec.Operation, role string) []profile.Key {
	keys := []profile.Key{{}}
	for _, key := range e.Env.Profile.Keys {
		limit := e.Env.Profile.RateLimit
		if limit != nil && limit.Key == key.Name || key.Workspace != role && key.State == profile.KeyActive {
			continue
		}
		if !e.mayServe(op, key) || spec.Has(refusalOf(op, key).On(op.ID)) {
			keys = append(keys, key)
		}
	}
	if full, ok := e.Env.Profile.KeyFor(role, op); ok { // the first is what a case shrinks to
		keys = slices.Insert(slices.DeleteFunc(keys, func(k profile.Key) bool { return k.Name == full.Name }), 0, full)
	}
	return keys
}

// mayServe reports whether the key may see the list.
func (e *explorer) mayServe(op spec.Operation, key profile.Key) bool {
	return key.State == profile.KeyActive && slices.ContainsFunc(op.Scope.Alternatives(), func(scope string) bool { return slices.Contains(key.Scopes, scope) })
}

// refusalOf returns the requirement that the key is refused.
func refusalOf(op spec.Operation, key profile.Key) spec.ID {
	switch {
	case key.Name == "":
		return spec.AuthHeaderMissing
	case key.State == profile.KeyRevoked:
		return spec.AuthKeyRevoked
	case key.State == profile.KeyUnpaid:
		return spec.Billing402
	case len(key.Scopes) == 0:
		return spec.ScopeNone
	default:
		return spec.ScopeWrongResource
	}
}
