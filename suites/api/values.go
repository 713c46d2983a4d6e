package api

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/internal/paging"
	"outreach.example/conformance/schemas/contract"
	"outreach.example/conformance/spec"
)

// Automated adds to a creation what an automated test needs.
func Automated(api *API, k Call) Call {
	schedule, _ := OptionalValue(api, "schedule")
	next, _ := OptionalValue(api, "timestamp_next_run")
	return k.WithField("schedule", schedule).WithField("timestamp_next_run", next)
}

// IsUpToTheServer reports whether a server may show another value at once. The
// specification does not show the transitions of a test: one that is active may run, and one
// that has no issue may get one.
func IsUpToTheServer(field string, value any) bool {
	if number, is := value.(json.Number); is { // of a decoded body
		value, _ = number.Float64()
	}
	return field == "status" && value == 1.0 || field == "not_sending_status" && value == ""
}

// Creating returns a call that creates a test with the value. An empty or a very long text
// may be refused. No test sends an email: one that the service would send is paused.
func Creating(api *API, field string, v contract.Variant) Call {
	k := api.RequestAs(dataset.Main, spec.CreatePlacementTest)
	value := v.Value
	if text, ok := value.(string); ok && slices.Contains(spec.CreateRequired, field) {
		value = api.Word() + " " + text // each name is another one
	}
	k = k.WithField(field, value)
	switch {
	case field == "schedule", field == "timestamp_next_run", field == "type" && value == 2.0: // for automated tests
		k = k.WithField("type", 2)
		if field != "schedule" {
			schedule, _ := OptionalValue(api, "schedule")
			k = k.WithField("schedule", schedule)
		}
		k = k.WithField("status", Paused)
	case field == "sending_method", field == "not_sending_status":
		k = k.WithField("status", Paused)
	}
	if v.Open {
		k = k.MayBeRefused()
	}
	return Charging(k, spec.StateCreate(field).On(spec.CreatePlacementTest))
}

// paused and completed are statuses of tests that are not sent.
const (
	Paused    = 2
	Completed = 3
)

// ValuesOf returns each kind of value that the field of a created test may have: those that
// the document allows, and those that only the profile or the target's rows know. null is
// left out: a server may put a value of its own in its place.
func ValuesOf(api *API, field string) []contract.Variant {
	values := slices.DeleteFunc(contract.Member(spec.CreatePlacementTest, field).Valid, func(v contract.Variant) bool {
		return v.Value == nil || v.Value == "" && slices.Contains(spec.CreateRequired, field)
	})
	if field == "schedule" {
		values = someZones(api, values)
	}
	for i, v := range values {
		_, isText := v.Value.(string)
		values[i].Open = v.Open && !isLines(field, v) || field == "test_code" && isText // a code may have a form
	}
	for _, text := range keptTexts[field] {
		values = append(values, contract.Variant{What: ClipJSON(text), Value: text, Open: true})
	}
	if field == "emails" { // the specification names no maximum
		values = append(values, contract.Variant{What: "12 addresses", Value: Addresses(api, 12), Open: true},
			contract.Variant{What: "an address twice", Value: slices.Repeat(Addresses(api, 1), 2), Open: true})
	}
	if field == "tags" {
		tags, _ := OptionalValue(api, field)
		if items, _ := Normalize(tags).([]any); len(items) > 0 {
			values = append(values, contract.Variant{What: "a tag twice", Value: slices.Repeat(items[:1], 2), Open: true})
		}
	}
	return append(values, api.targetValues(field)...)
}

// someZones returns the values of a schedule with a part of the time zones: the first one, the
// last one, and some that the seed chooses. Every run creates, reads and deletes a test with each.
func someZones(api *API, schedules []contract.Variant) []contract.Variant {
	const some = 10
	isZone := func(v contract.Variant) bool { return strings.HasPrefix(v.What, "timezone: ") }
	zones := slices.DeleteFunc(slices.Clone(schedules), func(v contract.Variant) bool { return !isZone(v) })
	if len(zones) <= some {
		return schedules
	}
	picked := []contract.Variant{zones[0], zones[len(zones)-1]}
	for _, i := range api.Rng.Perm(len(zones) - 2)[:some-2] {
		picked = append(picked, zones[i+1])
	}
	return append(slices.DeleteFunc(schedules, isZone), picked...)
}

// keptTexts are texts that a server may refuse, but must not change.
var keptTexts = map[string][]string{
	"name":          {twoBlanks},
	"email_subject": {twoBlanks},
	"email_body":    {twoBlanks, separators},
	"description":   {twoBlanks, separators, "007", "null"},
	"test_code":     {"0123", "1e5"},
}

