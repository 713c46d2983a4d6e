package explore

import (
	"cmp"
	"net/http"
	"slices"
	"sync"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/internal/oracle"
	"outreach.example/conformance/internal/paging"
	"outreach.example/conformance/spec"
	"outreach.example/conformance/suites"
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
			w := &whole{operation: op, role: role, keys: append([]profile.Key{full}, e.otherKeys(op, role, full)...)}
			trial := e.try("reads "+op.ID, func(api *suites.API) { w.renew(api.ReadAll(api.As(role, op.ID)).Rows()) })
			if trial.Lacked == "" && len(w.rows) > 0 {
				w.first = w.now()
				e.wholes = append(e.wholes, w)
			}
		}
	}
}

// find returns a list. A target that does not serve it ends the case.
func (m *machine) find(operation, role string) *whole {
	i := slices.IndexFunc(m.wholes, func(w *whole) bool { return w.operation.ID == operation && w.role == role })
	if i < 0 {
		m.NotAssessed("the list %s of the workspace %q", operation, role)
	}
	return m.wholes[i]
}

// otherKeys returns the keys beside the full one that are sent to a list of the workspace:
// those of the workspace, of which some must be refused, revoked ones, and none.
func (e *explorer) otherKeys(op spec.Operation, role string, full profile.Key) []profile.Key {
	limit := e.Env.Profile.RateLimit
	others := slices.DeleteFunc(slices.Clone(e.Env.Profile.Keys), func(key profile.Key) bool {
		refusal := refusalOf(op, key)
		return key.Name == full.Name || limit != nil && limit.Key == key.Name || key.Workspace != role && key.State == profile.KeyActive ||
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
	case !slices.ContainsFunc(op.Scope.Alternatives(), func(scope string) bool { return slices.Contains(key.Scopes, scope) }):
		return spec.ScopeWrongResource
	}
	return ""
}

// lookAgain walks the list until it does not differ from what was asked, and asks again
// meanwhile: what changed between two walks is no violation, and one view may show a change
// later than another. It returns the last walk.
func (m *machine) lookAgain(w *whole, differs func(oracle.List) bool, ask func()) (full suites.Walk) {
	before := w.now()
	if !differs(before) {
		return full
	}
	walk := func() bool {
		full = m.ReadAll(m.As(w.role, w.operation.ID))
		after := full.Rows()
		m.changed.Add(int64(w.renew(after)))
		between := oracle.Between(w.operation, before.Rows, after)
		before.Rows = after
		return !differs(between)
	}
	m.Aside(func() {
		if !walk() {
			m.Look(func() bool {
				ask()
				return walk()
			})
		}
	})
	return full
}

// query sends a query and compares the responses with the whole list.
func (m *machine) query(s Step) {
	m.queried.Add(1)
	w := m.find(s.List, s.Role)
	key := numbered(w.keys, s, 0)
	call := m.As(s.Role, s.List)
	if refusal := refusalOf(w.operation, key); refusal != "" {
		m.refuses(refusal, key, m.FilteredBy(call, s.Query))
		return
	}
	if key.Name != w.keys[0].Name {
		call = call.WithKeyOf(key.ForClient(), m.Workspace(s.Role).ID)
	}
	if s.Limit != "" {
		limited := m.FilteredBy(call, s.Query).WithQuery("limit", s.Limit).MayBeRefused()
		m.Examine(spec.PageLimitOutOfRange, s.List, m.Do(limited), suites.BeRefusedOrClamped())
		return
	}
	asked := m.Ask(call, s.Query)
	m.ExamineWalk(asked.Walk)
	m.sameOrder(call, m.compare(w, call, asked))
}

// compare compares what a query shows with the whole list. It may have to ask again, and
// returns what it asked last.
func (m *machine) compare(w *whole, call suites.Call, asked suites.Asked) suites.Asked {
	var found oracle.Comparison
	var unlisted []string // rows that each query showed, before and after walks without them
	looks := 0
	full := m.lookAgain(w, func(l oracle.List) bool {
		found = asked.Compare(l)
		looks++
		unlisted = slices.DeleteFunc(found.Unlisted, func(key string) bool { return looks > 1 && !slices.Contains(unlisted, key) })
		return len(found.Mismatches)+len(unlisted) > 0
	}, func() { asked = m.Ask(call, asked.Query) })
	for id, times := range found.Assessed {
		m.Count(id, w.operation.ID, times)
	}
	for _, d := range found.Mismatches {
		m.Charge(d.Requirement, w.operation.ID, asked.Finding(d))
	}
	for _, key := range unlisted {
		if looks < 3 {
			break // nothing shows that the row was there all the time
		}
		m.verify(false, spec.PageWalkComplete, w.operation.ID, full.Last(), "/items", "the row "+key+", which a query shows before and after", "a whole walk without it")
	}
	return asked
}

// sameOrder expects that pages of 100 show a filtered list in the same order.
func (m *machine) sameOrder(call suites.Call, asked suites.Asked) {
	q, operation := asked.Query, call.Operation.ID
	if !spec.Has(spec.FilterWalk.On(operation)) || len(q.Parameters) == 0 || q.Parameters[profile.ParamSortOrder] != "" || len(asked.Walk.Pages) < 2 {
		return
	}
	q.Sizes, q.Pages = []int{100}, oracle.WholeWalk
	_, differs := paging.Disorder(m.Ask(call, q).Walk.Walk, asked.Walk.Walk)
	m.verify(!differs, spec.FilterWalk, operation, asked.Walk.At(0), "/items", "the order in which pages of 100 show the rows", "another order")
}

// refuses expects that the key is refused, whatever the query is.
func (m *machine) refuses(id spec.ID, key profile.Key, call suites.Call) {
	call = call.WithKey(key.ForClient())
	if key.Name == "" {
		call = call.WithoutAuthorization()
	}
	// The order of 402, 403, 404 and validation is open: only without valid authorization is
	// the status certain.
	r := m.Do(call.MayBeRefused())
	expected, fits := "401", r.Status == http.StatusUnauthorized
	if id != spec.AuthHeaderMissing && id != spec.AuthKeyRevoked {
		expected, fits = "a refusal (4xx)", r.Status/100 == 4
	}
	m.verify(fits, id, call.Operation.ID, r, "status", expected, r.Status)
}

// getRow reads a test that the list shows, and compares both views.
func (m *machine) getRow(s Step) {
	m.queried.Add(1)
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
		same, _ := suites.AgreesWith(row).Match(r)
		return !same
	}, func() {
		if later := m.Do(call); later.OK() {
			r = later
		}
	})
	m.Examine(spec.StateGetList, spec.GetPlacementTest, r, suites.AgreesWith(row))
	m.ExamineMetadata(r, s.Metadata)
}

// getting returns a call that gets the test with the id. The test may be gone.
func (m *machine) getting(s Step, id string) suites.Call {
	call := m.As(cmp.Or(s.Role, dataset.Main), spec.GetPlacementTest).WithID(id).MayGet(http.StatusNotFound)
	if s.Metadata != "" {
		call = call.WithQuery("with_metadata", s.Metadata)
	}
	return call
}
