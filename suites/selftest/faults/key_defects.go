package faults

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/spec"
)

func keyDefects() []Defect {
	return slices.Concat(authDefects(), scopeRefusedDefects(), scopeServedDefects(), severalScopesDefects(), viewDefects(), adminDefects())
}

// asker is a kind of requests, identified by their key.
type asker struct {
	name string // its part of defect ids
	who  string // e.g. "a request without an Authorization header"
	fits func(*Target, Request) bool
}

// whenAsked returns the defect of mishandling the operation's requests of a
// kind.
func whenAsked(operation, requirement string, by asker, damage, doc string, act func(*Target) behaviour) Defect {
	return Defect{
		ID: operation + "/" + by.name + "-" + damage, Breaks: spec.Pair{Requirement: requirement, Operation: operation},
		Doc: fmt.Sprintf(doc, by.who),
		Apply: func(a *Target) Middleware {
			return where(operation, func(r Request) bool { return by.fits(a, r) }, act(a))
		},
	}
}

// misrefused returns the defects of answering a kind of requests with each
// status.
func misrefused(operation, requirement string, by asker, statuses ...int) []Defect {
	var defects []Defect
	for _, status := range statuses {
		defects = append(defects, whenAsked(operation, requirement, by, strconv.Itoa(status),
			"answers "+strconv.Itoa(status)+" to %s", func(*Target) behaviour { return refusing(status) }))
	}
	return defects
}

// wrongfullyServed returns the defect of allowing everything to a kind of
// requests.
func wrongfullyServed(operation, requirement string, by asker) Defect {
	return whenAsked(operation, requirement, by, "served", "serves %s",
		func(a *Target) behaviour { return asking(a.fullKey(operation)) })
}

// knows reports whether the token belongs to a key of the profile.
func (a *Target) knows(token string) bool {
	return token != "" && slices.ContainsFunc(a.Profile.Keys, func(k profile.Key) bool { return k.Token == token })
}

// authDefects serve unauthorized requests, refuse them with a status other than
// 401, or check something else first.
func authDefects() []Defect {
	var defects []Defect
	for _, op := range spec.Operations() {
		for _, way := range unauthorized {
			for _, by := range way.askers {
				defects = append(defects, wrongfullyServed(op.ID, way.requirement, by))
			}
			defects = append(defects, checkedTooEarly(op, way)...)
			defects = append(defects, misrefused(op.ID, way.requirement, way.askers[0],
				http.StatusBadRequest, http.StatusForbidden, http.StatusNotFound, http.StatusInternalServerError)...)
		}
	}
	return defects
}

// holding matches requests with a key that has exactly one, matching scope.
func holding(name, who string, fits func(resource, action string) bool) asker {
	return asker{name, who, func(a *Target, r Request) bool {
		key, ok := a.keyOf(r)
		if !ok || key.State != profile.KeyActive || len(key.Scopes) != 1 {
			return false
		}
		resource, action, _ := strings.Cut(key.Scopes[0], ":")
		return fits(resource, action)
	}}
}

// scopeWord returns a scope as a part of a defect's id.
func scopeWord(scope string) string {
	return "scope-" + strings.NewReplacer("_", "-", ":", "-").Replace(scope)
}

// holdingOnly matches requests with a key that has only this scope.
func holdingOnly(scope string) asker {
	return holding(scopeWord(scope), "a key whose only scope is "+scope,
		func(resource, action string) bool { return resource+":"+action == scope })
}

// scopeRefusedDefects refuse a key with one of the four sufficient scopes.
func scopeRefusedDefects() []Defect {
	var defects []Defect
	for _, op := range scoped() {
		for i, requirement := range []string{"SCOPE-EXACT", "SCOPE-RESOURCE-ALL", "SCOPE-ALL-ACTION", "SCOPE-ALL-ALL"} {
			defects = append(defects, misrefused(op.ID, requirement, holdingOnly(op.Scope.Alternatives()[i]),
				http.StatusUnauthorized, http.StatusForbidden, http.StatusInternalServerError)...)
		}
	}
	return defects
}

// noScopes matches requests with a key that has no scope.
var noScopes = asker{"no-scopes", "a key without scopes", func(a *Target, r Request) bool {
	key, ok := a.keyOf(r)
	return ok && key.State == profile.KeyActive && len(key.Scopes) == 0
}}

// otherResource matches requests with a key for another resource than that of the scope.
func otherResource(own spec.Scope) asker {
	return holding("scopes-of-others", "a key for another resource",
		func(resource, _ string) bool { return resource != own.Resource && resource != "all" })
}

