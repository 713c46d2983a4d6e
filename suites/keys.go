package suites

import (
	"net/http"
	"slices"
	"strings"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/internal/client"
	"outreach.example/conformance/spec"
)

// errorPairs are the requirements on the body of an error of that status.
func errorPairs(op spec.Operation, status string) []spec.Pair {
	prefix := "ERROR-" + status + "-"
	return on(op, prefix+"BODY", prefix+"CONTENT_TYPE", prefix+"STATUSCODE", prefix+"ERROR", prefix+"MESSAGE")
}

// authentication lacks authorization in every way (Authentication, rule 3).
// The requests name nothing that exists, so that a target that serves them
// does no harm; without authorization the answer is 401 before all else.
func authentication() []Spec {
	one := func(k call) []call { return []call{k} }
	ways := []struct {
		requirement, title string
		spoil              func(*check, call) []call
	}{
		{"AUTH-HEADER-MISSING", "refuses a request without an Authorization header", func(_ *check, k call) []call { return one(k.withoutAuthorization()) }},
		{"AUTH-SCHEME-OTHER", "refuses another scheme than Bearer", func(_ *check, k call) []call {
			return []call{k.withAuthorization("Basic " + k.key.Token), k.withAuthorization(k.key.Token)}
		}},
		{"AUTH-TOKEN-EMPTY", "refuses an empty token", func(_ *check, k call) []call { return one(k.withAuthorization("Bearer ")) }},
		{"AUTH-KEY-UNKNOWN", "refuses a key that was never issued", func(c *check, k call) []call {
			calls := one(k.withKey(client.Key{Name: "unknown", Token: c.word() + c.word()}))
			if n := len(k.key.Token); n >= longKey {
				calls = append(calls, k.withKey(client.Key{Name: "half-of-" + k.key.Name, Token: k.key.Token[:n/2]}))
			}
			return calls
		}},
		{"AUTH-KEY-REVOKED", "refuses a revoked key", func(c *check, k call) []call {
			revoked, ok := c.Profile.RevokedKey()
			if !ok {
				c.lack("a revoked key")
			}
			return one(k.withKey(token(revoked)))
		}},
	}
	var specs []Spec
	for _, op := range spec.Operations() {
		for _, way := range ways {
			pairs := slices.Concat(on(op, way.requirement), errorPairs(op, "401"))
			specs = append(specs, Spec{op.ID, way.title, pairs, func(c *check) {
				c.control(op)
				for _, a := range c.send(way.spoil(c, c.harmless(authorizedRole(op), op))...) {
					c.expect(way.requirement, a, haveStatus(http.StatusUnauthorized))
				}
			}})
		}
	}
	return specs
}

// control makes sure, once a run, that a 401 of the operation is for want of
// authorization: with a good key the same request is answered otherwise.
func (c *check) control(op spec.Operation) {
	if _, done := c.controlled.LoadOrStore(op.ID, true); done {
		return
	}
	k := c.harmless(authorizedRole(op), op)
	if op.Answer == spec.Page {
		k = k.with("limit", "1") // so that the target has little to do
	}
	if a := c.one(k); a.Status == http.StatusUnauthorized {
		c.Ledger.Answered(op.ID, a.Status)
	}
}

// longKey is how many bytes a key must have for its half to be surely no key.
const longKey = 16

// scopes tries keys of one scope each (Authentication, rule 2).
func scopes() []Spec {
	alternatives := []string{"SCOPE-EXACT", "SCOPE-RESOURCE-ALL", "SCOPE-ALL-ACTION", "SCOPE-ALL-ALL"}
	var specs []Spec
	for _, op := range bound("SCOPE-EXACT") {
		for i, requirement := range alternatives {
			scope := op.Scope.Alternatives()[i]
			specs = append(specs, Spec{op.ID, "accepts a key with the scope " + scope, on(op, requirement), func(c *check) {
				c.serves(requirement, c.withScope(c.request(dataset.Main, op), scope))
			}})
		}
		specs = append(specs,
			Spec{op.ID, "refuses a key without scopes", on(op, "SCOPE-NONE"), func(c *check) {
				c.refuses("SCOPE-NONE", op, "")
			}},
			Spec{op.ID, "refuses a key for another resource", on(op, "SCOPE-WRONG-RESOURCE"), func(c *check) {
				c.refuses("SCOPE-WRONG-RESOURCE", op, otherResources(op)...)
			}},
			Spec{op.ID, "refuses a key for another action", on(op, "SCOPE-WRONG-ACTION"), func(c *check) {
				c.refuses("SCOPE-WRONG-ACTION", op, otherActions(op)...)
			}})
	}
	return specs
}

