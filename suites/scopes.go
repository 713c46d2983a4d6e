package suites

import (
	"bytes"
	"fmt"
	"net/http"
	"slices"
	"strings"

	. "github.com/onsi/ginkgo/v2"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/internal/client"
	"outreach.example/conformance/spec"

	. "outreach.example/conformance/suites/api"
)

// scopes tries keys of one scope each (section Authentication, rule 2).
func scopes() {
	alternatives := []spec.ID{spec.ScopeExact, spec.ScopeResourceAll, spec.ScopeAllAction, spec.ScopeAllAll}
	for _, op := range spec.ScopeExact.Operations() {
		Describe(op.ID, func() {
			for i, requirement := range alternatives {
				scope := op.Scope.Alternatives()[i]
				if spec.Has(spec.ScopeEffect.On(op.ID)) {
					It("does what a key with the scope "+scope+" asks for", Requires(requirement, spec.ScopeEffect), Needs(ScopedKey(scope), effectShown(op).For(spec.ScopeEffect)), Expends(spec.DeleteSubsequence, 1), func(api *API) {
						expectEffect(api, acceptScope(api, requirement, scope))
						if requirement == spec.ScopeExact {
							expectPartsServed(api, scope)
						}
					})
				} else {
					It("accepts a key with the scope "+scope, Requires(requirement), Needs(ScopedKey(scope)), func(api *API) {
						acceptScope(api, requirement, scope)
						if requirement == spec.ScopeExact {
							expectPartsServed(api, scope)
						}
					})
				}
			}
			It("refuses a key without scopes", Requires(spec.ScopeNone), Needs(keyWithOneOf("")), Expends(spec.DeleteSubsequence, 1), func(api *API) {
				keys := takeKeys(api, "")
				needKnown(api, keys[0])
				expectRefusals(api, keys, withEachPart)
			})
			It("refuses a key for another resource", Requires(spec.ScopeWrongResource), Needs(keyWithOneOf(scopesOfOtherResources(op)...)), Expends(spec.DeleteSubsequence, 1), func(api *API) {
				expectRefusals(api, takeKeys(api, scopesOfOtherResources(op)...), withAllParts)
			})
			It("refuses a key for another action", Requires(spec.ScopeWrongAction), Needs(keyWithOneOf(scopesOfOtherActions(op)...)), Expends(spec.DeleteSubsequence, 1), func(api *API) {
				expectRefusals(api, takeKeys(api, scopesOfOtherActions(op)...), withAllParts)
			})
			It("accepts a key with several scopes", Requires(spec.ScopeSeveral), Needs(keyWithSeveral(op, true)), Expends(spec.DeleteSubsequence, 1), func(api *API) {
				for _, key := range keysWithSeveral(api, true) {
					api.Do(api.Request().WithKey(key).Breaking(spec.ScopeSeveral))
				}
			})
			It("refuses a key with several other scopes", Requires(spec.ScopeSeveralOnly), Needs(keyWithSeveral(op, false)), Expends(spec.DeleteSubsequence, 1), func(api *API) {
				expectRefusals(api, keysWithSeveral(api, false), withAllParts)
			})
		})
	}
}

// acceptScope sends a valid request with a key that has only that scope.
func acceptScope(api *API, breaks spec.ID, scope string) Response {
	return api.Do(api.Request().WithKey(keyWithScope(api, scope)).Breaking(breaks))
}

// keyWithScope returns a key of the main workspace with that scope alone.
func keyWithScope(api *API, scope string) client.Key {
	api.Take(ScopedKey(scope))
	key, _ := api.Profile.ScopedKey(dataset.Main, scope)
	return key.ForClient()
}

// keysWithScopes returns a key for each of the scopes that the profile has one
// for. The scope "" stands for a key without scopes.
func keysWithScopes(p *profile.Profile, scopes ...string) []client.Key {
	var keys []client.Key
	for _, scope := range scopes {
		if key, ok := p.ScopedKey(dataset.Main, scope); ok {
			keys = append(keys, key.ForClient())
		}
	}
	return keys
}

// keyWithOneOf is the need for a key with one of the scopes alone.
func keyWithOneOf(scopes ...string) Need {
	words := fmt.Sprintf("a key of the workspace %q whose only scope is one of %s", dataset.Main, strings.Join(scopes, ", "))
	if slices.Contains(scopes, "") {
		words = fmt.Sprintf("a key of the workspace %q without any scope", dataset.Main)
	}
	return Input(words, func(p *profile.Profile) bool { return len(keysWithScopes(p, scopes...)) > 0 })
}

// takeKeys is keysWithScopes for a spec that needs one.
func takeKeys(api *API, scopes ...string) []client.Key {
	api.Take(keyWithOneOf(scopes...))
	return keysWithScopes(api.Profile, scopes...)
}

