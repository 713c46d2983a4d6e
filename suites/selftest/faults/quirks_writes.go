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
	valuesNotShown = "Resources and their fields: the type is stated, values are not"
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
		provides("scope", "shows no provider options to the key with the small limit, and checks that before the limit",
			all(validKey, asks(dataset.Limited)), refuse(403)).but("OPTIONS-RATE on inbox-placement-tests.create"),
		provides("object", "answers with an object of provider options", served,
			reply(plain(200, "application/json", `{"providers":{"Google":["personal"]}}`))),
		provides("text", "answers with a JSON string as the provider options", served, reply(plain(200, "application/json", `"Google, Outlook"`))),
		provides("not-implemented", "answers 501 to requests for provider options", served, refuse(501)),
	}
}

// creationQuirks refuse what the OpenAPI document allows, or does not define, and no sentence
// obliges a server to take.
func creationQuirks() []Quirk {
	refuses := func(id, allowed, doc string, concerns func(field string) bool, fits func(value any) bool) Quirk {
		return quirk("create/"+id, allowed, "create", doc, on(spec.CreatePlacementTest, all(validKey, sending(func(body map[string]any) bool {
			return slices.ContainsFunc(sortedKeys(body), func(field string) bool { return concerns(field) && fits(body[field]) })
		})), refuse(422)))
	}
	fields := func(names ...string) func(string) bool {
		return func(field string) bool { return slices.Contains(names, field) }
	}
	fieldsBut := func(names ...string) func(string) bool {
		return func(field string) bool { return !slices.Contains(names, field) }
	}
	return []Quirk{
		refuses("read-only-refused", spec.OpenPointReadOnlySent, "refuses a body with a read-only field", fields(spec.CreateReadOnly...), like("")),
		refuses("unknown-refused", spec.OpenPointInvalidRequest, "refuses a body with an undocumented member",
			fieldsBut(slices.Concat(spec.CreateRequired, spec.CreateOptional)...), like("")),
		refuses("empty-refused", valuesNotShown+"; whether it may be empty is not shown", "refuses empty texts, arrays and objects",
			fieldsBut("not_sending_status"), isEmpty),
		refuses("long-refused", valuesNotShown+"; its length is not shown", "refuses texts of more than 500 characters", fieldsBut(), textThat(func(text string) bool { return len(text) > 500 })),
		refuses("one-line", valuesNotShown+"; names and subjects have one line", "refuses line breaks in other fields than email_body and description",
			fieldsBut("email_body", "description"), textThat(func(text string) bool { return strings.Contains(text, "\n") })),
		refuses("code-form", "Resources / Inbox placement test: the form of test_code is not shown",
			"refuses a test_code with other characters than letters, digits, dashes and underscores", fields("test_code"), like(`^"([\w-]*[^\w"-].*)?"$`)),
		refuses("schedule-idle", "Resources / Inbox placement test: which days a schedule needs is not shown", "refuses a schedule of which no day is true",
			fields("schedule"), like(`"days":\{[^t}]*\}`)),
		quirk("create/one-time-unplanned", "Resources / Inbox placement test: the schedule says when automated tests are sent", "create",
			"refuses a schedule and a next run of a one-time test", on(spec.CreatePlacementTest, all(validKey, sends("type", equal(1)),
				sending(func(body map[string]any) bool { return body["schedule"] != nil || body["timestamp_next_run"] != nil })), refuse(422))),
		quirk("create/media-type-required", "What the service does: all endpoints use Content-Type: application/json for request bodies",
			"media type of requests, refusal of invalid requests", "refuses a body without a JSON content type, and a content type without a body",
			instead(func(x *exchange) bool {
				return hasBody(x) != strings.HasPrefix(x.Header.Get("Content-Type"), "application/json")
			}, refuse(415))),
		quirk("create/names-differ", spec.OpenPointRepeatedChange, "create, refusal of invalid requests", "refuses with 403 to create a test with a name that was used",
			on(spec.CreatePlacementTest, all(validKey, not(sends("name", equal("")))), func(x *exchange) {
				name := "name " + x.home().ID + textOf(x.sent(), "name")
				if x.memory.has(name) {
					refuse(403)(x)
				} else if x.served() {
					x.memory.put(name, true)
				}
			})),
	}
}

