package faults

import (
	"encoding/json"
	"net/http"
	"regexp"
	"slices"

	"outreach.example/conformance/spec"
)

const silentPrecedence = "SILENT-PRECEDENCE"

// precedenceQuirks check a request in another order than the reference server,
// which checks key, limit, plan, permission, validity and existence. A request
// with a single error gets the same answer.
func precedenceQuirks() []Quirk {
	return []Quirk{
		{ID: "precedence/validity-first", Allowed: silentPrecedence, Touches: []string{"precedence"},
			Doc: "answers 400 to an invalid request before it checks plan, limit, permission and existence",
			Apply: alike(onAll(func(r Request, answer Response) Response {
				if slices.Contains([]int{402, 403, 404, 429}, answer.Status) && !wellFormed(r) {
					return refusal(http.StatusBadRequest)
				}
				return answer
			}))},
		{ID: "precedence/path-first", Allowed: silentPrecedence, Touches: []string{"unknown path"},
			Doc: "answers 404 to an unknown path before it checks the key",
			Apply: alike(func(next Handler) Handler {
				return func(r Request) (Response, error) {
					if r.Operation == "" && r.Path != spec.OptionsPath {
						return refusal(http.StatusNotFound), nil
					}
					return next(r)
				}
			})},
		{ID: "precedence/malformed-id-unknown-path", Allowed: silentPrecedence, Touches: []string{"unknown path", "precedence"},
			Doc: "takes a path whose id is not a UUID for an unknown path, and answers 404 to it before it checks the key",
			Apply: alike(func(next Handler) Handler {
				return func(r Request) (Response, error) {
					malformed := r.Operation != "" && spec.MustOperation(r.Operation).HasPathID() && !uuidForm.MatchString(r.ID)
					if r.Operation == "" && r.Path != spec.OptionsPath || malformed {
						return refusal(http.StatusNotFound), nil
					}
					return next(r)
				}
			})},
		{ID: "precedence/existence-first", Allowed: silentPrecedence, Touches: []string{"precedence"},
			Doc: "answers 404 to a missing resource before it checks plan, limit and permission",
			// A deletion over the limit names nothing that exists, because the
			// data must last.
			Unassessed: slices.Concat(onOperation(spec.DeletePlacementTest, []string{"RATE-429", "ERROR-429-*"}),
				onOperation(spec.DeleteSubsequence, []string{"RATE-429", "ERROR-429-*"})),
			Apply: func(a *Target) Middleware {
				return func(next Handler) Handler {
					return func(r Request) (Response, error) {
						answer, err := next(r)
						if err == nil && slices.Contains([]int{402, 403, 429}, answer.Status) && !a.exists(next, r) {
							return refusal(http.StatusNotFound), nil
						}
						return answer, err
					}
				}
			}},
	}
}

var uuidForm = regexp.MustCompile(`^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$`)

// requiredMembers lists the members that the specification requires, or without
// which the request has no meaning.
var requiredMembers = map[string][]string{
	spec.AddCampaignVariables: {"variables"},
	spec.MoveLead:             {"id", "subsequence_id"},
	spec.MoveAccounts:         {"emails", "source_workspace_id", "destination_workspace_id"},
	spec.CreatePlacementTest:  spec.CreateRequired,
}

// wellFormed reports whether the request's id and body have the documented
// form, without checking values.
func wellFormed(r Request) bool {
	if spec.MustOperation(r.Operation).HasPathID() && !uuidForm.MatchString(r.ID) {
		return false
	}
	required := requiredMembers[r.Operation]
	if len(required) == 0 {
		return true
	}
	body, ok := decode(r.Body)
	object, isObject := body.(map[string]any)
	if !ok || !isObject || !json.Valid(r.Body) {
		return false
	}
	return !slices.ContainsFunc(required, func(name string) bool { return object[name] == nil })
}

// exists reports whether everything the request names exists in the key's
// workspace: in the profile or, for tests, by a get.
func (a *Target) exists(next Handler, r Request) bool {
	key, ok := a.keyOf(r)
	if !ok {
		return true
	}
	w := a.Profile.Workspaces[key.Workspace]
	body, _ := decode(r.Body)
	switch r.Operation {
	case spec.AddCampaignVariables:
		return slices.Contains(w.Campaigns, r.ID)
	case spec.MoveLead:
		return slices.Contains(w.Leads, textOf(body, "id")) && slices.Contains(w.Subsequences, textOf(body, "subsequence_id"))
	case spec.DeleteSubsequence:
		return slices.Contains(slices.Concat(w.ExpendableSubsequences, w.Subsequences), r.ID)
	case spec.MoveAccounts:
		known := func(id string) bool {
			for _, sub := range a.Profile.Workspaces {
				if sub.ID == id {
					return true
				}
			}
			return false
		}
		return known(textOf(body, "source_workspace_id")) && known(textOf(body, "destination_workspace_id"))
	case spec.GetPlacementTest, spec.DeletePlacementTest:
		if slices.Contains(w.PlacementTests, r.ID) {
			return true
		}
		found, err := next(r.redirected(spec.GetPlacementTest, r.ID).withToken(a.key(key.Workspace)))
		return err == nil && found.Status == http.StatusOK
	}
	return true
}
