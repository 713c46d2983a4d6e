package faults

import (
	"slices"
	"strings"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/spec"
)

// scopeDefects are mistakes with the rights of a key (Authentication, rules 2 and 4).
func scopeDefects() []Defect {
	return slices.Concat(permittedDefects(), forbiddenDefects(), viewDefects(), effectDefects(), adminDefects())
}

// scoped is a request with an active key whose scopes fit that of the operation.
func scoped(fits func(held []string, own spec.Scope) bool) occasion {
	return func(x *exchange) bool {
		return holding(func(held []string) bool { return fits(held, spec.MustOperation(x.Operation).Scope) })(x)
	}
}

// single is a request with a key of one scope that fits.
func single(fits func(resource, action string, own spec.Scope) bool) occasion {
	return scoped(func(held []string, own spec.Scope) bool {
		resource, action, _ := strings.Cut(strings.Join(held, ","), ":")
		return len(held) == 1 && fits(resource, action, own)
	})
}

// oneOfFour is a request with a key that has only that one of the four scopes that each
// allow the request, the narrowest first.
func oneOfFour(i int) occasion {
	return single(func(resource, action string, own spec.Scope) bool {
		return resource+":"+action == own.Alternatives()[i]
	})
}

func allows(scope string, own spec.Scope) bool { return slices.Contains(own.Alternatives(), scope) }

// severalScopes is a request with a key of several scopes, of which the one at the place, if
// it is given, allows nothing here.
func severalScopes(enough bool, place ...func(held []string) string) occasion {
	return scoped(func(held []string, own spec.Scope) bool {
		allowed := slices.ContainsFunc(held, func(scope string) bool { return allows(scope, own) })
		return len(held) > 1 && allowed == enough && (len(place) == 0 || !allows(place[0](held), own))
	})
}

var (
	noScopes      = holding(func(held []string) bool { return len(held) == 0 })
	otherResource = single(func(resource, _ string, own spec.Scope) bool { return resource != own.Resource && resource != "all" })
	otherAction   = single(func(resource, action string, own spec.Scope) bool {
		return (resource == own.Resource || resource == "all") && action != own.Action && action != "all"
	})
	// mixed keys have the resource and the action in different scopes.
	mixedScopes = scoped(func(held []string, own spec.Scope) bool {
		some := func(fits func(scope string) bool) bool { return slices.ContainsFunc(held, fits) }
		return len(held) > 1 && !some(func(scope string) bool { return allows(scope, own) }) &&
			some(func(scope string) bool {
				return strings.HasPrefix(scope, own.Resource+":") || strings.HasPrefix(scope, "all:")
			}) &&
			some(func(scope string) bool {
				return strings.HasSuffix(scope, ":"+own.Action) || strings.HasSuffix(scope, ":all")
			})
	})
)

// permittedDefects refuse a key that may make the request.
func permittedDefects() []Defect {
	defects := slices.Concat(
		onEach(spec.ScopeSeveral, "several-scopes-401", "answers 401 to a key with several scopes", when(severalScopes(true), refuse(401))),
		onEach(spec.ScopeSeveral, "first-scope-counts", "reads only the first scope of a key", when(severalScopes(true, func(held []string) string { return held[0] }), refuse(403))),
		onEach(spec.ScopeSeveral, "last-scope-counts", "reads only the last scope of a key", when(severalScopes(true, func(held []string) string { return held[len(held)-1] }), refuse(403))),
	)
	for i, requirement := range []spec.ID{spec.ScopeExact, spec.ScopeResourceAll, spec.ScopeAllAction, spec.ScopeAllAll} {
		defects = slices.Concat(defects,
			onEach(requirement, "scope-refused", "answers 403 to a key with the scope", when(oneOfFour(i), refuse(403))),
			// A suite may take it for a key that is not valid.
			onEach(requirement, "scope-401", "answers 401 to a key with the scope", when(oneOfFour(i), refuse(401))),
		)
	}
	return defects
}

// forbiddenDefects serve a key that may not make the request, or break down.
func forbiddenDefects() []Defect {
	defects := slices.Concat(
		onEach(spec.ScopeNone, "no-scopes-served", "serves a key without scopes", when(noScopes, allow)),
		onEach(spec.ScopeNone, "no-scopes-500", "answers 500 to a key without scopes", when(noScopes, refuse(500))),
		onLists(spec.ScopeNone, "no-scopes-shown-nothing", "shows a key without scopes an empty list", when(noScopes, showNothing)),
		onEach(spec.ScopeWrongResource, "other-resource-500", "answers 500 to a key for another resource", when(otherResource, refuse(500))),
		onEach(spec.ScopeWrongAction, "other-action-500", "answers 500 to a key for another action", when(otherAction, refuse(500))),
		onEach(spec.ScopeSeveralOnly, "other-scopes-served", "serves a key with several scopes, none of which is enough", when(severalScopes(false), allow)),
		onEach(spec.ScopeSeveralOnly, "other-scopes-500", "answers 500 to such a key", when(severalScopes(false), refuse(500))),
		onEach(spec.ScopeSeveralOnly, "scopes-mixed", "takes the resource and the action from different scopes", when(mixedScopes, allow)),
	)
	for _, op := range spec.ScopeExact.Operations() {
		own := op.Scope
		confuses := func(breaks spec.ID, scope string) {
			defects = append(defects, defect(breaks, op.ID, "scope-"+scope+"-served", "serves a key whose only scope is "+scope,
				when(holding(func(held []string) bool { return slices.Equal(held, []string{scope}) }), allow)))
		}
		// The resource after its own: together, the operations confuse each with another.
		others := dataset.ScopeResources
		other := others[(slices.Index(others, own.Resource)+1)%len(others)]
		confuses(spec.ScopeWrongResource, other+":"+own.Action)
		confuses(spec.ScopeWrongResource, other+":all")
		for _, action := range []string{"create", "read", "update", "delete"} { // each may be taken to imply the right one
			if action != own.Action {
				confuses(spec.ScopeWrongAction, own.Resource+":"+action)
				confuses(spec.ScopeWrongAction, "all:"+action)
			}
		}
	}
	return defects
}

