package judge

import (
	"net/http"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"outreach.example/conformance/internal/client"
	"outreach.example/conformance/spec"
)

const (
	ours   = "0190163d-8694-739b-aea5-966c26f8ad90"
	theirs = "0190163d-8694-739b-aea5-966c26f8ad91"
	admins = "0190163d-8694-739b-aea5-966c26f8ad92"
)

// Each rule on rows is checked where it applies, and reported only if it is broken.
func TestRowRules(t *testing.T) {
	type fields = map[string]any
	for _, tc := range []struct {
		name, rule, operation string
		row                   fields
		owner                 string
		seen                  bool
		pointer               string // position of the violation; empty if there is none
	}{
		{"ours", "ISOLATION-OWNER", spec.ListLeadLists, fields{"organization_id": ours}, ours, true, ""},
		{"ours, in capitals", "ISOLATION-OWNER", spec.ListLeadLists, fields{"organization_id": strings.ToUpper(ours)}, ours, true, ""},
		{"theirs", "ISOLATION-OWNER", spec.ListLeadLists, fields{"organization_id": theirs}, ours, true, "/items/0/organization_id"},
		{"theirs, in an array", "ISOLATION-OWNER", spec.ListPhoneNumbers, fields{"organization_id": theirs}, ours, true, "/0/organization_id"},
		{"theirs, alone", "ISOLATION-OWNER", spec.GetPlacementTest, fields{"organization_id": theirs}, ours, true, "/organization_id"},
		{"nobody knows whose key it is", "ISOLATION-OWNER", spec.ListLeadLists, fields{"organization_id": theirs}, "", false, ""},
		{"no owner", "ISOLATION-OWNER", spec.ListLeadLists, fields{"organization_id": nil}, ours, false, ""},
		{"of a group, as its admin", "ISOLATION-OWNER", spec.ListGroupMembers, fields{"admin_workspace_id": ours, "sub_workspace_id": theirs}, ours, true, ""},
		{"of a group, as a sub-workspace", "ISOLATION-OWNER", spec.ListGroupMembers, fields{"admin_workspace_id": theirs, "sub_workspace_id": ours}, ours, true, ""},
		{"of a group of others", "ISOLATION-OWNER", spec.ListGroupMembers, fields{"admin_workspace_id": theirs, "sub_workspace_id": theirs}, ours, true, "/items/0/admin_workspace_id"},
		{"of its admin's group", "ISOLATION-OWNER", spec.ListGroupMembers, fields{"admin_workspace_id": admins, "sub_workspace_id": theirs}, ours, true, ""},
		{"of a group with its admin in it", "ISOLATION-OWNER", spec.ListGroupMembers, fields{"admin_workspace_id": theirs, "sub_workspace_id": admins}, ours, true, "/items/0/admin_workspace_id"},
		{"of its admin", "ISOLATION-OWNER", spec.ListLeadLists, fields{"organization_id": admins}, ours, true, "/items/0/organization_id"},
		{"a resource that names no owner", "ISOLATION-OWNER", spec.ListDFYOrders, fields{}, ours, false, ""},

		{"the day of the timestamp", "DATE-OF-TIMESTAMP", spec.ListWebhookEvents,
			fields{"timestamp_created": "2026-03-01T23:59:59.999Z", "timestamp_created_date": "2026-03-01"}, "", true, ""},
		{"another day", "DATE-OF-TIMESTAMP", spec.ListWebhookEvents,
			fields{"timestamp_created": "2026-03-01T23:59:59.999Z", "timestamp_created_date": "2026-03-02"}, "", true, "/items/0/timestamp_created_date"},
		{"a timestamp that is none", "DATE-OF-TIMESTAMP", spec.ListWebhookEvents,
			fields{"timestamp_created": "yesterday", "timestamp_created_date": "2026-03-02"}, "", false, ""},
		{"a date that is none", "DATE-OF-TIMESTAMP", spec.ListPlacementReports,
			fields{"timestamp_created": "2026-03-01T23:59:59.999Z", "timestamp_created_date": "yesterday"}, "", false, ""},

		{"failed, and it says so", "EVENT-FAILED-WILL_RETRY", spec.ListWebhookEvents, fields{"success": false, "will_retry": false}, "", true, ""},
		{"failed, without a word", "EVENT-FAILED-WILL_RETRY", spec.ListWebhookEvents, fields{"success": false, "will_retry": nil}, "", true, "/items/0/will_retry"},
		{"failed, without a count", "EVENT-FAILED-RETRY_COUNT", spec.ListWebhookEvents, fields{"success": false, "retry_count": nil}, "", true, "/items/0/retry_count"},
		{"failed, without a group", "EVENT-FAILED-RETRY_GROUP_ID", spec.ListWebhookEvents, fields{"success": false, "retry_group_id": nil}, "", true, "/items/0/retry_group_id"},
		{"success, without a word", "EVENT-FAILED-WILL_RETRY", spec.ListWebhookEvents, fields{"success": true, "will_retry": nil}, "", false, ""},

		{"again, later", "EVENT-NEXT-RETRY", spec.ListWebhookEvents,
			fields{"success": false, "will_retry": true, "timestamp_created": "2026-03-01T09:30:00.000Z", "timestamp_next_retry": "2026-03-01T09:31:00.000Z"}, "", true, ""},
		{"again, at once", "EVENT-NEXT-RETRY", spec.ListWebhookEvents,
			fields{"success": false, "will_retry": true, "timestamp_created": "2026-03-01T09:30:00.000Z", "timestamp_next_retry": "2026-03-01T09:30:00.000Z"}, "", true, ""},
		{"again, before", "EVENT-NEXT-RETRY", spec.ListWebhookEvents,
			fields{"success": false, "will_retry": true, "timestamp_created": "2026-03-01T09:30:00.000Z", "timestamp_next_retry": "2026-03-01T09:29:59.999Z"}, "", true, "/items/0/timestamp_next_retry"},
		{"again, without a time", "EVENT-NEXT-RETRY", spec.ListWebhookEvents,
			fields{"success": false, "will_retry": true, "timestamp_next_retry": nil}, "", true, "/items/0/timestamp_next_retry"},
		{"not again", "EVENT-NEXT-RETRY", spec.ListWebhookEvents, fields{"success": false, "will_retry": false, "timestamp_next_retry": nil}, "", false, ""},

		{"no metadata in a list", "META-ELSEWHERE", spec.ListPlacementTests, fields{"metadata": nil}, "", true, ""},
		{"metadata in a list", "META-ELSEWHERE", spec.ListPlacementTests, fields{"metadata": fields{}}, "", true, "/items/0/metadata"},
		{"metadata of what is created", "META-ELSEWHERE", spec.CreatePlacementTest, fields{"metadata": fields{"campaign": fields{}}}, "", true, "/metadata"},
		{"metadata of a get", "META-ELSEWHERE", spec.GetPlacementTest, fields{"metadata": fields{}}, "", false, ""},
	} {
		t.Run(tc.rule+" "+tc.name, func(t *testing.T) {
			g := NewWithT(t)
			op := spec.MustOperation(tc.operation)
			s := look(t, Request{Operation: op, Allowed: client.Only(http.StatusOK), Owner: tc.owner, Admin: strings.ToUpper(admins)}, answer(t, op.ID, row(t, op.Resource, tc.row)))
			g.Expect(saw(s, tc.rule)).To(Equal(tc.seen))
			var at []string
			for _, f := range s.Findings {
				if f.Pair.Requirement == tc.rule {
					at = append(at, f.Pointer)
					g.Expect(f.Expected).NotTo(BeEmpty())
					g.Expect(f.Actual).NotTo(BeEmpty())
				}
			}
			if tc.pointer == "" {
				g.Expect(at).To(BeEmpty())
				return
			}
			g.Expect(at).To(Equal([]string{tc.pointer}))
		})
	}
}