// like is a value whose JSON matches a pattern.
func like(pattern string) func(value any) bool {
	form := regexp.MustCompile(pattern)
	return func(value any) bool { return form.Match(encode(value)) }
}

var isEmpty = like(`^(""|\[\]|\{\})$`)

// storesAs changes what a creation stores in a field, as damage does.
func storesAs(path string, change func(any) any) rule {
	return on(spec.CreatePlacementTest, always, func(x *exchange) {
		if body := x.sent(); body != nil {
			damage(body, path, change)
			x.edit().Body = encode(body)
		}
	})
}

// storageQuirks store and show other values of a test than were sent.
func storageQuirks() []Quirk {
	metadata := func(id, doc, content string) Quirk {
		return quirk("metadata/"+id, "Resources / Inbox placement test: metadata is an object; its members are not shown", "metadata", doc, on(spec.GetPlacementTest, always, set("metadata", constant(parsed(content)))))
	}
	return []Quirk{
		quirk("create/loose-json", spec.OpenPointLooseJSON, "bodies", "reads bodies with a comment, a trailing comma or trailing content",
			when(hasBody, func(x *exchange) {
				text := strings.Replace(strings.TrimPrefix(string(x.Body), "/* a comment */"), ",}", "}", 1)
				if value, ok := decode([]byte(text)); ok && !json.Valid(x.Body) {
					x.edit().Body = encode(value)
				}
			})),
		quirk("create/loose-values", "Resources / Inbox placement test: whether a server converts a value of another type is not shown",
			"create, refusal of invalid requests", "converts true and texts to numbers, 1 and texts to booleans, and drops a line break behind a time", looseValues()...),
		quirk("create/sets", spec.OpenPointNormalForm, "emails, tags", "stores addresses and tags as sets, in lower case and alphabetical order",
			storesAs("emails", asSet), storesAs("tags", asSet)),
		quirk("create/texts-trimmed", spec.OpenPointNormalForm, "texts of creations",
			"stores texts without outer blanks and control characters, with its own line ends, and subjects in one line",
			storesAs("email_subject", ofText(strings.NewReplacer("\r\n", " ", "\n", " ").Replace)),
			storesAs("ENTRY", ofText(func(text string) string {
				return strings.TrimSpace(strings.NewReplacer("\x00", "", "\a", "", "\r\n", "\r\n", "\n", "\r\n").Replace(text))
			}))),
		quirk("create/defaults", spec.OpenPointOmittedFields, "null, delete", "sets its own values for fields of a test that are missing or null",
			resources(placementTest, func(row map[string]any) {
				for name, value := range parsed(`{"delivery_mode": 1, "text_only": false, "not_sending_status": "", "test_code": "",
					"automations": [], "tags": [], "recipients_labels": []}`) {
					if row[name] == nil {
						row[name] = value
					}
				}
			})),
		quirk("create/empty-as-absent", spec.OpenPointOmittedFields, "null", "leaves out optional fields of a test that are empty",
			resources(placementTest, func(row map[string]any) {
				maps.DeleteFunc(row, func(field string, value any) bool {
					return slices.Contains(spec.CreateOptional, field) && isEmpty(value)
				})
			})),
		quirk("create/issue-found", "States and transitions: the transitions of a test are not shown", "null", "finds that a test without an issue cannot be sent",
			when(all(shows(placementTest), not(creates)), rows(eachRow, func(_ *exchange, row map[string]any) {
				if row["not_sending_status"] == "" {
					row["not_sending_status"] = "daily_limits_hit"
				}
			}))),
		quirk("create/active-ends", "States and transitions: transitions are not shown", "test status, rows", "completes active one-time tests at once",
			on(spec.CreatePlacementTest, all(sends("status", equal(1)), sends("type", equal(1))), put("status", func(*exchange, any) any { return 3 }))),
		metadata("empty", "shows metadata without members", "{}"),
		metadata("rich", "shows its own metadata", `{"id": 7, "campaign": [null], "metadata": {"": ""}}`),
	}
}