// keyWithSeveral is the need for a key with several scopes, of which one or none is enough.
func keyWithSeveral(op spec.Operation, enough bool) Need {
	which := "one of which is"
	if !enough {
		which = "none of which is"
	}
	return Input(fmt.Sprintf("a key of the workspace %q with several scopes, %s among %s", dataset.Main, which, strings.Join(op.Scope.Alternatives(), ", ")),
		func(p *profile.Profile) bool { return len(severalKeys(p, op, enough)) > 0 })
}

// severalKeys returns keys with several scopes, of which one or none is enough.
func severalKeys(p *profile.Profile, op spec.Operation, enough bool) []profile.Key {
	return p.SeveralKeys(dataset.Main, func(scopes []string) bool {
		return enough == slices.ContainsFunc(op.Scope.Alternatives(), func(scope string) bool { return slices.Contains(scopes, scope) })
	})
}

// keysWithSeveral returns keys with several scopes, of which one or none is enough.
func keysWithSeveral(api *API, enough bool) []client.Key {
	const most = 4 // a profile may list many
	api.Take(keyWithSeveral(api.Operation(), enough))
	several := severalKeys(api.Profile, api.Operation(), enough)
	var keys []client.Key
	for _, key := range several[:min(len(several), most)] {
		keys = append(keys, key.ForClient())
	}
	return keys
}

// needKnown ends the spec if the key looks unknown.
func needKnown(api *API, key client.Key) {
	if looksUnknown(api, key) {
		api.NotAssessed("a key that the target distinguishes from a key that was never issued (it answers %q like one)", key.Name)
	}
}

// looksUnknown reports whether the target answers the key as it answers one that
// was never issued. Its refusal says nothing about scopes then.
func looksUnknown(api *API, key client.Key) bool {
	request := api.HarmlessRequest()
	if api.Operation().ID == spec.CreatePlacementTest {
		request = BareRequest(api)
	}
	ours := api.Do(Charging(request.WithKey(key).MayBeRefused(), spec.ScopeNone.On(api.Operation().ID)))
	if ours.Status != http.StatusUnauthorized {
		return false
	}
	never := api.Do(WithUnknownKey(request)[0])
	return never.Status == ours.Status && bytes.Equal(WithoutNumbers(ours), WithoutNumbers(never))
}

// expectPartsServed sends valid requests with each optional part and a key that has only
// that scope. The scope is enough for all of them.
func expectPartsServed(api *API, scope string) {
	op := api.Operation()
	parts := slices.DeleteFunc(optionalParts(api, dataset.Main, op), func(part optionalPart) bool { return part.open })
	if len(parts) == 0 {
		return
	}
	request := api.Request().WithKey(keyWithScope(api, scope)).Breaking(spec.ScopeExact)
	for _, part := range parts {
		k := part.add(request)
		r := api.Do(k)
		for tries := 0; r.Again != nil && tries < handful; tries++ { // the row of the cursor is deleted
			r = api.Do(Behind(api, k, *r.Again))
		}
	}
}

// expectRefusals sends a valid request with each of the keys, and with the first of them
// also the requests that forms makes of it.
func expectRefusals(api *API, keys []client.Key, forms func(api *API, role string, k Call) []Call) {
	request := api.Request()
	var calls []Call
	for _, key := range keys {
		calls = append(calls, request.WithKey(key).MustBeRefused(api.Requirement()))
	}
	served := false
	for i, k := range append(calls, forms(api, dataset.Main, calls[0])...) {
		response := api.Do(k)
		if i < len(keys) {
			api.Observe(spec.OpenPointPermission, "%s", Refusal(response))
		}
		served = served || response.Status/100 == 2
	}
	if request.Operation.ID == spec.DeleteSubsequence && !served {
		api.Sandbox().GiveBack(request.ID)
	}
}

// scopesOfOtherResources returns scopes on each other resource: for the operation's action, and
// for all actions.
func scopesOfOtherResources(op spec.Operation) []string {
	var scopes []string
	for _, other := range spec.Operations() {
		scope := other.Scope.Resource + ":" + op.Scope.Action
		if other.Scope != (spec.Scope{}) && other.Scope.Resource != op.Scope.Resource && !slices.Contains(scopes, scope) {
			scopes = append(scopes, scope, other.Scope.Resource+":all")
		}
	}
	return scopes
}

// scopesOfOtherActions returns scopes on the operation's resource, and on all
// resources, for the other actions.
func scopesOfOtherActions(op spec.Operation) []string {
	var scopes []string
	for _, action := range []string{"create", "read", "update", "delete"} {
		if action != op.Scope.Action {
			scopes = append(scopes, op.Scope.Resource+":"+action, "all:"+action)
		}
	}
	return scopes
}
