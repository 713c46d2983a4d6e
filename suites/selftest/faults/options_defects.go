package faults

import (
	"net/http"
	"slices"
	"strconv"

	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/spec"
)

// optionsDefects show the provider options to keys that must not see them, or refuse them
// with another error than the documented one.
func optionsDefects() []Defect {
	var defects []Defect
	add := func(requirement string, by asker, damage, doc string, act func(*Target) behaviour) {
		defects = append(defects, Defect{ID: defectID(spec.CreatePlacementTest, "options", by.name, damage),
			Breaks: spec.Pair{Requirement: requirement, Operation: spec.CreatePlacementTest}, Doc: sentence(doc, by.who, "for provider options"),
			Apply: func(a *Target) Middleware {
				instead := act(a)
				return func(next Handler) Handler {
					return func(r Request) (Response, error) {
						if r.Path == spec.OptionsPath && by.fits(a, r) {
							return instead(next, r)
						}
						return next(r)
					}
				}
			}})
	}
	served := func(a *Target) behaviour { return asking(a.fullKey(spec.CreatePlacementTest)) }
	refused := func(requirement string, by asker, statuses ...int) {
		for _, status := range statuses {
			add(requirement, by, strconv.Itoa(status), "answers "+strconv.Itoa(status)+" to", func(*Target) behaviour { return refusing(status) })
		}
	}
	spoilt := func(requirement string, by asker) {
		add(requirement, by, "without-message", "answers without a message to", func(*Target) behaviour {
			return func(next Handler, r Request) (Response, error) {
				answer, err := next(r)
				return withMember("message", constant(removed{}))(answer), err
			}
		})
	}
	for _, way := range unauthorized {
		plain := way.askers[0]
		for _, by := range way.askers {
			add("OPTIONS-AUTH", by, "served", "serves", served)
		}
		refused("OPTIONS-AUTH", plain, http.StatusForbidden, http.StatusInternalServerError)
		spoilt("OPTIONS-AUTH", plain)
	}
	for _, f := range slices.Concat(otherSchemes, otherTokens) {
		add("OPTIONS-AUTH", inForm("revoked-"+f.name, f.form, profile.KeyRevoked), "served", "serves a revoked key in", served)
	}
	scopeless := asker{"no-scopes", "a key without scopes", func(a *Target, r Request) bool {
		key, ok := a.keyOf(r)
		return ok && key.State == profile.KeyActive && len(key.Scopes) == 0
	}}
	add("OPTIONS-SCOPE", scopeless, "served", "serves", served)
	refused("OPTIONS-SCOPE", scopeless, http.StatusInternalServerError)
	add("OPTIONS-BILLING", unpaid, "served", "serves", served)
	refused("OPTIONS-BILLING", unpaid, http.StatusForbidden)
	spoilt("OPTIONS-BILLING", unpaid)
	for _, status := range []int{http.StatusForbidden, http.StatusServiceUnavailable} {
		defects = append(defects, beyondOptionsLimit(strconv.Itoa(status), func(Response) Response { return refusal(status) }))
	}
	return slices.Concat(defects, []Defect{beyondOptionsLimit("without-message", withMember("message", constant(removed{})))})
}

// beyondOptionsLimit returns the defect of changing the responses of the path with 429.
func beyondOptionsLimit(damage string, change func(Response) Response) Defect {
	return Defect{ID: defectID(spec.CreatePlacementTest, "options-limit", damage), Breaks: spec.Pair{Requirement: "OPTIONS-RATE", Operation: spec.CreatePlacementTest},
		Doc: "does not answer with a documented 429 to a request for provider options beyond the rate limit: " + damage,
		Apply: func(*Target) Middleware {
			return func(next Handler) Handler {
				return func(r Request) (Response, error) {
					answer, err := next(r)
					if err == nil && r.Path == spec.OptionsPath && answer.Status == http.StatusTooManyRequests {
						return change(answer), nil
					}
					return answer, err
				}
			}
		}}
}
