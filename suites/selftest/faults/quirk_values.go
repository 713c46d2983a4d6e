package faults

import (
	"encoding/json"
	"net/http"
	"regexp"
	"strings"

	"outreach.example/conformance/spec"
)

const freeText = "Resources and their fields: the type is stated, values are not"

// valueQuirks use legal but unexpected values.
func valueQuirks() []Quirk {
	set := func(id, doc, allowed string, values map[string]map[string]any) Quirk {
		return Quirk{ID: "values/" + id, Allowed: allowed, Doc: doc, Touches: []string{"values"},
			Apply: alike(onResource("", func(operation string, row map[string]any) {
				for path, value := range values[spec.MustOperation(operation).Resource] {
					replace(row, strings.Split(path, "."), value)
				}
			}))}
	}
	texts := func(text string) map[string]map[string]any {
		values := map[string]map[string]any{}
		for resource, paths := range proseFields {
			values[resource] = map[string]any{}
			for _, path := range paths {
				values[resource][path] = text
			}
		}
		return values
	}
	return []Quirk{
		set("empty-texts", "leaves unset texts empty", freeText, texts("")),
		set("odd-texts", "shows texts with NUL, quotes, markup and characters from all of Unicode", freeText,
			texts("\x00\u001f\"\\/<b>&amp;\u2028\u202eعربى\U0001F469\u200d\U0001F680\ufeffe\u0301\U0010FFFF{{name}} 'DROP'")),
		set("large-numbers", "shows counts beyond 64 bits, and other numbers with fractions", freeText, largeNumbers),
		set("open-values", "uses its own values if the specification lists none", "the sentences “not shown” of sections Resources",
			openValues),
		{ID: "values/long-texts", Allowed: "Limits: none on the length of a text", Doc: "returns some texts of 40 kB",
			Touches: []string{"values"}, Apply: alike(longTexts)},
		{ID: "values/whole-seconds", Allowed: "Resources and their fields: milliseconds are written; nothing says that they are measured",
			Doc: "records times to the second and writes .000", Touches: []string{"times"},
			Apply: alike(onResource("", func(_ string, row map[string]any) {
				planned, sent := row["timestamp_next_run"] // by the client, not measured
				eachText(row, wholeSecond)
				if sent {
					row["timestamp_next_run"] = planned
				}
			}))},
		{ID: "values/upper-case-ids", Allowed: "Resources and their fields: identifiers are UUID strings, which are the same in either case (RFC 9562)",
			Doc: "writes UUIDs in upper case", Touches: []string{"ids"}, Apply: upperCaseIDs(func(Request) bool { return true })},
		{ID: "values/upper-case-ids-in-lists", Allowed: "Resources and their fields: identifiers are UUID strings, which are the same in either case (RFC 9562)",
			Doc: "writes UUIDs in upper case on pages and in lower case elsewhere", Touches: []string{"ids"}, Apply: upperCaseIDs(isList)},
		{ID: "values/shared-ids", Allowed: "Resources and their fields: nothing says that resources of different kinds have different ids",
			Doc: "uses one id for a member and its user, and for a list and its owner", Touches: []string{"references"},
			Apply: alike(onResource("", func(operation string, row map[string]any) {
				for _, reference := range map[string][]string{"WorkspaceMember": {"user_id", "issuer_id"}, "LeadList": {"owned_by"},
					"LeadLabel": {"created_by"}}[spec.MustOperation(operation).Resource] {
					if _, shown := row[reference]; shown {
						row[reference] = row["id"]
					}
				}
			}))},
	}
}

// proseFields are texts that nothing finds, compares or counts.
var proseFields = map[string][]string{
	"Campaign": {"campaign_schedule.schedules.ITEM.name", "sequences.ITEM.steps.ITEM.variants.ITEM.subject",
		"sequences.ITEM.steps.ITEM.variants.ITEM.body"},
	"Lead": {"company_domain", "personalization", "website", "first_name", "last_name", "company_name", "job_title", "phone", "last_step_from",
		"last_step_id", "pl_value_lead", "last_contacted_from", "status_summary.lastStep.from", "status_summary.lastStep.stepID", "payload.note"},
	"Subsequence": {"conditions.reply_contains", "sequences.ITEM.steps.ITEM.variants.ITEM.subject",
		"sequences.ITEM.steps.ITEM.variants.ITEM.body"},
	"InboxPlacementReport": {"domain", "domain_ip", "spam_assassin_report.report.ITEM.description", "spam_assassin_report.report.ITEM.score",
		"blacklist_report.address", "blacklist_report.ip", "blacklist_report.details.ITEM.test_type"},
	"WorkspaceMember":      {"nickname"},
	"WorkspaceGroupMember": {"sub_workspace_name", "admin_workspace_name"},
	"DFYEmailAccountOrder": {"forwarding_domain", "workspace_id"},
	"LeadLabel":            {"description"},
	"PhoneNumber":          {"country", "locality", "subscription_id", "provider_sid", "renewal_date"},
	"WebhookEvent":         {"error_message"},
}