// scopeServedDefects serve a key with none of the four sufficient scopes, or
// return 500.
func scopeServedDefects() []Defect {
	var defects []Defect
	for _, op := range scoped() {
		own := op.Scope
		served := func(requirement string, by asker) {
			defects = append(defects, wrongfullyServed(op.ID, requirement, by))
		}
		breaksDown := func(requirement string, by asker) {
			defects = append(defects, misrefused(op.ID, requirement, by, http.StatusInternalServerError)...)
		}
		served("SCOPE-NONE", noScopes)
		breaksDown("SCOPE-NONE", noScopes)
		if op.Answer != spec.One {
			defects = append(defects, whenAsked(op.ID, "SCOPE-NONE", noScopes, "shown-nothing", "answers %s with an empty list",
				func(*Target) behaviour { return showingNothing }))
		}

		isOther := func(resource string) bool { return resource != own.Resource && resource != "all" }
		others := otherResource(own)
		served("SCOPE-WRONG-RESOURCE", others)
		breaksDown("SCOPE-WRONG-RESOURCE", others)
		served("SCOPE-WRONG-RESOURCE", holding("right-action-elsewhere", "a key for the right action on another resource",
			func(resource, action string) bool { return isOther(resource) && action == own.Action }))
		for _, resource := range dataset.ScopeResources {
			if resource != own.Resource {
				served("SCOPE-WRONG-RESOURCE", holdingOnly(resource+":all"))
				served("SCOPE-WRONG-RESOURCE", holdingOnly(resource+":"+own.Action))
			}
		}
		served("SCOPE-WRONG-RESOURCE", holding("any-action-elsewhere", "a key for all actions on another resource",
			func(resource, action string) bool { return isOther(resource) && action == "all" }))

		isOtherAction := func(action string) bool { return action != own.Action && action != "all" }
		otherActions := holding("scopes-for-others", "a key for another action", func(resource, action string) bool {
			return (resource == own.Resource || resource == "all") && isOtherAction(action)
		})
		breaksDown("SCOPE-WRONG-ACTION", otherActions)
		for _, action := range []string{"create", "read", "update", "delete"} {
			if isOtherAction(action) {
				served("SCOPE-WRONG-ACTION", holdingOnly(own.Resource+":"+action))
				served("SCOPE-WRONG-ACTION", holdingOnly("all:"+action))
			}
		}
	}
	return defects
}

// severalScopesDefects serve or refuse a key with several scopes wrongly.
func severalScopesDefects() []Defect {
	several := func(name, who string, fits func(scopes []string, enough bool) bool, op spec.Operation) asker {
		return asker{name, who, func(a *Target, r Request) bool {
			key, ok := a.keyOf(r)
			enough := slices.ContainsFunc(op.Scope.Alternatives(), func(scope string) bool { return slices.Contains(key.Scopes, scope) })
			return ok && key.State == profile.KeyActive && len(key.Scopes) > 1 && !slices.Contains(key.Scopes, "all:all") && fits(key.Scopes, enough)
		}}
	}
	var defects []Defect
	for _, op := range scoped() {
		in := func(scope string) bool { return slices.Contains(op.Scope.Alternatives(), scope) }
		defects = append(defects, misrefused(op.ID, "SCOPE-SEVERAL", several("several-scopes", "a key with several scopes, one of which is enough",
			func(_ []string, enough bool) bool { return enough }, op), http.StatusUnauthorized, http.StatusForbidden, http.StatusInternalServerError)...)
		defects = append(defects, misrefused(op.ID, "SCOPE-SEVERAL", several("not-the-first-scope", "a key whose first scope is not enough",
			func(scopes []string, enough bool) bool { return enough && !in(scopes[0]) }, op), http.StatusForbidden)...)
		defects = append(defects, misrefused(op.ID, "SCOPE-SEVERAL", several("not-the-last-scope", "a key whose last scope is not enough",
			func(scopes []string, enough bool) bool { return enough && !in(scopes[len(scopes)-1]) }, op), http.StatusForbidden)...)

		others := several("several-other-scopes", "a key with several scopes, none of which is enough", func(_ []string, enough bool) bool { return !enough }, op)
		defects = append(defects, misrefused(op.ID, "SCOPE-SEVERAL-ONLY", others, http.StatusInternalServerError)...)
		defects = append(defects, wrongfullyServed(op.ID, "SCOPE-SEVERAL-ONLY", others),
			wrongfullyServed(op.ID, "SCOPE-SEVERAL-ONLY", several("scopes-mixed", "a key that has its resource and its action in different scopes",
				func(scopes []string, enough bool) bool { return !enough && mixes(scopes, op.Scope) }, op)))
	}
	return defects
}

// mixes reports whether one scope allows something on the resource, and another one the
// action on something else.
func mixes(scopes []string, own spec.Scope) bool {
	resource, action := false, false
	for _, scope := range scopes {
		on, does, _ := strings.Cut(scope, ":")
		resource = resource || on == own.Resource || on == "all"
		action = action || does == own.Action || does == "all"
	}
	return resource && action
}

// scoped returns the operations with documented scopes.
func scoped() []spec.Operation {
	return slices.DeleteFunc(spec.Operations(), func(op spec.Operation) bool { return op.Scope == spec.Scope{} })
}

// unpaid matches requests for a workspace without an active paid plan.
var unpaid = asker{"unpaid", "a workspace without a paid plan", func(a *Target, r Request) bool {
	key, ok := a.keyOf(r)
	return ok && key.State == profile.KeyUnpaid
}}

// billingDefects serve a workspace that has not paid, or refuse it with a
// status other than 402.
func billingDefects() []Defect {
	var defects []Defect
	for _, op := range spec.Operations() {
		defects = append(defects, whenAsked(op.ID, "BILLING-402", unpaid, "served", "serves %s", (*Target).standIn))
		if op.Answer != spec.One {
			defects = append(defects, whenAsked(op.ID, "BILLING-402", unpaid, "shown-nothing", "shows %s an empty list",
				func(*Target) behaviour { return showingNothing }))
		}
		defects = append(defects, misrefused(op.ID, "BILLING-402", unpaid,
			http.StatusBadRequest, http.StatusUnauthorized, http.StatusForbidden, http.StatusInternalServerError)...)
	}
	return defects
}