// asSet sorts the items of an array in lower case, each once.
var asSet = ofItems(func(items []any) []any {
	for i, item := range items {
		items[i] = ofText(strings.ToLower)(item)
	}
	slices.SortFunc(items, func(a, b any) int { return bytes.Compare(encode(a), encode(b)) })
	return slices.CompactFunc(items, func(a, b any) bool { return isText(a) && a == b })
})

// looseValues take other values for valid ones.
func looseValues() []rule {
	rules := []rule{storesAs("schedule.timing.from", ofText(strings.TrimSpace))}
	for field, taken := range parsed(`{
		"type": {"true": 1, "\"1\"": 1},
		"text_only": {"\"true\"": true, "\"false\"": false, "1": true},
		"email_subject": {"7": "7"}, "description": {"7": "7"}, "email_body": {"true": "true"}, "test_code": {"true": "true"}
	}`) {
		rules = append(rules, storesAs(field, func(sent any) any {
			if valid, loose := taken.(map[string]any)[string(encode(sent))]; loose {
				return valid
			}
			return sent
		}))
	}
	return rules
}

// parsed returns the members of a JSON object.
func parsed(object string) map[string]any { return decodedOrNil([]byte(object)).(map[string]any) }

func deletionQuirks() []Quirk {
	test, ofTests := withoutOptional(placementTest, deletes, " on *.delete")
	subsequence, ofSubsequences := withoutOptional("Subsequence", deletes, " on *.delete")
	return []Quirk{
		quirk("delete/status-changes", "States and transitions: transitions are not shown", "delete", "shows the deleted resource as stopped",
			when(deletes, rows(eachRow, func(_ *exchange, row map[string]any) {
				row["status"] = 3
				for _, field := range []string{"timestamp_next_run", "timestamp_leads_updated"} {
					damage(row, field, constant("2030-12-31T23:59:59.999Z"))
				}
			}))),
		quirk("delete/brief", spec.OpenPointOmittedFields, "delete", "answers a deletion with only the mandatory fields of the resource",
			test, subsequence).but(append(ofTests, ofSubsequences...)...),
		quirk("delete/body-refused", "Endpoints / Inbox placement tests: request body null or absent", "delete, refusal of invalid requests", "refuses a deletion with a body",
			instead(all(deletes, hasBody, func(x *exchange) bool { return string(x.Body) != "null" }), refuse(400))),
	}
}

func deletes(x *exchange) bool { return x.Method == http.MethodDelete }
func creates(x *exchange) bool { return x.Operation == spec.CreatePlacementTest }

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
			all(validKey, func(x *exchange) bool { return x.sent() != nil && !wellFormed(x) }), success),
	}
}

// knownAccounts returns those of the accounts of a move that the profile names.
func (x *exchange) knownAccounts() []any {
	named, _ := x.sent()["emails"].([]any)
	own := x.listedIDs(true)
	return slices.DeleteFunc(named, func(account any) bool { return !slices.Contains(own, fmt.Sprint(account)) })
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
			"refuses with 412 to move a lead to where it is, or to add variables that exist; earlier runs made both changes",
			on(spec.MoveLead, all(served, leadIsThere), refuse(412)),
			on(spec.AddCampaignVariables, all(served, variablesExist), refuse(412))).but("SCOPE-SAME-ROWS on leads.move"),
		quirk("leads/subsequence-optional", spec.OpenPointLeadMoveFields, "leads", "treats a move without a subsequence as a move to one of its choice",
			on(spec.MoveLead, lacks("subsequence_id"), put("subsequence_id", func(x *exchange, _ any) any { return x.usual() }))),
		quirk("rows/edited", "Endpoints: nothing says that only one client changes a resource", "edits, rows",
			"has a user who changes the daily limits of subsequences before each request for their list",
			on(spec.ListSubsequences, always, func(x *exchange) { x.memory.count("edits") }),
			on(spec.ListSubsequences, always, rows(eachRow, func(x *exchange, row map[string]any) {
				if slices.Contains(x.Profile.Workspaces[dataset.Main].Subsequences, textOf(row, "id")) { // never deleted: only the list shows them
					row["daily_limit"] = x.memory.counted("edits")
				}
			}))),
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