// viewDefects show some keys of a workspace other rows than others, or other values.
func viewDefects() []Defect {
	secondKey := func(x *exchange) bool {
		return asks(dataset.Main)(x) && oneOfFour(3)(x) && x.token() != x.key(dataset.Main)
	}
	narrow := oneOfFour(0)
	otherTime := rows(lastRow, func(_ *exchange, row map[string]any) { row["timestamp_created"] = "2024-02-29T00:00:00.000Z" })
	views := func(id, what string, by occasion, do verb) []Defect {
		return onEach(spec.ScopeSameRows, id, "shows "+what, when(by, do))
	}
	return slices.Concat(
		views("second-key-sees-another-time", "a second key with all:all another time in the last row", secondKey, otherTime),
		views("exact-scope-sees-another-time", "a key with the exact scope another time in the last row", narrow, otherTime),
		views("resource-scope-sees-another-time", "a key for the resource another time in the last row", oneOfFour(1), otherTime),
		views("action-scope-sees-another-time", "a key for the action another time in the last row", oneOfFour(2), otherTime),
		onLists(spec.ScopeSameRows, "sees-fewer-rows", "shows a key with the exact scope all rows but the last",
			when(narrow, items(func(_ *exchange, items []any) []any { return items[:max(0, len(items)-1)] }))),
		onLists(spec.ScopeSameRows, "sees-more-rows", "shows a key with the exact scope a row that nobody else sees",
			when(all(narrow, noCursor), items(func(x *exchange, items []any) []any {
				extra := copyOf(items[len(items)-1]).(map[string]any)
				extra["id"] = anotherID(textOf(extra, "id"))
				return append(items, extra)
			}))),
		[]Defect{defect(spec.ScopeSameRows, spec.GetPlacementTest, "sees-no-metadata", "shows a key with the exact scope no metadata",
			when(narrow, rows(eachRow, func(_ *exchange, row map[string]any) { delete(row, "metadata") })))},
	)
}

// effectDefects do what they refuse, or do not do what they report.
func effectDefects() []Defect {
	var defects []Defect
	refusesButDoes := func(breaks spec.ID, operation, id, what string, by occasion, status int, does ...verb) {
		rules := []rule{when(by, then(then(does...), carryOut, refuse(status)))}
		if operation == spec.MoveAccounts {
			rules = movedAnyway(by, status)
		}
		defects = append(defects, defect(breaks, operation, id+"-refused-but-done", "refuses "+what+" but carries it out", rules...))
	}
	for _, op := range spec.AuthNoEffect.Operations() {
		for _, by := range unauthorized {
			if by.breaks != spec.AuthSchemeOther && by.breaks != spec.AuthTokenEmpty { // not tried with an effect
				refusesButDoes(spec.AuthNoEffect, op.ID, by.id, "a request with "+by.who, by.fits, 401)
			}
		}
	}
	for _, op := range spec.ScopeNoEffect.Operations() {
		refusesButDoes(spec.ScopeNoEffect, op.ID, "no-scopes", "a key without scopes", noScopes, 403)
		refusesButDoes(spec.ScopeNoEffect, op.ID, "other-scope", "a key with another scope", either(otherResource, otherAction), 403)
	}
	for i, id := range []string{"exact-scope", "resource-scope", "action-scope"} {
		defects = append(defects, onEach(spec.ScopeEffect, id+"-told-success", "reports success to a narrow key but changes nothing", when(oneOfFour(i), standIn(dataset.Main)))...)
	}
	shorter := func(x *exchange) string { return x.ID[:max(0, len(x.ID)-1)] }
	for _, operation := range []string{spec.DeletePlacementTest, spec.DeleteSubsequence} {
		refusesButDoes(spec.RequestNoEffect, operation, "longer-id", "a UUID with one more character",
			func(x *exchange) bool { return isUUID(shorter(x)) }, 400, swapID(shorter))
	}
	refusesButDoes(spec.RequestNoEffect, spec.DeletePlacementTest, "body", "a deletion with a body", sending(func(map[string]any) bool { return true }), 400,
		func(x *exchange) { x.edit().Body = nil })
	for id, invalid := range map[string]occasion{
		"number-among-emails":  sends("emails", someItem(isNumber)),
		"unknown-among-emails": func(x *exchange) bool { return several("emails")(x) && someUnknown(x) },
		"word-as-destination":  sends("destination_workspace_id", textThat(func(id string) bool { return !isUUID(id) })),
	} {
		refusesButDoes(spec.RequestNoEffect, spec.MoveAccounts, id, "a move with a "+id, invalid, 400)
	}
	return defects
}
