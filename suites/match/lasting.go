package match

import (
	"outreach.example/conformance/schemas"
	"outreach.example/conformance/spec"
	. "outreach.example/conformance/suites/api"
)

// lasting are the fields of a resource that a server does not change by itself. A status, a
// time of use, a counter or an enrichment may change at any time. A tag or a campaign that
// somebody deletes may disappear from a row.
var lasting = map[string][]string{
	"InboxPlacementTest": {"name", "type", "sending_method", "email_subject", "email_body", "emails", "timestamp_created", "organization_id",
		"delivery_mode", "description", "schedule", "test_code", "text_only"},
	"Subsequence": {"name", "timestamp_created", "parent_campaign", "workspace", "conditions", "subsequence_schedule", "sequences",
		"daily_limit_mode", "daily_limit", "ignore_account_daily_limit"},
	"Campaign": {"name", "timestamp_created", "pl_value", "is_evergreen", "campaign_schedule"},
	"Lead":     {"timestamp_created", "organization", "email", "first_name", "last_name"},
}

// ChangedLasting returns the lasting fields of a resource that a later view shows otherwise.
func ChangedLasting(r Response, pointer string, before, now map[string]any) []Finding {
	resource := r.Call.Operation.Resource
	before, now = spec.Documented(resource, before), spec.Documented(resource, now)
	var found []Finding
	for _, field := range lasting[resource] {
		if value := before[field]; value != nil && !schemas.Agree(Normalize(value), Normalize(now[field])) {
			found = append(found, Found(r, pointer+"/"+field, "as before the change: "+ClipJSON(value), schemas.Member(now, field, Readable)))
		}
	}
	return found
}
