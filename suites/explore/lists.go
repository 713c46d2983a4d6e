package explore

import (
	"cmp"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/onsi/gomega"
	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/internal/client"
	"outreach.example/conformance/internal/oracle"
	"outreach.example/conformance/internal/paging"
	"outreach.example/conformance/spec"
	"outreach.example/conformance/suites/api"
)

// whole is a list of one workspace as the last walk with the full key showed it.
type whole struct {
	operation spec.Operation
	role      string
	keys      []profile.Key // that queries use, the full one first; one without a name stands for no key

	first oracle.List // as the first walk showed it: cases draw from it, so a seed draws the same cases

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

// readLists reads the lists that the target serves, whole. What cannot be read is not
// explored: the evidence says why.
func (e *explorer) readLists() {
	for _, op := range spec.Operations() {
		for _, role := range []string{dataset.Main, dataset.Second} {
			full, ok := e.Env.Profile.KeyFor(role, op)
			if op.Answer != spec.Page || !e.Selects(op.ID) || !ok {
				continue
			}
			w := &whole{operation: op, role: role, keys: append([]profile.Key{full}, e.otherKeys(op, role)...)}
			e.try(func(api *api.API) { w.renew(api.Read(api.As(role, op.ID)).Rows()) })
			if w.first = w.now(); len(w.rows) > 0 {
				e.wholes = append(e.wholes, w)
			}
		}
	}
}

// find returns the list that a query is about. A target that does not serve it ends the case.
func (m *machine) find(operation, role string) *whole {
	m.queried.Add(1)
	i := slices.IndexFunc(m.wholes, func(w *whole) bool { return w.operation.ID == operation && w.role == role })
	if i < 0 {
		m.NotAssessed("the list %s of the workspace %q", operation, role)
	}
	return m.wholes[i]
}

// otherKeys returns what is sent to a list of the workspace beside the full key: the keys of
// the workspace, of which some must be refused, revoked ones, and none.
func (e *explorer) otherKeys(op spec.Operation, role string) []profile.Key {
	limit := e.Env.Profile.RateLimit
	others := slices.DeleteFunc(slices.Clone(e.Env.Profile.Keys), func(key profile.Key) bool {
		refusal := refusalOf(op, key)
		return limit != nil && limit.Key == key.Name || key.Workspace != role && key.State == profile.KeyActive ||
			refusal != "" && !spec.Has(refusal.On(op.ID))
	})
	return append(others, profile.Key{})
}

// refusalOf returns the requirement that the key is refused; empty if it may see the list.
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
	case slices.ContainsFunc(op.Scope.Alternatives(), func(scope string) bool { return slices.Contains(key.Scopes, scope) }):
		return ""
	case len(key.Scopes) > 1:
		return spec.ScopeSeveralOnly
	}
	if resource, _, _ := strings.Cut(key.Scopes[0], ":"); resource == op.Scope.Resource || resource == "all" {
		return spec.ScopeWrongAction
	}
	return spec.ScopeWrongResource
}

// lookAgain asks again and walks the list until they do not differ: what changed between two
// walks is no violation, and one view may show a change later than another.
func (m *machine) lookAgain(w *whole, differs func(oracle.List) bool, ask func()) {
	before := w.now()
	if !differs(before) {
		return
	}
	api.Aside(m.API, func() {
		m.Eventually(func() bool {
			ask()
			after := m.Read(m.As(w.role, w.operation.ID)).Rows()
			m.changed.Add(int64(w.renew(after)))
			between := oracle.Between(w.operation, before.Rows, after)
			before.Rows = after
			return !differs(between) || m.shrinks
		}).Should(gomega.BeTrue())
	})
}

// query sends a query and compares the responses with the whole list.
func (m *machine) query(s Step) {
	w := m.find(s.List, s.Role)
	key := numbered(w.keys, s, 0)
	call := m.As(s.Role, s.List)
	if refusal := refusalOf(w.operation, key); refusal != "" {
		m.refuses(refusal, key, api.Querying(m.API, call, s.Query))
		return
	}
	call = api.WithKeyOf(call, key.ForClient(), m.Workspace(s.Role).ID)
	asked := api.Ask(m.API, call, s.Query)
	m.examineWalk(asked.Walk)
	var found oracle.Comparison
	m.lookAgain(w, func(l oracle.List) bool {
		found = asked.Compare(l)
		return len(found.Mismatches) > 0
	}, func() { asked = api.Ask(m.API, call, s.Query) })
	for id, times := range found.Assessed {
		api.Count(m.API, id, s.List, times)
	}
	for _, d := range found.Mismatches {
		api.Charge(m.API, d.Requirement, s.List, asked.Finding(d))
	}
}

// refuses expects that the key is refused, whatever the query is.
func (m *machine) refuses(id spec.ID, key profile.Key, call api.Call) {
	call = call.WithKey(key.ForClient())
	if key.Name == "" {
		call = call.WithKey(client.Key{})
	}
	r := m.Do(call.MayBeRefused())
	// The order of 402, 403, 404 and validation is open: only without valid authorization is
	// the status certain.
	open := id != spec.AuthHeaderMissing && id != spec.AuthKeyRevoked
	m.verify(r.Status == http.StatusUnauthorized || open && r.Status/100 == 4, id, call.Operation.ID, r, "status", "a refusal: 401, or another 4xx of a valid key", r.Status)
}

// getRow reads a test that the list shows, and compares both views.
func (m *machine) getRow(s Step) {
	w := m.find(spec.ListPlacementTests, s.Role)
	call := m.getting(s, s.ID)
	r := m.Do(call)
	if !r.OK() {
		return // it may be gone
	}
	var row map[string]any // nil if it is gone or has changed
	m.lookAgain(w, func(l oracle.List) bool {
		row = nil
		for _, listed := range l.Rows {
			if listed.Key == paging.FoldID(s.ID) {
				row = listed.Value
			}
		}
		same, _ := api.AgreeWithRow(row, api.ChangesByItself...).Match(r)
		return !same
	}, func() {
		if later := m.Do(call); later.OK() {
			r = later
		}
	})
	m.examine(spec.StateGetList, spec.GetPlacementTest, r, api.AgreeWithRow(row, api.ChangesByItself...))
	m.examineMetadata(r, s.Metadata)
}

// getting returns a call that gets the test with the id. The test may be gone.
func (m *machine) getting(s Step, id string) api.Call {
	call := m.As(cmp.Or(s.Role, dataset.Main), spec.GetPlacementTest).WithID(id).MayGet(http.StatusNotFound)
	if s.Metadata != "" {
		call = call.WithQuery("with_metadata", s.Metadata)
	}
	return call
}
