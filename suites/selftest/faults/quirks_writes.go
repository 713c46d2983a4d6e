package faults

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/spec"
)

const (
	placementTest = "InboxPlacementTest"
	// What allows quirks.
	valuesNotShown   = "Resources and their fields: the type is stated, values are not"
	metadataNotShown = "Resources / Inbox placement test: metadata is an object; its members are not shown"
)

// writeQuirks create, delete and move in legal ways.
func writeQuirks() []Quirk {
	return slices.Concat(optionsQuirks(), creationQuirks(), storageQuirks(), deletionQuirks(), accountQuirks(), changeQuirks())
}

func optionsQuirks() []Quirk {
	provides := func(id, doc string, o occasion, v verb) Quirk {
		return quirk("options/"+id, spec.OpenPointESPOptions, "options", doc, on(options, o, v))
	}
	return []Quirk{
		provides("none", "has no list of provider options", served,
			reply(plain(404, "text/html; charset=utf-8", "<!doctype html><title>Error</title><h1>Not Found</h1>"))),
		provides("unknown-path", "answers 404 to requests for provider options before it checks the key", always, refuse(404)),
		provides("object", "answers with an object of provider options", served,
			reply(plain(200, "application/json", `{"providers":{"Google":["personal"]}}`))),
		provides("text", "answers with a JSON string as the provider options", served, reply(plain(200, "application/json", `"Google, Outlook"`))),
		provides("not-implemented", "answers 501 to requests for provider options", served, refuse(501)),
	}
}

// creationQuirks refuse what the OpenAPI document allows, or does not define, and no sentence
// obliges a server to take.
func creationQuirks() []Quirk {
	refuses := func(id, allowed, doc string, fits func(field string, value any) bool) Quirk {
		return quirk("create/"+id, allowed, "create", doc, on(spec.CreatePlacementTest, all(validKey, sending(func(body map[string]any) bool {
			for field, value := range body {
				if fits(field, value) {
					return true
				}
			}
			return false
		})), refuse(422)))
	}
	codeForm := regexp.MustCompile(`^[A-Za-z0-9_-]+$`)
	return []Quirk{
		refuses("read-only-refused", spec.OpenPointReadOnlySent, "refuses a body with a read-only field",
			func(field string, _ any) bool { return slices.Contains(spec.CreateReadOnly, field) }),
		refuses("unknown-refused", spec.OpenPointInvalidRequest, "refuses a body with an undocumented member",
			func(field string, _ any) bool {
				return !slices.Contains(spec.CreateRequired, field) && !slices.Contains(spec.CreateOptional, field)
			}),
		refuses("empty-refused", valuesNotShown+"; whether it may be empty is not shown", "refuses empty texts, arrays and objects",
			func(field string, value any) bool { return field != "not_sending_status" && isEmpty(value) }),
		refuses("long-refused", valuesNotShown+"; its length is not shown", "refuses texts of more than 500 characters",
			func(_ string, value any) bool { text, _ := value.(string); return len(text) > 500 }),
		refuses("one-line", valuesNotShown+"; names and subjects have one line", "refuses line breaks in other fields than email_body and description",
			func(field string, value any) bool {
				text, _ := value.(string)
				return field != "email_body" && field != "description" && strings.Contains(text, "\n")
			}),
		refuses("code-form", "Resources / Inbox placement test: the form of test_code is not shown",
			"refuses a test_code with other characters than letters, digits, dashes and underscores",
			func(field string, value any) bool {
				text, isText := value.(string)
				return field == "test_code" && isText && !codeForm.MatchString(text)
			}),
		refuses("schedule-idle", "Resources / Inbox placement test: which days a schedule needs is not shown", "refuses a schedule of which no day is true",
			func(field string, value any) bool {
				schedule := string(encode(value))
				return field == "schedule" && strings.Contains(schedule, `"days":{`) && !strings.Contains(schedule, "true")
			}),
		quirk("create/media-type-required", "What the service does: all endpoints use Content-Type: application/json for request bodies",
			"media type of requests, refusal of invalid requests", "refuses a body without a JSON content type, and a content type without a body",
			instead(func(x *exchange) bool {
				return hasBody(x) != strings.HasPrefix(x.Header.Get("Content-Type"), "application/json")
			}, refuse(415))),
		quirk("create/names-differ", spec.OpenPointRepeatedChange, "create, refusal of invalid requests", "refuses with 409 to create a test with a name that was used",
			on(spec.CreatePlacementTest, all(validKey, not(sends("name", equal("")))), func(x *exchange) {
				name := "name " + x.home().ID + textOf(x.sent(), "name")
				if x.memory.has(name) {
					refuse(409)(x)
				} else if x.served() {
					x.memory.put(name, true)
				}
			})),
	}
}

