package faults

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/spec"
)

// writeQuirks create, delete and move in legal ways.
func writeQuirks() []Quirk {
	return slices.Concat(createQuirks(), deleteQuirks(), moveQuirks(), []Quirk{
		{ID: "options/none", Allowed: spec.OpenPointESPOptions, Doc: "has no list of provider options", Touches: []string{"options"},
			Apply: alike(options(bodyForms[0].answer(http.StatusNotFound)))},
		{ID: "options/unknown-path", Allowed: spec.OpenPointESPOptions, Doc: "answers 404 to requests for provider options before it checks the key",
			Touches: []string{"options"}, Apply: alike(func(next Handler) Handler {
				return func(r Request) (Response, error) {
					if r.Path == spec.OptionsPath {
						return refusal(http.StatusNotFound), nil
					}
					return next(r)
				}
			})},
		{ID: "options/object", Allowed: spec.OpenPointESPOptions, Doc: "answers with an object of provider options", Touches: []string{"options"},
			Apply: alike(options(served(map[string]any{"providers": map[string]any{"Google": []any{"personal"}}})))},
	})
}

// options replaces the options, or whatever else is answered to an authorized request
// for them.
func options(instead Response) Middleware {
	return func(next Handler) Handler {
		return func(r Request) (Response, error) {
			answer, err := next(r)
			if err == nil && r.Path == spec.OptionsPath && answer.Status == http.StatusOK {
				return instead, nil
			}
			return answer, err
		}
	}
}

