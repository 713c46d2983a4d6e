package spec

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"
)

// Answer is the outer form of an operation's 200 body.
type Answer int

// The three outer forms that the section Endpoints shows.
const (
	One   Answer = iota // the resource itself
	Page                // {items, next_starting_after}
	Array               // a plain JSON array of resources
)

// Scope is a permission of a key: <resource>:<action>. Operations whose scopes
// the specification does not show have the zero Scope.
type Scope struct {
	Resource, Action string
}

// Alternatives returns the four scopes that each allow the request
// (Authentication, rule 2), narrowest first. It returns nil for the zero Scope.
func (s Scope) Alternatives() []string {
	if s == (Scope{}) {
		return nil
	}
	return []string{s.Resource + ":" + s.Action, s.Resource + ":all", "all:" + s.Action, "all:all"}
}

// Operation is one of the 18 operations whose shape the section Endpoints gives.
type Operation struct {
	ID       string // permanent; also the operationId in the OpenAPI document
	Method   string
	Path     string // template from the server root, such as /api/v2/campaigns/{id}/variables
	Section  string // heading under Endpoints that describes it
	Summary  string // what it does, in a few words
	Scope    Scope
	Answer   Answer
	Resource string // schema component of the resource in the answer
}

// Unsafe reports whether the operation can change the target's state.
func (o Operation) Unsafe() bool { return o.Method != http.MethodGet }

// HasPathID reports whether the path carries the id of a resource.
func (o Operation) HasPathID() bool { return strings.Contains(o.Path, "{id}") }

// URLPath returns the path with the id in place of {id}. It escapes the id.
func (o Operation) URLPath(id string) string {
	return strings.Replace(o.Path, "{id}", url.PathEscape(id), 1)
}

// MeansUnserved reports whether a server that does not implement an operation may
// answer with the status. A 404 may also mean that a resource does not exist.
func MeansUnserved(status int) bool {
	return status == http.StatusNotFound || status == http.StatusMethodNotAllowed || status == http.StatusNotImplemented
}

// Ids of the operations.
const (
	AddCampaignVariables = "campaigns.add-variables"
	MoveLead             = "leads.move"
	MoveAccounts         = "accounts.move"
	CreatePlacementTest  = "inbox-placement-tests.create"
	ListPlacementTests   = "inbox-placement-tests.list"
	GetPlacementTest     = "inbox-placement-tests.get"
	DeletePlacementTest  = "inbox-placement-tests.delete"
	ListPlacementReports = "inbox-placement-reports.list"
	ListSubsequences     = "subsequences.list"
	DeleteSubsequence    = "subsequences.delete"
	ListMembers          = "workspace-members.list"
	ListGroupMembers     = "workspace-group-members.list"
	ListDFYOrders        = "dfy-email-account-orders.list"
	ListTagMappings      = "custom-tag-mappings.list"
	ListLeadLabels       = "lead-labels.list"
	ListLeadLists        = "lead-lists.list"
	ListPhoneNumbers     = "phone-numbers.list"
	ListWebhookEvents    = "webhook-events.list"
)

// OptionsPath is the 19th path. The specification names it as the source of
// valid recipients_labels. It shows neither its response nor its scopes.
const OptionsPath = "/api/v2/inbox-placement-tests/email-service-provider-options"