// isEmpty reports whether the value is an empty text, array or object.
func isEmpty(value any) bool {
	return slices.Contains([]string{`""`, "[]", "{}"}, string(encode(value)))
}

// storageQuirks store and show other values of a test than were sent.
func storageQuirks() []Quirk {
	stores := func(id, allowed, touches, doc string, change func(field string, value any) any) Quirk {
		return quirk("create/"+id, allowed, touches, doc, on(spec.CreatePlacementTest, always, func(x *exchange) {
			if body := x.sent(); body != nil {
				for field, value := range body {
					body[field] = change(field, value)
				}
				x.edit().Body = encode(body)
			}
		}))
	}
	shows := func(id, allowed, touches, doc string, change func(operation string, row map[string]any)) Quirk {
		return quirk("create/"+id, allowed, touches, doc, resources(placementTest, change))
	}
	metadata := func(id, doc, content string) Quirk {
		return quirk("metadata/"+id, metadataNotShown, "metadata", doc, on(spec.GetPlacementTest, always, set("metadata", constant(parsed(content)))))
	}
	return []Quirk{
		quirk("create/loose-json", spec.OpenPointLooseJSON, "bodies", "reads bodies with a comment, a trailing comma or trailing content",
			when(hasBody, func(x *exchange) {
				text := strings.Replace(strings.TrimPrefix(string(x.Body), "/* a comment */"), ",}", "}", 1)
				if value, ok := decode([]byte(text)); ok && !json.Valid(x.Body) {
					x.edit().Body = encode(value)
				}
			})),
		stores("loose-values", "Resources / Inbox placement test: whether a server converts a value of another type is not shown", "create, refusal of invalid requests",
			"converts true and texts to numbers, 1 and texts to booleans, and drops a line break behind a time", convertLooseValue),
		stores("sets", spec.OpenPointNormalForm, "emails, tags", "stores addresses and tags as sets, in lower case and alphabetical order",
			func(field string, value any) any {
				items, ok := value.([]any)
				if !ok || field != "emails" && field != "tags" {
					return value
				}
				for i, item := range items {
					items[i] = ofText(strings.ToLower)(item)
				}
				slices.SortFunc(items, func(a, b any) int { return bytes.Compare(encode(a), encode(b)) })
				return slices.CompactFunc(items, func(a, b any) bool { return isText(a) && a == b })
			}),
		stores("texts-trimmed", spec.OpenPointNormalForm, "texts of creations",
			"stores texts without outer blanks and control characters, with its own line ends, and subjects in one line",
			func(field string, value any) any {
				lineEnd := "\r\n"
				if field == "email_subject" {
					lineEnd = " "
				}
				return ofText(func(text string) string {
					text = strings.NewReplacer("\x00", "", "\a", "", "\r\n", "\n").Replace(text)
					return strings.ReplaceAll(strings.TrimSpace(text), "\n", lineEnd)
				})(value)
			}),
		shows("defaults", spec.OpenPointOmittedFields, "null, delete", "sets its own values for fields of a test that are missing or null",
			func(_ string, row map[string]any) {
				for name, value := range parsed(`{"delivery_mode": 1, "text_only": false, "not_sending_status": "", "test_code": "",
					"automations": [], "tags": [], "recipients_labels": []}`) {
					if row[name] == nil {
						row[name] = value
					}
				}
			}),
		shows("empty-as-absent", spec.OpenPointOmittedFields, "null", "leaves out optional fields of a test that are empty",
			func(_ string, row map[string]any) {
				maps.DeleteFunc(row, func(field string, value any) bool {
					return slices.Contains(spec.CreateOptional, field) && isEmpty(value)
				})
			}),
		shows("issue-found", "States and transitions: the transitions of a test are not shown", "null", "finds that a test without an issue cannot be sent",
			func(operation string, row map[string]any) {
				if operation != spec.CreatePlacementTest && row["not_sending_status"] == "" {
					row["not_sending_status"] = "daily_limits_hit"
				}
			}),
		quirk("create/active-ends", "States and transitions: transitions are not shown", "test status, rows", "completes active one-time tests at once",
			on(spec.CreatePlacementTest, all(sends("status", equal(1)), sends("type", equal(1))), put("status", func(*exchange, any) any { return 3 }))),
		metadata("empty", "shows metadata without members", "{}"),
		metadata("rich", "shows its own metadata", `{"id": 7, "campaign": [null], "metadata": {"": ""}}`),
	}
}

