package faults

import (
	"bytes"
	"encoding/json"
	"maps"
	"path"
	"slices"
	"strings"

	"outreach.example/conformance/spec"
)

// fieldQuirks show additional fields, null for missing values, or nothing for null.
func fieldQuirks() []Quirk {
	return []Quirk{
		quirk("fields/extra", spec.OpenPointExtraFields, "extra fields", "adds undocumented fields to every object, including errors and pages",
			when(always, encoded(func(value any) []byte { return []byte(extraFields.Replace(string(encode(value)))) }))),
		quirk("fields/same-names", spec.OpenPointSameNames, "extra fields", "repeats a member of the first object, also in errors and pages",
			when(always, bytesOf(func(body []byte) []byte {
				return bytes.Replace(body, []byte(`{"`), []byte(`{"_note":"a","_note":"b","`), 1)
			}))),
		quirk("fields/extra-per-view", spec.OpenPointExtraFields, "extra fields", "adds undocumented fields that differ between responses",
			when(always, rows(eachRow, func(x *exchange, row map[string]any) {
				n := x.memory.count("views") % 6 // few, so that a row sometimes looks as it did before
				if row["_view"] = n; n%2 == 0 {
					row["_even"] = true
				}
			}))),
		quirk("fields/page-counts", spec.OpenPointExtraFields, "extra fields", "reports the total and the position on every page",
			when(all(paged, served), then(member("total", constant(5)), member("has_more", constant(true)), member("prev_starting_after", toNull)))),
		quirk("fields/retries-of-failures-only", "Events, rule 2: it explains the fields for an attempt that failed", "retries",
			"shows will_retry, retry_count and retry_group_id only if an attempt of the delivery failed",
			resources("WebhookEvent", func(row map[string]any) {
				if row["success"] == true && !isRetry(row) { // a retry shares the group of the failed attempt
					for _, field := range spec.RetryFields {
						delete(row, field)
					}
				}
			})),
		quirk("fields/success-retried", spec.OpenPointSuccessRetried, "retries", "shows will_retry and retry_successful as true and retry_count as 0 for attempts that succeeded",
			resources("WebhookEvent", func(row map[string]any) {
				if row["success"] == true {
					row["will_retry"], row["retry_successful"], row["retry_count"] = true, true, json.Number("0")
				}
			})),
		quirk("fields/retried-elsewhere", spec.OpenPointRetryURL, "retries, rows, cursor", "retries at the URL that the subscriber has now",
			on(spec.ListWebhookEvents, searches, finding(func(r row, term string) bool {
				return r.text("webhook_url") == term || r.text("lead_email") == term
			})),
			resources("WebhookEvent", func(row map[string]any) {
				if isRetry(row) {
					row["webhook_url"] = textOf(row, "webhook_url") + "/moved"
				}
			})),
		quirk("fields/null-omitted", spec.OpenPointOmittedFields, "null", "omits every field whose value would be null",
			resources("", omitNulls)),
		sparse("Campaign", "campaigns"),
		sparse("Lead", "leads", "subsequence_id"), // a move answers with it
		sparse("Subsequence", "subsequences"),
		sparse("WorkspaceMember", "members"),
		sparse("DFYEmailAccountOrder", "orders"),
		sparse("LeadLabel", "labels"),
		sparse("PhoneNumber", "phone numbers"),
		// A failed attempt tells of its retries, and a planned one has a time.
		sparse("WebhookEvent", "events", append(spec.RetryFields, "timestamp_next_retry")...).but("FILTER-SEARCH_EMAIL-*", "EVENT-RETRY-*"),
	}
}

// isRetry is an attempt after the first.
func isRetry(row map[string]any) bool {
	return row["retry_count"] != nil && row["retry_count"] != json.Number("0")
}

// extraFields adds a field to every object in JSON, unless its keys are documented (days) or
// free (payload).
var extraFields = strings.NewReplacer(`days":{"`, `days":{"`, `payload":{"`, `payload":{"`,
	`{"`, `{"undocumented":{"a/b~c":[1,null,"ü"],"":false},"`)

// sparse omits every optional field of a resource, but for those that another sentence
// requires.
func sparse(resource, name string, keep ...string) Quirk {
	bare, unassessed := withoutOptional(resource, always, "", keep...)
	return quirk("fields/sparse-"+slug(name), spec.OpenPointOmittedFields, "fields of "+name+", texts of rows", "shows only the mandatory fields of "+name,
		bare).but(unassessed...)
}

// withoutOptional omits the optional fields of a resource. A field that is never shown there
// cannot be judged.
func withoutOptional(resource string, o occasion, there string, keep ...string) (bare rule, unassessed []string) {
	var omitted []string
	for _, f := range spec.Fields() {
		if f.Resource == resource && !f.Required && !slices.Contains(keep, f.Path) && !slices.Contains([]string{".ITEM", ".ENTRY"}, path.Ext(f.Path)) {
			omitted = append(omitted, f.Path)
			unassessed = append(unassessed, f.Requirement("*")+there, spec.FieldRequirement(resource, f.Path+".*", "*")+there)
		}
	}
	return when(all(o, shows(resource)), rows(eachRow, func(_ *exchange, row map[string]any) {
		for _, path := range omitted {
			damage(row, path, leftOut)
		}
		omitNulls(row)
	})), unassessed
}

func omitNulls(row map[string]any) {
	maps.DeleteFunc(row, func(_ string, value any) bool { return value == nil })
}
