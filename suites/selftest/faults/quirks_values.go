package faults

import (
	"bytes"
	"net/url"
	"regexp"
	"strings"
)

// valueQuirks use legal but unexpected values.
func valueQuirks() []Quirk {
	values := func(id, allowed, doc string, rules ...rule) Quirk {
		return quirk("values/"+id, allowed, "values", doc, rules...)
	}
	const eitherCase = "Resources and their fields: identifiers are UUID strings, which are the same in either case (RFC 9562)"
	upperCase := func(id, doc string, o occasion) Quirk {
		return quirk("values/"+id, eitherCase, "ids", doc, when(all(o, served), bytesOf(upperCaseIDs)), when(always, lowerCaseIDs))
	}
	wholeSecond := ofText(replaced(`\.\d{3}Z$`, ".000Z"))
	// A few rows, always the same, so that a page stays within the client's limit.
	someRows := thatFit(eachRow, func(row map[string]any) bool { return hashed(textOf(row, "id")+textOf(row, "domain"))%60 == 0 })
	texts := func(id, allowed, doc string, rules ...rule) Quirk { // a search may find what they no longer show
		return quirk("values/"+id, allowed, "values, texts of rows", doc, rules...)
	}
	return []Quirk{
		texts("empty-texts", valuesNotShown, "leaves unset texts empty", prose(eachRow, "")...),
		texts("odd-texts", valuesNotShown, "shows texts with NUL, quotes, markup and characters from all of Unicode",
			prose(eachRow, "\x00\u001f\"\\/<b>&amp;\u2028\u202eعربى\U0001F469\u200d\U0001F680\ufeffe\u0301\U0010FFFF{{name}} 'DROP'")...),
		values("large-numbers", valuesNotShown, "shows counts beyond 64 bits, and other numbers with fractions", fixedValues(eachRow, `{
			"Campaign": {"pl_value": -1e300, "sequences.ITEM.steps.ITEM.delay": 0.5},
			"Lead": {"email_open_count": 9007199254740993, "email_reply_count": 123456789012345678901234567890,
				"email_click_count": 1e21, "lt_interest_status": -4711, "email_opened_step": 0.1e-7},
			"InboxPlacementReport": {"spam_assassin_score": -0.0, "domain_blacklist_count": 1E+2},
			"Subsequence": {"daily_limit": 1e18, "conditions.crm_status": [-0.5, 1e99]},
			"CustomTagMapping": {"resource_type": 2.5},
			"LeadLabel": {"interest_status": -1e15, "access_grants.ITEM.access_type": 0.25},
			"PhoneNumber": {"price": 0.000000001},
			"WebhookEvent": {"response_time_ms": 0.125}}`)...),
		values("open-values", "the sentences “not shown” of sections Resources", "uses its own values if the specification lists none", fixedValues(eachRow, `{
			"WorkspaceMember": {"role": "хранитель", "permissions": ["", "read everything", "42"]},
			"WorkspaceGroupMember": {"status": "on its way"},
			"DFYEmailAccountOrder": {"forwarding_mode": ""},
			"CustomTagMapping": {"resource_type": -7},
			"Subsequence": {"auto_variant_select.trigger": "roll_of_dice", "conditions.crm_status": [4711]},
			"LeadLabel": {"interest_status": 77},
			"WebhookEvent": {"payload": {}},
			"Lead": {"lt_interest_status": 12345}}`)...),
		texts("long-texts", "Limits: none on the length of a text", "returns some texts of 40 kB",
			prose(someRows, strings.Repeat("Ein langer Text – und er geht weiter. ", 1000))...),
		quirk("values/whole-seconds", "Resources and their fields: milliseconds are written; nothing says that they are measured", "times",
			"records times to the second and writes .000", resources("", func(row map[string]any) {
				for field := range row {
					if strings.Contains(field, "timestamp") && field != "timestamp_next_run" { // planned by the client, not measured
						damage(row, field, wholeSecond)
					}
				}
			})),
		upperCase("upper-case-ids", "writes UUIDs in upper case", always),
		upperCase("upper-case-ids-in-lists", "writes UUIDs in upper case on pages and in lower case elsewhere", paged),
		quirk("values/shared-ids", "Resources and their fields: nothing says that resources of different kinds have different ids", "references",
			"uses one id for a member and its user, and for a list and its owner", resources("", func(row map[string]any) {
				for _, field := range []string{"user_id", "issuer_id", "owned_by", "created_by"} {
					damage(row, field, constant(row["id"]))
				}
			})),
	}
}

// proseFields are texts that nothing finds, compares or counts. Here they are empty.
const proseFields = `{
	"Campaign": {"campaign_schedule.schedules.ITEM.name": "", "sequences.ITEM.steps.ITEM.variants.ITEM.subject": "",
		"sequences.ITEM.steps.ITEM.variants.ITEM.body": ""},
	"Lead": {"company_domain": "", "personalization": "", "website": "", "first_name": "", "last_name": "", "company_name": "",
		"job_title": "", "phone": "", "last_step_from": "", "last_step_id": "", "pl_value_lead": "", "last_contacted_from": "",
		"status_summary.lastStep.from": "", "status_summary.lastStep.stepID": "", "payload.note": ""},
	"Subsequence": {"conditions.reply_contains": "", "sequences.ITEM.steps.ITEM.variants.ITEM.subject": "",
		"sequences.ITEM.steps.ITEM.variants.ITEM.body": ""},
	"InboxPlacementReport": {"domain": "", "domain_ip": "", "spam_assassin_report.report.ITEM.description": "",
		"spam_assassin_report.report.ITEM.score": "", "blacklist_report.address": "", "blacklist_report.ip": "",
		"blacklist_report.details.ITEM.test_type": ""},
	"WorkspaceMember": {"nickname": ""},
	"WorkspaceGroupMember": {"sub_workspace_name": "", "admin_workspace_name": ""},
	"DFYEmailAccountOrder": {"forwarding_domain": "", "workspace_id": ""},
	"LeadLabel": {"description": ""},
	"PhoneNumber": {"country": "", "locality": "", "subscription_id": "", "provider_sid": "", "renewal_date": ""},
	"WebhookEvent": {"error_message": ""}}`

// prose shows the text in all proseFields of the chosen rows.
func prose(choose choice, text string) []rule {
	return fixedValues(choose, strings.ReplaceAll(proseFields, `""`, string(encode(text))))
}

// fixedValues shows values, in JSON by resource and path, in fields that have one.
func fixedValues(choose choice, text string) (rules []rule) {
	for kind, fields := range parsed(text) {
		rules = append(rules, when(shows(kind), rows(choose, func(_ *exchange, row map[string]any) {
			for path, value := range fields.(map[string]any) {
				damage(row, path, constant(value))
			}
		})))
	}
	return rules
}

const anyUUID = `[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}`

var uuids, quotedUUIDs = regexp.MustCompile(anyUUID), regexp.MustCompile(`"` + anyUUID + `"`)

func upperCaseIDs(body []byte) []byte { return quotedUUIDs.ReplaceAllFunc(body, bytes.ToUpper) }

// lowerCaseIDs undoes upperCaseIDs in a request.
func lowerCaseIDs(x *exchange) {
	lower := func(text string) string { return uuids.ReplaceAllStringFunc(text, strings.ToLower) }
	r := x.edit()
	r.ID, r.Path, r.Body = lower(r.ID), lower(r.Path), []byte(lower(string(r.Body)))
	r.Query, _ = url.ParseQuery(lower(r.Query.Encode())) // what Encode returns can be parsed
}