// looseValues are the valid values that lenient servers take other values for.
var looseValues = parsed(`{
	"type true": 1, "type \"1\"": 1,
	"text_only \"true\"": true, "text_only \"false\"": false, "text_only 1": true,
	"email_subject 7": "7", "description 7": "7", "email_body true": "true", "test_code true": "true"
}`)

// parsed returns the members of a JSON object.
func parsed(object string) map[string]any { return decodedOrNil([]byte(object)).(map[string]any) }

func convertLooseValue(field string, value any) any {
	if valid, loose := looseValues[field+" "+string(encode(value))]; loose {
		return valid
	}
	schedule, _ := value.(map[string]any)
	if timing, ok := schedule["timing"].(map[string]any); ok {
		damage(timing, "from", ofText(strings.TrimSpace))
	}
	return value
}

func deletionQuirks() []Quirk {
	return []Quirk{
		quirk("delete/status-changes", "States and transitions: transitions are not shown", "delete", "shows the deleted resource as stopped",
			when(deletes, rows(eachRow, func(_ *exchange, row map[string]any) {
				row["status"] = 3
				for _, field := range []string{"timestamp_next_run", "timestamp_leads_updated"} {
					damage(row, field, constant("2030-12-31T23:59:59.999Z"))
				}
			}))),
		quirk("delete/brief", spec.OpenPointOmittedFields, "delete", "answers a deletion with only the mandatory fields of the resource",
			when(deletes, rows(eachRow, func(x *exchange, row map[string]any) {
				maps.DeleteFunc(row, func(name string, _ any) bool { return !isMandatory(spec.MustOperation(x.Operation).Resource, name) })
			}))).but(unshown()...),
		quirk("delete/body-refused", "Endpoints / Inbox placement tests: request body null or absent", "delete, refusal of invalid requests", "refuses a deletion with a body",
			instead(all(deletes, hasBody, func(x *exchange) bool { return string(x.Body) != "null" }), refuse(400))),
	}
}

func deletes(x *exchange) bool { return x.Method == http.MethodDelete }

// isMandatory reports whether a resource must have the field.
func isMandatory(resource, name string) bool {
	f, _ := spec.FindField(resource + "." + name)
	return f.Required
}

// unshown returns what is required of optional fields in answers to deletions, as patterns.
func unshown() (patterns []string) {
	for _, f := range spec.Fields() {
		if name, _, _ := strings.Cut(f.Path, "."); !isMandatory(f.Resource, name) {
			patterns = append(patterns, spec.FieldRequirement(f.Resource, f.Path, "*")+" on *.delete")
		}
	}
	return patterns
}