var largeNumbers = map[string]map[string]any{
	"Campaign": {"pl_value": json.Number("-1e300"), "sequences.ITEM.steps.ITEM.delay": json.Number("0.5")},
	"Lead": {"email_open_count": json.Number("9007199254740993"), "email_reply_count": json.Number("123456789012345678901234567890"),
		"email_click_count": json.Number("1e21"), "lt_interest_status": json.Number("-4711"), "email_opened_step": json.Number("0.1e-7")},
	"InboxPlacementReport": {"spam_assassin_score": json.Number("-0.0"), "domain_blacklist_count": json.Number("1E+2")},
	"Subsequence":          {"daily_limit": json.Number("1e18"), "conditions.crm_status": []any{json.Number("-0.5"), json.Number("1e99")}},
	"CustomTagMapping":     {"resource_type": json.Number("2.5")},
	"LeadLabel":            {"interest_status": json.Number("-1e15"), "access_grants.ITEM.access_type": json.Number("0.25")},
	"PhoneNumber":          {"price": json.Number("0.000000001")},
	"WebhookEvent":         {"response_time_ms": json.Number("0.125")},
}

var openValues = map[string]map[string]any{
	"WorkspaceMember":      {"role": "хранитель", "permissions": []any{"", "read everything", "42"}},
	"WorkspaceGroupMember": {"status": "on its way"},
	"DFYEmailAccountOrder": {"forwarding_mode": ""},
	"CustomTagMapping":     {"resource_type": json.Number("-7")},
	"Subsequence":          {"auto_variant_select.trigger": "roll_of_dice", "conditions.crm_status": []any{json.Number("4711")}},
	"LeadLabel":            {"interest_status": json.Number("77")},
	"WebhookEvent":         {"payload": map[string]any{}},
	"Lead":                 {"lt_interest_status": json.Number("12345")},
}

// replace sets the field at a path wherever it occurs; ITEM means every item.
func replace(value any, path []string, with any) {
	switch at := value.(type) {
	case []any:
		if path[0] == "ITEM" {
			for _, item := range at {
				replace(item, path[1:], with)
			}
		}
	case map[string]any:
		member, shown := at[path[0]]
		if !shown || member == nil {
			return
		}
		if len(path) == 1 {
			at[path[0]] = with
			return
		}
		replace(member, path[1:], with)
	}
}

// longTexts lengthens the texts of a few rows, always the same, so that a page
// stays within the client's limit.
var longTexts = onResource("", func(operation string, row map[string]any) {
	const oneIn = 60
	name := textOf(row, "id") + textOf(row, "domain")
	if hashed(name)%oneIn != 0 {
		return
	}
	for _, path := range proseFields[spec.MustOperation(operation).Resource] {
		replace(row, strings.Split(path, "."), longText)
	}
})

var longText = strings.Repeat("Ein langer Text – und er geht weiter. ", 1000)

// eachText replaces every string in a value.
func eachText(value any, change func(string) string) any {
	switch value := value.(type) {
	case string:
		return change(value)
	case map[string]any:
		for name, member := range value {
			value[name] = eachText(member, change)
		}
	case []any:
		for i, item := range value {
			value[i] = eachText(item, change)
		}
	}
	return value
}

var timestampForm = regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$`)

func wholeSecond(text string) string {
	if timestampForm.MatchString(text) {
		return text[:len("2006-01-02T15:04:05")] + ".000Z"
	}
	return text
}

// upperCaseIDs writes UUIDs in upper case in matching answers, and converts
// those of requests back for the target.
func upperCaseIDs(fits func(Request) bool) func(*Target) Middleware {
	upper := func(text string) string {
		if uuidForm.MatchString(text) {
			return strings.ToUpper(text)
		}
		return text
	}
	written := rewriting(func(r Request, answer Response) bool { return answer.Status == http.StatusOK && fits(r) },
		func(_ string, row any) []byte { return encode(eachText(row, upper)) },
		func(rest any) []byte { return encode(eachText(rest, upper)) })
	return alike(Chain(written, asked(func(Request) bool { return true }, lowerCaseIDs)))
}

var uuidAnywhere = regexp.MustCompile(`[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}`)

func lowerCaseIDs(r *Request) {
	lower := func(text string) string { return uuidAnywhere.ReplaceAllStringFunc(text, strings.ToLower) }
	r.ID, r.Path, r.Body = lower(r.ID), lower(r.Path), []byte(lower(string(r.Body)))
	for _, values := range r.Query {
		for i := range values {
			values[i] = lower(values[i])
		}
	}
}
