package explore

import (
	"fmt"
	"net/http"
	"slices"
	"sync"

	"pgregory.net/rapid"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/internal/client"
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
			trial := e.try("reads "+op.ID, 0, func(api *suites.API) {
				walk := api.ReadAll(api.As(role, op.ID))
				w.rows = walk.Rows()
				if op.ID == spec.ListWebhookEvents {
					api.ExamineAttempts(walk, api.ReadAll(api.As(role, op.ID)))
				}
			})
			if trial.Lacked == "" && len(w.rows) > 0 {
				read = append(read, w)
			}
		}
	}
	return read
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

// queries generates queries of the lists.
func (e *explorer) queries(lists []*whole) *rapid.Generator[Case] {
	return rapid.Custom(func(t *rapid.T) Case {
		w := rapid.SampledFrom(lists).Draw(t, "list")
		if w.role != roles[0] && rapid.Bool().Draw(t, "rather another list") { // one workspace matters most
			w = rapid.SampledFrom(lists).Draw(t, "other list")
		}
		known := func(parameter string) bool {
			_, ok := e.Env.Profile.Parameter(w.operation.ID, parameter)
			return ok
		}
		key := w.keys[0]
		if rapid.IntRange(0, 2).Draw(t, "another key") == 2 {
			key = rapid.SampledFrom(w.keys).Draw(t, "key")
		}
		l := List{Operation: w.operation.ID, Role: w.role, Key: key.Name}
		if rapid.IntRange(0, 7).Draw(t, "limit out of range") == 7 {
			l.Limit = rapid.SampledFrom(outOfRange).Draw(t, "limit")
		}
		l.Query = w.now().Queries(known).Draw(t, "query")
		return Case{List: &l}
	})
}

// outOfRange are limits that a server refuses or clamps.
var outOfRange = []string{"0", "-1", "101", "1000", "99999999999999999999", "1.5", "ten"}

// query sends a query and compares the responses with the whole list. If they differ, it
// walks the list again: what changed meanwhile is no violation. Then it asks again, because
// one view may show a change later than another.
func (e *explorer) query(l List) func(*suites.API) {
	return func(api *suites.API) {
		w := e.find(l)
		if w == nil {
			api.NotAssessed("the list %s of the workspace %q", l.Operation, l.Role)
		}
		key := w.key(l.Key)
		call := api.As(l.Role, l.Operation)
		if key.Name == "" || !e.mayServe(w.operation, key) {
			refuses(api, w.operation, key, api.FilteredBy(call, l.Query))
			return
		}
		if key.Name != w.keys[0].Name {
			call = call.WithKeyOf(client.Key{Name: key.Name, Token: key.Token, Mint: key.Mint}, api.Workspace(l.Role).ID)
		}
		if l.Limit != "" {
			limited := api.FilteredBy(call, l.Query).WithQuery("limit", l.Limit).MayBeRefused()
			api.Examine(spec.PageLimitOutOfRange, l.Operation, api.Do(limited), suites.BeRefusedOrClamped())
			return
		}
		before := w.now()
		asked := api.Ask(call, l.Query)
		api.ExamineWalk(asked.Walk)
		found := asked.Compare(before)
		if len(found.Mismatches) > 0 {
			api.Aside(func() {
				again := asked
				api.Look(func() bool {
					after := api.ReadAll(api.As(l.Role, l.Operation)).Rows()
					e.changed.Add(int64(w.renew(after)))
					if found = again.Compare(oracle.Between(w.operation, before.Rows, after)); len(found.Mismatches) == 0 {
						return true
					}
					asked, before = again, w.now()
					again = api.Ask(call, l.Query)
					return false
				})
			})
		}
		for id, times := range found.Assessed {
			api.Count(id, l.Operation, times)
		}
		for _, m := range found.Mismatches {
			api.Charge(m.Requirement, l.Operation, asked.Finding(m))
		}
	}
}

// refuses expects that the key is refused, whatever the query is.
func refuses(api *suites.API, op spec.Operation, key profile.Key, call suites.Call) {
	id := refusalOf(op, key)
	// The order of 402, 403, 404 and validation is open: only without valid authorization is
	// the status certain.
	expected, fits := "a refusal (4xx)", func(status int) bool { return status/100 == 4 }
	if id == spec.AuthHeaderMissing || id == spec.AuthKeyRevoked {
		expected, fits = "401", func(status int) bool { return status == http.StatusUnauthorized }
	}
	if key.Name == "" {
		call = call.WithoutAuthorization()
	} else {
		call = call.WithKey(client.Key{Name: key.Name, Token: key.Token, Mint: key.Mint})
	}
	r := api.Do(call.MayBeRefused())
	api.Count(id, op.ID, 1)
	if !fits(r.Status) {
		api.Charge(id, op.ID, suites.Finding{Response: r, Pointer: "status", Expected: expected, Actual: fmt.Sprint(r.Status)})
	}
}

// find returns the list that the query is about; nil if it was not read.
func (e *explorer) find(l List) *whole {
	i := slices.IndexFunc(e.wholes, func(w *whole) bool { return w.operation.ID == l.Operation && w.role == l.Role })
	if i < 0 {
		return nil
	}
	return e.wholes[i]
}

// key returns the key with that name; the full one if there is none.
func (w *whole) key(name string) profile.Key {
	i := slices.IndexFunc(w.keys, func(k profile.Key) bool { return k.Name == name })
	return w.keys[max(0, i)]
}
