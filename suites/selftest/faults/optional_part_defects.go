package faults

import (
	"bytes"
	"net/http"
	"strings"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/spec"
)

// optionalPart is a part that a request of an operation may have or lack.
type optionalPart struct {
	name string // its part of defect ids
	what string // e.g. "a cursor"
	in   func(*Target, Request) bool
	open bool // no sentence obliges a server to serve a request with it
}

// with narrows a kind of requests to those that have the part.
func (by asker) with(part optionalPart) asker {
	return asker{by.name, by.who + " with " + part.what, func(a *Target, r Request) bool { return by.fits(a, r) && part.in(a, r) }}
}

// optionalPartsOf returns the optional parts of the operation's requests.
func optionalPartsOf(op spec.Operation) []optionalPart {
	switch {
	case op.Answer == spec.Page:
		parts := []optionalPart{asksFor(profile.ParamStartingAfter), {name: "limit", what: "limit", in: inQuery("limit")}}
		if op.ID == spec.ListPlacementTests {
			parts = append(parts, asksFor(profile.ParamSearch), asksFor(profile.ParamStatus), asksFor(profile.ParamSortOrder))
		}
		for _, parameter := range profile.Params(op.ID) {
			if parameter != profile.ParamStartingAfter && parameter != profile.ParamWindowEnd { // both ends come together
				part := asksFor(parameter)
				part.open = parameter == profile.ParamSearch && op.ID == spec.ListWebhookEvents
				parts = append(parts, part)
			}
		}
		return parts
	case op.ID == spec.GetPlacementTest:
		return []optionalPart{{name: "metadata", what: "with_metadata", in: inQuery("with_metadata")}}
	case op.ID == spec.CreatePlacementTest:
		return []optionalPart{inBody("campaign-id", "campaign_id"), inBody("run-immediately", "run_immediately")}
	case op.Method == http.MethodDelete:
		return []optionalPart{{name: "null-body", what: "the body null", open: op.ID != spec.DeletePlacementTest,
			in: func(_ *Target, r Request) bool { return string(bytes.TrimSpace(r.Body)) == "null" }}}
	}
	return nil
}

// asksFor is the part of a list's query that the profile may have a name for.
func asksFor(parameter string) optionalPart {
	return optionalPart{name: strings.ReplaceAll(parameter, "_", "-"), what: "the parameter " + parameter, in: func(a *Target, r Request) bool {
		return r.Query.Has(a.parameter(r.Operation, parameter))
	}}
}

func inQuery(name string) func(*Target, Request) bool {
	return func(_ *Target, r Request) bool { return r.Query.Has(name) }
}

func inBody(name, member string) optionalPart {
	return optionalPart{name: name, what: member, in: func(_ *Target, r Request) bool {
		members, _ := objectIn(r)
		return members[member] != nil
	}}
}

// optionalPartDefects skip a check if a request has an optional part, or ask for another
// scope then.
func optionalPartDefects() []Defect {
	var defects []Defect
	for _, op := range spec.Operations() {
		parts := optionalPartsOf(op)
		if len(parts) == 0 {
			continue
		}
		served := func(requirement, check string, by asker, part optionalPart, act func(*Target) behaviour) {
			by = by.with(part)
			by.name = check
			defects = append(defects, whenAsked(op.ID, requirement, by, "skipped-with-"+part.name, "serves %s", act))
		}
		full := func(a *Target) behaviour { return asking(a.fullKey(op.ID)) }
		for _, part := range parts {
			served("SCOPE-NONE", "scope", noScopes, part, full)
			served("BILLING-402", "billing", unpaid, part, (*Target).standIn)
		}
		first, last := parts[0], parts[len(parts)-1]
		served("AUTH-HEADER-MISSING", "authorization", unauthorized[0].askers[0], last, full)
		served("AUTH-KEY-REVOKED", "revocation", revokedKey, first, full)
		if op.Answer == spec.Page {
			served("SCOPE-WRONG-RESOURCE", "resource", otherResource(op.Scope), first, full)
		}
		if !last.open {
			defects = append(defects, whenAsked(op.ID, "SCOPE-EXACT", holdingOnly(op.Scope.Alternatives()[0]).with(last), "refused-with-"+last.name,
				"answers 403 to %s", func(*Target) behaviour { return refusing(http.StatusForbidden) }))
		}
	}
	defects = append(defects, whenAsked(spec.CreatePlacementTest, "SCOPE-EXACT",
		holdingOnly("inbox_placement_tests:create").with(inBody("campaign-id", "campaign_id")), "refused-with-campaign-id",
		"answers 403 to %s", func(*Target) behaviour { return refusing(http.StatusForbidden) }))
	return append(defects, otherCaseDefects()...)
}

// otherCaseDefects serve another workspace's resource if its id has upper case letters.
func otherCaseDefects() []Defect {
	const requirement = "ISOLATION-ID"
	var defects []Defect
	for _, operation := range boundTo(requirement) {
		defects = append(defects, breakingWith(requirement, operation, "serves-foreign-id-in-upper-case",
			"serves another workspace's resource if the id has upper case letters", func(a *Target) Middleware {
				return func(next Handler) Handler {
					lower := func(r Request) Request {
						if operation == spec.MoveLead {
							body, _ := objectIn(r)
							return r.withBodyMember("id", strings.ToLower(textOf(body, "id")))
						}
						return r.naming(strings.ToLower(r.ID))
					}
					isUpper := func(r Request) bool {
						id := r.ID
						if operation == spec.MoveLead {
							body, _ := objectIn(r)
							id = textOf(body, "id")
						}
						return id != strings.ToLower(id) && a.asks(dataset.Main)(r)
					}
					return where(operation, isUpper, func(next Handler, r Request) (Response, error) {
						answer, err := next(r)
						if err != nil || answer.Status == http.StatusOK {
							return answer, err
						}
						if owners, ok := a.asOwner(next, lower(r)); ok {
							return owners, nil
						}
						return answer, nil
					})(next)
				}
			}))
	}
	return defects
}