const (
	twoBlanks  = "two  blanks,   then three"
	separators = "one line\u2028another one\u2029a paragraph\r\nthe end"
)

// isLines reports whether the variant is a text of several lines in a field that is one.
func isLines(field string, v contract.Variant) bool {
	text, _ := v.Value.(string)
	return slices.Contains([]string{"email_body", "description"}, field) && slices.Contains([]byte(text), '\n')
}

// targetValues returns values that exist on the target, or that no server may look up.
func (api *API) targetValues(field string) []contract.Variant {
	w := api.Workspace(dataset.Main)
	var values []any
	switch field {
	case "emails":
		values = []any{Addresses(api, 1), Addresses(api, 3)}
	case "test_code":
		code, _ := OptionalValue(api, field)
		values = []any{code}
	case "campaign_id":
		for _, id := range firstAndLast(w.Campaigns) {
			values = append(values, id)
		}
	case "tags", "recipients_labels", "automations":
		if value, ok := OptionalValue(api, field); ok {
			values = append(values, value)
		}
		if field == "tags" && len(w.Tags) > 1 {
			values = append(values, w.Tags)
		}
	}
	var all []contract.Variant
	if several := api.severalObjects(field); len(several) > 1 { // which go together is open
		all = append(all, contract.Variant{What: ClipJSON(several), Value: several, Open: true})
	}
	for _, value := range values {
		if items, isArray := Normalize(value).([]any); isArray && len(items) == 0 {
			continue // the document has it
		}
		all = append(all, contract.Variant{What: ClipJSON(value), Value: value})
	}
	return all
}

// severalObjects returns different objects for the field, as the profile and the target's
// tests have them; none for a field of another type. The run looks for them once.
func (api *API) severalObjects(field string) []any {
	if field != "recipients_labels" && field != "automations" {
		return nil
	}
	values := []any{}
	if known, ok := OptionalValue(api, field); ok {
		values = append(values, known)
	}
	shown := Fact(api, spec.ListPlacementTests, "shows several objects of "+field, func(api *API) []any {
		var values []any
		for _, row := range api.Read(api.As(dataset.Main, spec.ListPlacementTests)).Rows() {
			values = append(values, row.Value[field])
		}
		return differentObjects(values)
	})
	return differentObjects(append(values, shown))
}

// differentObjects returns a few different objects of the arrays.
func differentObjects(arrays []any) (several []any) {
	const most = 3
	seen := map[string]bool{}
	for _, array := range arrays {
		items, _ := Normalize(array).([]any)
		for _, item := range items {
			_, isObject := item.(map[string]any) // a careless server shows what it should have refused
			if text := ClipJSON(item); isObject && !seen[text] && len(several) < most {
				seen[text] = true
				several = append(several, item)
			}
		}
	}
	return several
}

// Addresses returns addresses of a domain that is reserved (RFC 2606), in which no email
// arrives. They are in no alphabetical order and have capitals: a server may keep both.
func Addresses(api *API, n int) []any {
	all := make([]any, n)
	for i := range all {
		all[i] = fmt.Sprintf("Seed-%d+%s@inboxes.example.com", n-i, api.Word())
	}
	return all
}

// firstAndLast returns the first and the last of some ids.
func firstAndLast(ids []string) []string {
	if len(ids) < 2 {
		return ids
	}
	return []string{ids[0], ids[len(ids)-1]}
}

// Nullable are the fields of the create body that may be null.
var Nullable = []string{"delivery_mode", "description", "campaign_id", "test_code", "tags", "text_only",
	"timestamp_next_run", "automations", "status", "not_sending_status"}

// NewTest creates a minimal test in the main workspace.
func NewTest(api *API) Response {
	return api.Do(api.RequestAs(dataset.Main, spec.CreatePlacementTest))
}

// IsMade reports whether the response shows the test that was created.
func IsMade(made, found Response) bool {
	return found.OK() && paging.FoldID(found.ID()) == paging.FoldID(made.ID()) && SameText(found.Row()["name"], made.Call.Members()["name"])
}

// SameText reports whether both values are the same text.
func SameText(a, b any) bool {
	text, ok := a.(string)
	return ok && a == b && text != ""
}

// ReadOnlyValue returns a valid value of the read-only field that no server
// would choose by itself.
func ReadOnlyValue(api *API, field string) any {
	switch field {
	case "recipients":
		return []string{api.Word() + "@example.com"}
	case "timestamp_created":
		return "2001-02-03T04:05:06.789Z"
	default:
		return api.FreshID()
	}
}