// withScope sends the call with a key that has that scope alone.
func (c *check) withScope(k call, scope string) answer {
	key, ok := c.scopedKey(scope)
	if !ok {
		c.lack("a key of the workspace %q whose only scope is %q", dataset.Main, scope)
	}
	return c.one(k.withKey(key))
}

// refuses sends a valid request with a key for each of the scopes that the
// profile has one for; each must be refused.
func (c *check) refuses(requirement string, op spec.Operation, scopes ...string) {
	var keys []client.Key
	for _, scope := range scopes {
		if key, ok := c.scopedKey(scope); ok {
			keys = append(keys, key)
		}
	}
	switch {
	case len(keys) > 0:
	case slices.Contains(scopes, ""):
		c.lack("a key of the workspace %q without any scope", dataset.Main)
	default:
		c.lack("a key of the workspace %q whose only scope is one of %s", dataset.Main, strings.Join(scopes, ", "))
	}
	k := c.request(dataset.Main, op)
	served := false
	for _, key := range keys {
		a := c.one(k.withKey(key).open())
		c.expect(requirement, a, beRefused())
		c.observe(spec.SilencePermission, op.ID, "%s", refusal(a))
		served = served || a.Status/100 == 2
	}
	if op.ID == spec.DeleteSubsequence && !served {
		c.giveBack(k.id)
	}
}

// otherResources are scopes for the right action, and for all, on other
// resources than the operation's: those whose names are most like its own.
func otherResources(op spec.Operation) []string {
	var resources []string
	for _, other := range spec.Operations() {
		if other.Scope != (spec.Scope{}) && other.Scope.Resource != op.Scope.Resource && !slices.Contains(resources, other.Scope.Resource) {
			resources = append(resources, other.Scope.Resource)
		}
	}
	slices.SortStableFunc(resources, func(a, b string) int {
		return commonPrefix(b, op.Scope.Resource) - commonPrefix(a, op.Scope.Resource)
	})
	const most = 2
	var scopes []string
	for _, resource := range resources[:min(len(resources), most)] {
		scopes = append(scopes, resource+":"+op.Scope.Action, resource+":all")
	}
	return scopes
}

// commonPrefix counts the bytes with which both begin.
func commonPrefix(a, b string) int {
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return n
}

// otherActions are scopes for the right resource, and for all, but for another action.
func otherActions(op spec.Operation) []string {
	var scopes []string
	for _, action := range []string{"create", "read", "update", "delete"} {
		if action != op.Scope.Action {
			scopes = append(scopes, op.Scope.Resource+":"+action, "all:"+action)
		}
	}
	return scopes
}

// billing asks for everything in a workspace without a paid plan (Errors).
func billing() []Spec {
	var specs []Spec
	for _, op := range bound("BILLING-402") {
		pairs := slices.Concat(on(op, "BILLING-402"), errorPairs(op, "402"))
		specs = append(specs, Spec{op.ID, "refuses a workspace without a paid plan", pairs, func(c *check) {
			c.expect("BILLING-402", c.one(c.request(dataset.Unpaid, op)), haveStatus(http.StatusPaymentRequired))
		}})
	}
	return specs
}

// notFound names resources that do not exist (Errors).
func notFound() []Spec {
	var specs []Spec
	for _, op := range bound("NOT-FOUND") {
		pairs := slices.Concat(on(op, "NOT-FOUND"), errorPairs(op, "404"))
		specs = append(specs, Spec{op.ID, "answers 404 for an id that does not exist", pairs, func(c *check) {
			var k call
			if op.ID == spec.MoveLead {
				k = c.request(dataset.Main, op).withField("id", c.freshID())
			} else {
				k = c.harmless(dataset.Main, op)
			}
			c.expect("NOT-FOUND", c.one(k), haveStatus(http.StatusNotFound))
		}})
	}
	move := spec.MustOperation(spec.MoveLead)
	return append(specs, Spec{move.ID, "answers 404 for a subsequence that does not exist", on(move, "NOT-FOUND-SUBSEQUENCE"), func(c *check) {
		a := c.one(c.request(dataset.Main, move).withField("subsequence_id", c.freshID()))
		c.expect("NOT-FOUND-SUBSEQUENCE", a, haveStatus(http.StatusNotFound))
	}})
}