var operations = []Operation{
	{AddCampaignVariables, http.MethodPost, "/api/v2/campaigns/{id}/variables", "Campaigns", "add campaign variables",
		Scope{"campaigns", "update"}, One, "Campaign"},
	{MoveLead, http.MethodPost, "/api/v2/leads/subsequence/move", "Leads", "move a lead to a subsequence",
		Scope{"leads", "update"}, One, "Lead"},
	{MoveAccounts, http.MethodPost, "/api/v2/accounts/move", "Accounts", "move accounts between workspaces",
		Scope{}, One, "AccountMove"},
	{CreatePlacementTest, http.MethodPost, "/api/v2/inbox-placement-tests", "Inbox placement tests", "create a test",
		Scope{"inbox_placement_tests", "create"}, One, "InboxPlacementTest"},
	{ListPlacementTests, http.MethodGet, "/api/v2/inbox-placement-tests", "Inbox placement tests", "list tests",
		Scope{"inbox_placement_tests", "read"}, Page, "InboxPlacementTest"},
	{GetPlacementTest, http.MethodGet, "/api/v2/inbox-placement-tests/{id}", "Inbox placement tests", "get a test",
		Scope{"inbox_placement_tests", "read"}, One, "InboxPlacementTest"},
	{DeletePlacementTest, http.MethodDelete, "/api/v2/inbox-placement-tests/{id}", "Inbox placement tests", "delete a test",
		Scope{"inbox_placement_tests", "delete"}, One, "InboxPlacementTest"},
	{ListPlacementReports, http.MethodGet, "/api/v2/inbox-placement-reports", "Inbox placement reports", "list blacklist and spam-filter reports",
		Scope{"inbox_placement_reports", "read"}, Page, "InboxPlacementReport"},
	{ListSubsequences, http.MethodGet, "/api/v2/subsequences", "Campaign subsequences", "list subsequences",
		Scope{"subsequences", "read"}, Page, "Subsequence"},
	{DeleteSubsequence, http.MethodDelete, "/api/v2/subsequences/{id}", "Campaign subsequences", "delete a subsequence",
		Scope{"subsequences", "delete"}, One, "Subsequence"},
	{ListMembers, http.MethodGet, "/api/v2/workspace-members", "Workspace members", "list members",
		Scope{"workspace_members", "read"}, Page, "WorkspaceMember"},
	{ListGroupMembers, http.MethodGet, "/api/v2/workspace-group-members", "Workspace group members", "list group members",
		Scope{"workspace_group_members", "read"}, Page, "WorkspaceGroupMember"},
	{ListDFYOrders, http.MethodGet, "/api/v2/dfy-email-account-orders", "Done-for-you email account orders", "list orders",
		Scope{"dfy_email_account_orders", "read"}, Page, "DFYEmailAccountOrder"},
	{ListTagMappings, http.MethodGet, "/api/v2/custom-tag-mappings", "Custom tag mappings", "list tag mappings",
		Scope{"custom_tag_mappings", "read"}, Page, "CustomTagMapping"},
	{ListLeadLabels, http.MethodGet, "/api/v2/lead-labels", "Lead labels", "list labels",
		Scope{"lead-labels", "read"}, Page, "LeadLabel"},
	{ListLeadLists, http.MethodGet, "/api/v2/lead-lists", "Lead lists", "list lead lists",
		Scope{"lead_lists", "read"}, Page, "LeadList"},
	{ListPhoneNumbers, http.MethodGet, "/api/v2/crm-actions/phone-numbers", "Phone numbers", "list phone numbers",
		Scope{"crm_actions", "read"}, Array, "PhoneNumber"},
	{ListWebhookEvents, http.MethodGet, "/api/v2/webhook-events", "Webhook events", "list delivery attempts",
		Scope{"webhook_events", "read"}, Page, "WebhookEvent"},
}

// Operations returns the 18 operations in the specification's order.
func Operations() []Operation { return append([]Operation(nil), operations...) }

// FindOperation returns the operation with the given id.
func FindOperation(id string) (Operation, bool) {
	for _, op := range operations {
		if op.ID == id {
			return op, true
		}
	}
	return Operation{}, false
}

// MustOperation returns the operation with the given id. It panics if there is
// none, so it is only for ids written in code.
func MustOperation(id string) Operation {
	op, ok := FindOperation(id)
	if !ok {
		panic("spec: unknown operation " + id)
	}
	return op
}

// Rows returns the resources in a decoded 200 body of the operation. It skips
// rows that are not objects.
func (o Operation) Rows(body any) []map[string]any {
	var items []any
	switch o.Answer {
	case One:
		items = []any{body}
	case Page:
		page, _ := body.(map[string]any)
		items, _ = page["items"].([]any)
	case Array:
		items, _ = body.([]any)
	}
	rows := make([]map[string]any, 0, len(items))
	for _, item := range items {
		if row, ok := item.(map[string]any); ok {
			rows = append(rows, row)
		}
	}
	return rows
}

// RowPointer returns the JSON pointer to the i-th resource in a 200 body.
func (o Operation) RowPointer(i int) string {
	switch o.Answer {
	case Page:
		return "/items/" + strconv.Itoa(i)
	case Array:
		return "/" + strconv.Itoa(i)
	default:
		return ""
	}
}

// ownerFields are the fields that name the workspace of a resource. A group
// member has two. An order's workspace_id is not a UUID, so orders have none.
var ownerFields = map[string][]string{
	"Lead":                 {"organization"},
	"InboxPlacementTest":   {"organization_id"},
	"InboxPlacementReport": {"organization_id"},
	"Subsequence":          {"workspace"},
	"WorkspaceMember":      {"workspace_id"},
	"WorkspaceGroupMember": {"admin_workspace_id", "sub_workspace_id"},
	"CustomTagMapping":     {"organization_id"},
	"LeadLabel":            {"organization_id"},
	"LeadList":             {"organization_id"},
	"PhoneNumber":          {"organization_id"},
	"WebhookEvent":         {"organization_id"},
}

// OwnerFields returns the fields that name the workspace of the operation's
// resource, or nil if it has none.
func (o Operation) OwnerFields() []string { return ownerFields[o.Resource] }

// MatchOperation returns the operation of a request, and the id in its path. The
// path begins at the server's root and is unescaped. An id may be empty, but
// holds no slash.
func MatchOperation(method, path string) (op Operation, id string, ok bool) {
	if path == OptionsPath {
		return Operation{}, "", false
	}
	for _, op := range operations {
		before, after, hasID := strings.Cut(op.Path, "{id}")
		if op.Method != method || !hasID && path != op.Path {
			continue
		}
		if !hasID {
			return op, "", true
		}
		rest, begins := strings.CutPrefix(path, before)
		id, ends := strings.CutSuffix(rest, after)
		if begins && ends && !strings.Contains(id, "/") {
			return op, id, true
		}
	}
	return Operation{}, "", false
}
