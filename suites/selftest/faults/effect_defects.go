package faults

import (
	"fmt"
	"net/http"
	"slices"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/spec"
)

// effectDefects do what they refuse, or do not do what they report.
func effectDefects() []Defect {
	return slices.Concat(refusedButDoneDefects(), servedButUndoneDefects(), createdElsewhereDefects())
}

// refusedButDoneDefects refuse a request but carry it out.
func refusedButDoneDefects() []Defect {
	var defects []Defect
	carriedOut := func(requirement, operation string, by asker, status int) {
		if operation == spec.MoveAccounts {
			defects = append(defects, movedAnyway(requirement, by, status))
			return
		}
		defects = append(defects, whenAsked(operation, requirement, by, "refused-but-done", "refuses %s but carries it out",
			func(a *Target) behaviour {
				token := a.fullKey(operation)
				return func(next Handler, r Request) (Response, error) {
					if _, err := next(valid(r).withToken(token)); err != nil {
						return Response{}, err
					}
					return refusal(status), nil
				}
			}))
	}
	for _, operation := range boundTo("AUTH-NO-EFFECT") {
		for _, way := range unauthorized {
			if slices.Contains([]string{"AUTH-HEADER-MISSING", "AUTH-KEY-UNKNOWN", "AUTH-KEY-REVOKED"}, way.requirement) {
				carriedOut("AUTH-NO-EFFECT", operation, way.askers[0], http.StatusUnauthorized)
			}
		}
	}
	for _, operation := range boundTo("SCOPE-NO-EFFECT") {
		lacks := func(name, who string, fits func(profile.Key) bool) asker {
			return asker{name, who, func(a *Target, r Request) bool {
				key, ok := a.keyOf(r)
				return ok && key.State == profile.KeyActive && fits(key) &&
					!slices.ContainsFunc(spec.MustOperation(operation).Scope.Alternatives(), func(s string) bool { return slices.Contains(key.Scopes, s) })
			}}
		}
		carriedOut("SCOPE-NO-EFFECT", operation, lacks("scopeless", "a key without scopes", func(k profile.Key) bool { return len(k.Scopes) == 0 }), http.StatusForbidden)
		carriedOut("SCOPE-NO-EFFECT", operation, lacks("lacking-scope", "a key with another scope", func(k profile.Key) bool { return len(k.Scopes) == 1 }), http.StatusForbidden)
	}
	for _, operation := range boundTo("REQUEST-NO-EFFECT") {
		for _, by := range invalidAskers(operation) {
			carriedOut("REQUEST-NO-EFFECT", operation, by, http.StatusBadRequest)
		}
	}
	return defects
}

// invalidAskers are kinds of requests that are valid but for one part.
func invalidAskers(operation string) []asker {
	longer := asker{"longer-id", "a UUID with one more character", func(_ *Target, r Request) bool { return isUUID(shortened(r.ID)) }}
	switch operation {
	case spec.DeleteSubsequence:
		return []asker{longer}
	case spec.DeletePlacementTest:
		return []asker{longer, {"body", "a deletion with a body", func(_ *Target, r Request) bool {
			_, isObject := objectIn(r)
			return isObject
		}}}
	}
	return []asker{
		{"number-among-emails", "a number among addresses", func(a *Target, r Request) bool {
			emails := a.moveIn(r).emails
			return len(emails) > 1 && slices.ContainsFunc(emails, func(email any) bool { return !isText(email) })
		}},
		{"unknown-among-emails", "an unknown account beside a known one", func(a *Target, r Request) bool {
			emails := a.moveIn(r).emails
			known := func(email any) bool {
				return slices.Contains(a.Profile.Workspaces[dataset.SubA].Accounts, fmt.Sprint(email))
			}
			return len(emails) > 1 && slices.ContainsFunc(emails, known) && slices.ContainsFunc(emails, func(email any) bool { return isText(email) && !known(email) })
		}},
		{"word-as-destination", "a word as the destination", func(a *Target, r Request) bool { return isNoUUID(a.moveIn(r).destination) }},
	}
}

// valid returns the request without what invalidAskers add to it.
func valid(r Request) Request {
	switch short := shortened(r.ID); {
	case isUUID(short):
		return r.naming(short)
	case r.Operation == spec.DeletePlacementTest:
		r = r.clone()
		r.Body = nil
	}
	return r
}

// shortened returns an id without its last character.
func shortened(id string) string { return id[:max(0, len(id)-1)] }

// servedButUndoneDefects report success to a narrow key but change nothing.
func servedButUndoneDefects() []Defect {
	const requirement = "SCOPE-EFFECT"
	var defects []Defect
	for _, operation := range boundTo(requirement) {
		for _, scope := range spec.MustOperation(operation).Scope.Alternatives()[:3] {
			defects = append(defects, whenAsked(operation, requirement, holdingOnly(scope), "told-success", "reports success to %s but changes nothing",
				func(a *Target) behaviour { return a.unchanged }))
		}
	}
	return defects
}

// unchanged answers as if the request had been carried out.
func (a *Target) unchanged(next Handler, r Request) (Response, error) {
	token := a.key(dataset.Main)
	switch r.Operation {
	case spec.CreatePlacementTest:
		return createInPassing(next, r.withToken(token))
	case spec.DeletePlacementTest:
		return next(r.redirected(spec.GetPlacementTest, r.ID).withToken(token))
	default:
		if row, ok := a.rowByID(next, spec.ListSubsequences, token, r.ID); ok {
			return served(row), nil
		}
		return next(r)
	}
}

// createdElsewhereDefects create a test in another workspace than the key's.
func createdElsewhereDefects() []Defect {
	return []Defect{breakingWith("ISOLATION-CREATE", spec.CreatePlacementTest, "in-another-workspace",
		"creates a test of the second workspace in the main one", func(a *Target) Middleware {
			return where(spec.CreatePlacementTest, a.asks(dataset.Second), func(next Handler, r Request) (Response, error) {
				answer, err := next(r.withToken(a.key(dataset.Main)))
				if body, ok := decode(answer.Body); ok {
					for _, row := range rowsIn(r.Operation, body) {
						claim(r.Operation, row, a.Profile.Workspaces[dataset.Second].ID)
					}
					answer.Body = encode(body)
				}
				return answer, err
			})
		}),
		breakingWith("ISOLATION-CREATE", spec.CreatePlacementTest, "for-a-foreign-campaign",
			"creates a test for a campaign of another workspace", func(a *Target) Middleware {
				theirs := a.Profile.Workspaces[dataset.Second].Campaigns
				return onRequest(spec.CreatePlacementTest, func(r Request) Request {
					body, ok := objectIn(r)
					if id, _ := body["campaign_id"].(string); ok && a.asks(dataset.Main)(r) && slices.Contains(theirs, id) {
						body["campaign_id"] = first(a.Profile.Workspaces[dataset.Main].Campaigns)
						r.Body = encode(body)
					}
					return r
				})
			})}
}