func createQuirks() []Quirk {
	creates := func(r Request) bool { return r.Operation == spec.CreatePlacementTest }
	return []Quirk{
		{ID: "create/read-only-refused", Allowed: spec.OpenPointReadOnlySent, Doc: "refuses a body with a read-only field",
			Touches: []string{"create"},
			Apply: func(a *Target) Middleware {
				return a.instead(func(r Request) bool {
					body, _ := objectIn(r)
					return creates(r) && slices.ContainsFunc(spec.CreateReadOnly, func(name string) bool { _, sent := body[name]; return sent })
				}, func(Request) Response { return refusal(http.StatusBadRequest) })
			}},
		{ID: "create/loose-json", Allowed: spec.OpenPointLooseJSON, Touches: []string{"bodies"},
			Doc: "reads bodies with a comment, a trailing comma or trailing content",
			Apply: alike(asked(func(r Request) bool { return hasBody(r) && !json.Valid(r.Body) }, func(r *Request) {
				text := strings.TrimPrefix(string(r.Body), "/* a comment */")
				text = strings.Replace(text, ",}", "}", 1)
				if value, ok := decode([]byte(text)); ok {
					r.Body = encode(value)
				}
			}))},
		{ID: "create/unknown-refused", Allowed: spec.OpenPointInvalidRequest, Doc: "refuses a body with an undocumented member",
			Touches: []string{"create"},
			Apply: func(a *Target) Middleware {
				return a.instead(func(r Request) bool {
					body, _ := objectIn(r)
					for name := range body {
						if creates(r) && !slices.Contains(slices.Concat(spec.CreateRequired, spec.CreateOptional), name) {
							return true
						}
					}
					return false
				}, func(Request) Response { return refusal(http.StatusUnprocessableEntity) })
			}},
		{ID: "create/media-type-required", Allowed: "What the service does: all endpoints use Content-Type: application/json for request bodies",
			Touches: []string{"media type of requests", touchesInvalid},
			Doc:     "refuses a body without a JSON content type, and a content type without a body", Apply: func(a *Target) Middleware {
				return a.instead(func(r Request) bool {
					announced := strings.HasPrefix(r.Header.Get("Content-Type"), "application/json")
					return hasBody(r) != announced
				}, func(Request) Response { return refusal(http.StatusUnsupportedMediaType) })
			}},
		{ID: "create/defaults", Allowed: spec.OpenPointOmittedFields, Doc: "sets its own values for fields of a test that are missing or null",
			Touches: []string{touchesNull, "delete"},
			Apply: alike(onResource("InboxPlacementTest", func(_ string, row map[string]any) {
				for name, value := range map[string]any{"delivery_mode": 1, "text_only": false, "not_sending_status": "", "test_code": "",
					"automations": []any{}, "tags": []any{}, "recipients_labels": []any{}} {
					if row[name] == nil {
						row[name] = value
					}
				}
			}))},
		{ID: "create/issue-found", Allowed: "States and transitions: the transitions of a test are not shown", Doc: "finds that a test without an issue cannot be sent",
			Touches: []string{touchesNull},
			Apply: alike(onResource("InboxPlacementTest", func(operation string, row map[string]any) {
				if operation != spec.CreatePlacementTest && row["not_sending_status"] == "" {
					row["not_sending_status"] = "daily_limits_hit"
				}
			}))},
		{ID: "create/loose-values", Allowed: "Resources / Inbox placement test: whether a server converts a value of another type is not shown",
			Doc: "converts true and texts to numbers, 1 and texts to booleans, and drops a line break behind a time", Touches: []string{"create", touchesInvalid},
			Apply: alike(onRequest(spec.CreatePlacementTest, convertLooseValues))},
		{ID: "create/sets", Allowed: spec.OpenPointNormalForm, Doc: "stores addresses and tags as sets, in lower case and alphabetical order", Touches: []string{"emails", "tags"},
			Apply: alike(storing(func(name string, value any) any {
				if items, ok := value.([]any); ok && (name == "emails" || name == "tags") {
					inOrder := eachText(slices.Clone(items), strings.ToLower).([]any)
					slices.SortFunc(inOrder, func(a, b any) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
					return slices.CompactFunc(inOrder, func(a, b any) bool { return isText(a) && a == b })
				}
				return value
			}))},
		{ID: "create/texts-trimmed", Allowed: spec.OpenPointNormalForm, Doc: "stores texts without outer blanks and control characters, with its own line ends, and subjects in one line",
			Touches: []string{"texts of creations"},
			Apply: alike(storing(func(name string, value any) any {
				text, ok := value.(string)
				if !ok {
					return value
				}
				text = strings.TrimSpace(strings.NewReplacer("\x00", "", "\a", "", "\r\n", "\n").Replace(text))
				if name == "email_subject" {
					return strings.ReplaceAll(text, "\n", " ")
				}
				return strings.ReplaceAll(text, "\n", "\r\n")
			}))},
		{ID: "metadata/empty", Allowed: "Resources / Inbox placement test: metadata is an object; its members are not shown",
			Doc: "shows metadata without members", Touches: []string{"metadata"},
			Apply: alike(metadata(map[string]any{}))},
		{ID: "metadata/rich", Allowed: "Resources / Inbox placement test: metadata is an object; its members are not shown",
			Doc: "shows its own metadata", Touches: []string{"metadata"},
			Apply: alike(metadata(map[string]any{"id": 7, "campaign": []any{nil}, "metadata": map[string]any{"": ""}}))},
	}
}

// storing changes the members of each body that creates a test.
func storing(change func(name string, value any) any) Middleware {
	return onRequest(spec.CreatePlacementTest, func(r Request) Request {
		if body, ok := objectIn(r); ok {
			for name, value := range body {
				body[name] = change(name, value)
			}
			r.Body = encode(body)
		}
		return r
	})
}

func metadata(content map[string]any) Middleware {
	return onResource("InboxPlacementTest", func(_ string, row map[string]any) {
		if row["metadata"] != nil {
			row["metadata"] = content
		}
	})
}

func deleteQuirks() []Quirk {
	deletes := func(r Request) bool { return r.Method == http.MethodDelete }
	deletion := func(operation string) bool { return spec.MustOperation(operation).Method == http.MethodDelete }
	return []Quirk{
		{ID: "delete/status-changes", Allowed: "States and transitions: transitions are not shown", Doc: "shows the deleted resource as stopped",
			Touches: []string{"delete"},
			Apply: alike(onResource("", func(operation string, row map[string]any) {
				if !deletion(operation) {
					return
				}
				row["status"] = 3
				for _, time := range []string{"timestamp_next_run", "timestamp_leads_updated"} {
					if row[time] != nil {
						row[time] = "2030-12-31T23:59:59.999Z"
					}
				}
			}))},
		{ID: "delete/brief", Allowed: spec.OpenPointOmittedFields, Doc: "answers a deletion with only the mandatory fields of the resource",
			Touches: []string{"delete"},
			Unassessed: slices.Concat(
				onOperation(spec.DeletePlacementTest, requirementsOn("InboxPlacementTest", conditional("InboxPlacementTest", nil))),
				onOperation(spec.DeleteSubsequence, requirementsOn("Subsequence", conditional("Subsequence", nil)))),
			Apply: alike(onResource("", func(operation string, row map[string]any) {
				if deletion(operation) {
					for name := range conditional(spec.MustOperation(operation).Resource, nil) {
						delete(row, name)
					}
				}
			}))},
		{ID: "delete/body-refused", Allowed: "Endpoints / Inbox placement tests: request body null or absent",
			Doc: "refuses a deletion with a body", Touches: []string{"delete", touchesInvalid},
			Apply: func(a *Target) Middleware {
				return a.instead(func(r Request) bool { return deletes(r) && hasBody(r) && string(r.Body) != "null" },
					func(Request) Response { return refusal(http.StatusBadRequest) })
			}},
	}
}

// onOperation restricts requirement patterns to one operation.
func onOperation(operation string, requirements []string) []string {
	narrowed := make([]string, len(requirements))
	for i, id := range requirements {
		narrowed[i] = id + " on " + operation
	}
	return narrowed
}

func moveQuirks() []Quirk {
	accounts := func(id, allowed, doc string, apply func(*Target) Middleware) Quirk {
		return Quirk{ID: "accounts/" + id, Allowed: allowed, Doc: doc, Touches: []string{"accounts"}, Apply: apply}
	}
	return []Quirk{
		accounts("unknown-account-served", spec.OpenPointUnknownAccount, "answers a move of an unknown account with success",
			func(a *Target) Middleware {
				return onAll(func(r Request, answer Response) Response {
					if r.Operation == spec.MoveAccounts && answer.Status == http.StatusNotFound && a.placesShareAdmin(r) && !a.hasAccounts(r) {
						return served(map[string]any{"status": "success"})
					}
					return answer
				})
			}),
		accounts("known-accounts-move", spec.OpenPointUnknownAccount, "moves the accounts that it knows, and answers 404 if one is unknown",
			func(a *Target) Middleware {
				return func(next Handler) Handler {
					return func(r Request) (Response, error) {
						body, _ := objectIn(r)
						emails, _ := body["emails"].([]any)
						known := slices.DeleteFunc(slices.Clone(emails), func(email any) bool { return !a.hasAccount(email) })
						if r.Operation != spec.MoveAccounts || len(known) == 0 || len(known) == len(emails) || slices.ContainsFunc(emails, func(email any) bool { return !isText(email) }) {
							return next(r)
						}
						body["emails"] = known
						only := r.clone()
						only.Body = encode(body)
						if answer, err := next(only); err != nil || answer.Status != http.StatusOK {
							return answer, err
						}
						return next(r) // the accounts have left the source
					}
				}
			}),
		accounts("unknown-account-422", spec.OpenPointUnknownAccount, "answers a move of an unknown account with 422", func(a *Target) Middleware {
			return onAll(func(r Request, answer Response) Response {
				if r.Operation == spec.MoveAccounts && answer.Status == http.StatusNotFound && !a.hasAccounts(r) {
					return refusal(http.StatusUnprocessableEntity)
				}
				return answer
			})
		}),
		accounts("unknown-workspace-403", spec.OpenPointUnknownWorkspace,
			"answers 403 to a move that names a workspace outside the key's admin workspace", func(a *Target) Middleware {
				return onAll(func(r Request, answer Response) Response {
					if r.Operation == spec.MoveAccounts && answer.Status == http.StatusNotFound && !a.placesShareAdmin(r) {
						return refusal(http.StatusForbidden)
					}
					return answer
				})
			}),
		accounts("fields-optional", spec.OpenPointAccountFields, "answers an incomplete move with success and moves nothing",
			func(a *Target) Middleware {
				return a.instead(func(r Request) bool {
					body, ok := objectIn(r)
					_, authorized := a.isValidKey(r)
					return r.Operation == spec.MoveAccounts && ok && authorized &&
						(body["source_workspace_id"] == nil || body["destination_workspace_id"] == nil || body["emails"] == nil)
				}, func(Request) Response { return served(map[string]any{"status": "success"}) })
			}),
		{ID: "changes/once", Allowed: spec.OpenPointRepeatedChange, Touches: []string{"leads", "variables", touchesInvalid},
			Doc:   "refuses with 409 to move a lead to where it is, or to add variables that exist; earlier runs made both changes",
			Apply: func(a *Target) Middleware { return newMadeBefore(a).middleware }},
		{ID: "rows/edited", Allowed: "Endpoints: nothing says that only one client changes a resource", Touches: []string{"edits", touchesRows},
			Doc: "has a user who changes the daily limit of a subsequence before each request for their list", Apply: func(a *Target) Middleware { return a.editsSubsequences }},
		{ID: "create/names-differ", Allowed: spec.OpenPointRepeatedChange, Touches: []string{"create", touchesInvalid},
			Doc: "refuses with 409 to create a test with a name that was used", Apply: func(a *Target) Middleware { return a.namesDiffer }},
		{ID: "leads/subsequence-optional", Allowed: spec.OpenPointLeadMoveFields,
			Doc: "treats a move without a subsequence as a move to one of its choice", Touches: []string{"leads"},
			Apply: func(a *Target) Middleware {
				return asked(func(r Request) bool {
					body, ok := objectIn(r)
					_, sent := body["subsequence_id"]
					return r.Operation == spec.MoveLead && ok && !sent
				}, func(r *Request) {
					body, _ := objectIn(*r)
					body["subsequence_id"] = first(a.Profile.Workspaces[dataset.Main].Subsequences)
					r.Body = encode(body)
				})
			}},
	}
}

// editsSubsequences changes the daily limits of subsequences that the run keeps.
func (a *Target) editsSubsequences(next Handler) Handler {
	ids := a.Profile.Workspaces[dataset.Main].Subsequences
	rows := &altered{}
	edits := asked(func(r Request) bool { return r.Operation == spec.ListSubsequences }, func(*Request) {
		n := rows.count()
		rows.set(ids[n%len(ids)], "daily_limit", n)
	})
	return Chain(rows.show("Subsequence"), edits)(next)
}

// namesDiffer refuses a second test of the same name in a workspace.
func (a *Target) namesDiffer(next Handler) Handler {
	var mu sync.Mutex
	used := map[string]bool{}
	return func(r Request) (Response, error) {
		key, known := a.keyOf(r)
		body, _ := objectIn(r)
		name := textOf(body, "name")
		if !known || r.Operation != spec.CreatePlacementTest || name == "" {
			return next(r)
		}
		mu.Lock()
		defer mu.Unlock()
		if used[key.Workspace+" "+name] {
			return refusal(http.StatusConflict), nil
		}
		answer, err := next(r)
		if err == nil && answer.Status == http.StatusOK {
			used[key.Workspace+" "+name] = true
		}
		return answer, err
	}
}

// madeBefore is what earlier requests changed, without any other effect that shows.
type madeBefore struct {
	mu        sync.Mutex
	at        map[string]string // lead → subsequence, both in lower case
	first     string            // the subsequence in which every other lead is
	variables map[string]bool   // path of a campaign, and the name
}

func newMadeBefore(a *Target) *madeBefore {
	return &madeBefore{at: map[string]string{}, first: first(a.Profile.Workspaces[dataset.Main].Subsequences), variables: map[string]bool{}}
}

func (m *madeBefore) middleware(next Handler) Handler {
	return func(r Request) (Response, error) {
		m.mu.Lock()
		defer m.mu.Unlock()
		answer, err := next(r)
		if err == nil && answer.Status == http.StatusOK && m.repeats(r) {
			return refusal(http.StatusConflict), nil
		}
		return answer, err
	}
}

// repeats reports whether the request, which is valid, changes nothing. It records what
// it changes.
func (m *madeBefore) repeats(r Request) bool {
	body, _ := objectIn(r)
	switch r.Operation {
	case spec.MoveLead:
		lead, to := strings.ToLower(textOf(body, "id")), strings.ToLower(textOf(body, "subsequence_id"))
		from, moved := m.at[lead]
		if !moved {
			from = m.first
		}
		m.at[lead] = to
		return from == to
	case spec.AddCampaignVariables:
		names, _ := body["variables"].([]any)
		repeated := true
		for _, name := range names {
			known := strings.ToLower(r.Path) + "/" + fmt.Sprint(name)
			repeated = repeated && (m.variables[known] || name == "conformance")
			m.variables[known] = true
		}
		return repeated
	}
	return false
}

// placesShareAdmin reports whether a move names two workspaces under the key's.
func (a *Target) placesShareAdmin(r Request) bool {
	key, _ := a.keyOf(r)
	body, _ := objectIn(r)
	for _, place := range []string{"source_workspace_id", "destination_workspace_id"} {
		known := false
		for _, w := range a.Profile.Workspaces {
			known = known || w.ID == textOf(body, place) && (w.Admin == key.Workspace || w.Admin == a.Profile.Workspaces[key.Workspace].ID)
		}
		if !known {
			return false
		}
	}
	return true
}

// hasAccounts reports whether a move names an account of the profile.
func (a *Target) hasAccounts(r Request) bool {
	body, _ := objectIn(r)
	emails, _ := body["emails"].([]any)
	return slices.ContainsFunc(emails, a.hasAccount)
}

// hasAccount reports whether the profile names the account.
func (a *Target) hasAccount(email any) bool {
	for _, w := range a.Profile.Workspaces {
		if text, ok := email.(string); ok && slices.Contains(w.Accounts, text) {
			return true
		}
	}
	return false
}