// Every row is checked, and a finding names its row.
func TestEveryRowIsChecked(t *testing.T) {
	g := NewWithT(t)
	good := row(t, "LeadList", map[string]any{"organization_id": ours})
	bad := row(t, "LeadList", map[string]any{"organization_id": theirs})
	s := look(t, Request{Operation: spec.MustOperation(spec.ListLeadLists), Allowed: client.Only(http.StatusOK), Owner: ours}, answer(t, spec.ListLeadLists, good, bad, good, bad))
	g.Expect(s.Rows).To(HaveLen(4))
	g.Expect(broken(s)).To(Equal([]string{"ISOLATION-OWNER"}))
	g.Expect(s.Findings).To(HaveLen(2))
	g.Expect(s.Findings[0].Pointer).To(Equal("/items/1/organization_id"))
	g.Expect(s.Findings[1].Pointer).To(Equal("/items/3/organization_id"))
	g.Expect(s.Findings[1].Actual).To(ContainSubstring(theirs))
}

// Values that the specification does not list are observed and never judged.
func TestOpenValuesAreObserved(t *testing.T) {
	for _, tc := range []struct {
		operation, field string
		value            any
		want             Observation
	}{
		{spec.ListMembers, "role", "emperor", Observation{spec.OpenPointMemberRole, "emperor"}},
		{spec.ListGroupMembers, "status", "frozen", Observation{spec.OpenPointGroupStatus, "frozen"}},
		{spec.ListDFYOrders, "forwarding_mode", "owl", Observation{spec.OpenPointForwardingMode, "owl"}},
		{spec.ListTagMappings, "resource_type", 77, Observation{spec.OpenPointResourceType, "77"}},
		{spec.ListSubsequences, "auto_variant_select", map[string]any{"trigger": "coin"}, Observation{spec.OpenPointTrigger, "coin"}},
	} {
		t.Run(tc.operation, func(t *testing.T) {
			g := NewWithT(t)
			op := spec.MustOperation(tc.operation)
			s := look(t, Request{Operation: op, Allowed: client.Only(http.StatusOK)}, answer(t, op.ID, row(t, op.Resource, map[string]any{tc.field: tc.value})))
			g.Expect(s.Findings).To(BeEmpty())
			g.Expect(s.Observed).To(ContainElement(tc.want))
		})
	}
}