func accountQuirks() []Quirk {
	moves := func(id, allowed, doc string, o occasion, v verb) Quirk {
		return quirk("accounts/"+id, allowed, "accounts", doc, on(spec.MoveAccounts, o, v))
	}
	return []Quirk{
		moves("unknown-account-served", spec.OpenPointUnknownAccount, "answers a move of an unknown account with success",
			all(status(404), betweenOwn, movesUnknown), success),
		moves("known-accounts-move", spec.OpenPointUnknownAccount, "moves the accounts that it knows, and answers 404 if one is unknown",
			all(status(404), not(movesUnknown)), then(put("emails", func(x *exchange, _ any) any { return x.knownAccounts() }),
				func(x *exchange) { _, _ = x.ask(x.Request) })),
		moves("unknown-account-422", spec.OpenPointUnknownAccount, "answers a move of an unknown account with 422",
			all(status(404), movesUnknown), refuse(422)),
		moves("unknown-workspace-403", spec.OpenPointUnknownWorkspace, "answers 403 to a move that names a workspace outside the key's admin workspace",
			all(status(404), not(betweenOwn)), refuse(403)),
		moves("fields-optional", spec.OpenPointAccountFields, "answers an incomplete move with success and moves nothing",
			all(validKey, sending(func(body map[string]any) bool {
				return body["source_workspace_id"] == nil || body["destination_workspace_id"] == nil || body["emails"] == nil
			})), success),
	}
}

// knownAccounts returns those of the accounts of a move that the profile names.
func (x *exchange) knownAccounts() (known []any) {
	named, _ := x.sent()["emails"].([]any)
	for _, w := range x.Profile.Workspaces {
		for _, account := range w.Accounts {
			if slices.Contains(named, any(account)) {
				known = append(known, account)
			}
		}
	}
	return known
}

func movesUnknown(x *exchange) bool { return len(x.knownAccounts()) == 0 }

// betweenOwn is a move between two workspaces under the key's.
func betweenOwn(x *exchange) bool {
	admin := func(place string) string { return x.Profile.AdminOf(textOf(x.sent(), place)) }
	return admin("source_workspace_id") == x.home().ID && admin("destination_workspace_id") == x.home().ID
}

func changeQuirks() []Quirk {
	const touched = "leads, variables, refusal of invalid requests"
	return []Quirk{
		quirk("changes/once", spec.OpenPointRepeatedChange, touched,
			"refuses with 409 to move a lead to where it is, or to add variables that exist; earlier runs made both changes",
			on(spec.MoveLead, all(served, leadIsThere), refuse(409)),
			on(spec.AddCampaignVariables, all(served, variablesExist), refuse(409))),
		quirk("leads/subsequence-optional", spec.OpenPointLeadMoveFields, "leads", "treats a move without a subsequence as a move to one of its choice",
			on(spec.MoveLead, lacks("subsequence_id"), put("subsequence_id", func(x *exchange, _ any) any { return x.usual() }))),
		quirk("rows/edited", "Endpoints: nothing says that only one client changes a resource", "edits, rows",
			"has a user who changes the daily limits of subsequences before each request for their list",
			on(spec.ListSubsequences, always, func(x *exchange) {
				edits, ids := x.memory.count("edits"), x.Profile.Workspaces[dataset.Main].Subsequences
				rows(eachRow, func(_ *exchange, row map[string]any) {
					if slices.Contains(ids, textOf(row, "id")) { // never deleted: only the list shows them
						row["daily_limit"] = edits
					}
				})(x)
			})),
	}
}

// usual returns the subsequence in which earlier runs left every lead.
func (x *exchange) usual() any { return first(x.Profile.Workspaces[dataset.Main].Subsequences) }

// leadIsThere reports whether a move changes nothing, and notes where the lead is now.
func leadIsThere(x *exchange) bool {
	lead, to := "lead "+strings.ToLower(textOf(x.sent(), "id")), any(strings.ToLower(textOf(x.sent(), "subsequence_id")))
	from, _ := x.memory.get(lead)
	x.memory.put(lead, to)
	return cmp.Or(from, x.usual()) == to
}

// variablesExist reports whether a campaign has all the variables, and adds them.
func variablesExist(x *exchange) bool {
	names, _ := x.sent()["variables"].([]any)
	return len(slices.DeleteFunc(names, func(name any) bool {
		return x.memory.count(strings.ToLower(x.Path)+fmt.Sprint("/", name)) > 1 || name == "conformance"
	})) == 0
}
