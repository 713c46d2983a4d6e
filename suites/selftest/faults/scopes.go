package faults

import (
	"slices"
	"strings"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/spec"
)

// scopeDefects are mistakes with the rights of a key (Authentication, rules 2 and 4).
func scopeDefects() []Defect {
	within := scoped(func(held []string, own spec.Scope) bool { return len(held) > 2 && allows(own, held[1:len(held)-1]...) })
	return slices.Concat(singleScopeDefects(), viewDefects(), effectDefects(), adminDefects(),
		onEach(spec.ScopeSeveral, "reads only the first and the last scope of a key", when(within, refuse(403))),
	)
}

// scoped is a request with an active key whose scopes fit that of the operation.
func scoped(fits func(held []string, own spec.Scope) bool) occasion {
	return func(x *exchange) bool {
		return holding(func(held []string) bool { return fits(held, spec.MustOperation(x.Operation).Scope) })(x)
	}
}

func allows(own spec.Scope, held ...string) bool {
	return slices.ContainsFunc(own.Alternatives(), func(scope string) bool { return slices.Contains(held, scope) })
}

// oneOfFour is a request with a key that has only that one of the four scopes that each
// allow the request, the narrowest first.
func oneOfFour(i int) occasion {
	return scoped(func(held []string, own spec.Scope) bool { return slices.Equal(held, own.Alternatives()[i:i+1]) })
}

var (
	// permitted is a request with a key that may make it.
	permitted     = scoped(func(held []string, own spec.Scope) bool { return allows(own, held...) })
	otherScope    = scoped(func(held []string, own spec.Scope) bool { return len(held) == 1 && !allows(own, held...) })
	otherResource = all(otherScope, scoped(func(held []string, own spec.Scope) bool {
		resource, _, _ := strings.Cut(held[0], ":")
		return resource != own.Resource && resource != "all"
	}))
	otherAction = all(otherScope, not(otherResource))
	// mixedScopes are several, none of which is enough, that name the resource and the action.
	mixedScopes = scoped(func(held []string, own spec.Scope) bool {
		words := strings.Split(strings.Join(held, ":"), ":")
		return !allows(own, held...) && slices.Contains(words, own.Resource) && slices.Contains(words, own.Action)
	})
)

// singleScopeDefects mistake one scope.
func singleScopeDefects() []Defect {
	var defects []Defect
	otherKey := func(x *exchange) bool { return x.token() != x.key(dataset.Main) }
	otherTime := setIn(lastRow, "timestamp_created", constant("2024-02-29T00:00:00.000Z"))
	for i, requirement := range []spec.ID{spec.ScopeExact, spec.ScopeResourceAll, spec.ScopeAllAction, spec.ScopeAllAll} {
		by, scope := oneOfFour(i), " to a key of "+string(requirement)
		wrong := mistakes{
			// A suite may take a 401 for that to a key that is not valid.
			requirement:        {{"answers 401" + scope, by, refuse(401)}},
			spec.ScopeSameRows: {{"shows another time in the last row" + scope, all(by, otherKey), otherTime}},
		}
		if requirement != spec.ScopeAllAll {
			wrong[spec.ScopeEffect] = []mistake{{"reports success without a change" + scope, by, standIn(dataset.Main)}}
		}
		defects = append(defects, wrong.on("")...)
	}
	for _, op := range spec.ScopeExact.Operations() {
		serves := func(breaks spec.ID, scope string) {
			only := holding(func(held []string) bool { return slices.Equal(held, []string{scope}) })
			defects = append(defects, defect(breaks, op.ID, "serves a key whose only scope is "+scope, when(only, allow)))
		}
		others := dataset.ScopeResources // together, the operations confuse each with the next one
		serves(spec.ScopeWrongResource, others[(slices.Index(others, op.Scope.Resource)+1)%len(others)]+":all")
		for _, action := range []string{"create", "read", "update", "delete"} { // each may be taken to imply the right one
			if action != op.Scope.Action {
				serves(spec.ScopeWrongAction, op.Scope.Resource+":"+action)
				serves(spec.ScopeWrongAction, "all:"+action)
			}
		}
	}
	return defects
}

// viewDefects show a key with the exact scope other rows than the full key.
func viewDefects() []Defect {
	var defects []Defect
	sees := func(operation, what string, v verb) {
		defects = append(defects, defect(spec.ScopeSameRows, operation, "shows a key with the exact scope "+what, when(all(oneOfFour(0), noCursor), v)))
	}
	for _, op := range spec.IsolationList.Operations() {
		sees(op.ID, "all rows but the last", items(func(_ *exchange, items []any) []any { return items[:max(0, len(items)-1)] }))
		sees(op.ID, "a row more", leak(dataset.Second))
	}
	sees(spec.GetPlacementTest, "no metadata", set("metadata", leftOut))
	return defects
}

// effectDefects refuse a request but carry it out, without the part that is invalid.
func effectDefects() []Defect {
	var defects []Defect
	does := func(breaks spec.ID, operation, id string, by occasion, status int, repair ...verb) {
		rules := []rule{when(by, then(then(repair...), carryOut, refuse(status)))}
		if operation == spec.MoveAccounts {
			rules = movedAnyway(by, status)
		}
		defects = append(defects, defect(breaks, operation, "refuses a request but carries it out: "+id, rules...))
	}
	for _, op := range spec.AuthNoEffect.Operations() {
		does(spec.AuthNoEffect, op.ID, "no header", noHeader, 401)
		does(spec.AuthNoEffect, op.ID, "unknown key", unknownKey, 401)
		does(spec.AuthNoEffect, op.ID, "revoked key", revokedKey, 401)
	}
	for _, op := range spec.ScopeNoEffect.Operations() {
		does(spec.ScopeNoEffect, op.ID, "no scopes", noScopes, 403)
		does(spec.ScopeNoEffect, op.ID, "other scope", otherScope, 403)
	}
	shorter := func(x *exchange) string { return x.ID[:max(0, len(x.ID)-1)] }
	tooLong := func(x *exchange) bool { return isUUID(shorter(x)) }
	const invalid = spec.RequestNoEffect
	does(invalid, spec.DeletePlacementTest, "longer id", tooLong, 400, swapID(shorter))
	does(invalid, spec.DeleteSubsequence, "longer id", tooLong, 400, swapID(shorter))
	does(invalid, spec.DeletePlacementTest, "body", hasBody, 400, func(x *exchange) { x.edit().Body = nil })
	does(invalid, spec.MoveAccounts, "number among accounts", sends("emails", someItem(isNumber)), 400)
	does(invalid, spec.MoveAccounts, "unknown account beside a known one", all(several("emails"), someUnknown), 400)
	return defects
}
