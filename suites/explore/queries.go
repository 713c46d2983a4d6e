package explore

import (
	"fmt"
	"net/http"
	"slices"

	"pgregory.net/rapid"

	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/spec"
	"outreach.example/conformance/suites"
)

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

// query sends a query and compares the responses with the whole list.
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
			call = call.WithKeyOf(key.ForClient(), api.Workspace(l.Role).ID)
		}
		if l.Limit != "" {
			limited := api.FilteredBy(call, l.Query).WithQuery("limit", l.Limit).MayBeRefused()
			api.Examine(spec.PageLimitOutOfRange, l.Operation, api.Do(limited), suites.BeRefusedOrClamped())
			return
		}
		look := &look{explorer: e, api: api, whole: w, call: call, before: w.now()}
		look.asked = api.Ask(call, l.Query)
		api.ExamineWalk(look.asked.Walk)
		look.found = look.asked.Compare(look.before)
		if len(look.found.Mismatches)+len(look.found.Unlisted) > 0 {
			api.Aside(look.again)
		}
		look.charge()
		look.sameOrder()
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
		call = call.WithKey(key.ForClient())
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
