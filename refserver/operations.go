package refserver

import (
	"net/http"
	"strings"
)

// operation is one operation of the API.
type operation struct {
	id     string // as in truth reports
	method string
	path   string // below BasePath; {id} is the id of a resource
	scopes []string
	// byAdmin restricts the operation to keys of an admin workspace.
	byAdmin bool
	serve   func(*call) error
}

// unrouted stands in truth reports for requests that reach no operation.
const unrouted = "none"

// scopes returns the four scopes of which any one suffices (specification,
// section Authentication, rule 2).
func scopes(resource, action string) []string {
	return []string{resource + ":" + action, resource + ":all", "all:" + action, "all:all"}
}

// operations returns all operations in the specification's order.
func operations() []*operation {
	const get, post, del = http.MethodGet, http.MethodPost, http.MethodDelete
	return []*operation{
		{id: "campaigns.add-variables", method: post, path: "/campaigns/{id}/variables",
			scopes: scopes("campaigns", "update"), serve: addCampaignVariables},
		{id: "leads.move", method: post, path: "/leads/subsequence/move",
			scopes: scopes("leads", "update"), serve: moveLead},
		{id: "accounts.move", method: post, path: "/accounts/move", byAdmin: true,
			scopes: scopes("accounts", "update"), serve: moveAccounts},
		{id: "inbox-placement-tests.create", method: post, path: "/inbox-placement-tests",
			scopes: scopes("inbox_placement_tests", "create"), serve: createPlacementTest},
		{id: "inbox-placement-tests.list", method: get, path: "/inbox-placement-tests",
			scopes: scopes("inbox_placement_tests", "read"), serve: placementTests.serve},
		{id: "inbox-placement-tests.get", method: get, path: "/inbox-placement-tests/{id}",
			scopes: scopes("inbox_placement_tests", "read"), serve: getPlacementTest},
		{id: "inbox-placement-tests.delete", method: del, path: "/inbox-placement-tests/{id}",
			scopes: scopes("inbox_placement_tests", "delete"), serve: deletePlacementTest},
		{id: "inbox-placement-tests.options", method: get, path: "/inbox-placement-tests/email-service-provider-options",
			scopes: scopes("inbox_placement_tests", "read"), serve: listProviderOptions},
		{id: "inbox-placement-reports.list", method: get, path: "/inbox-placement-reports",
			scopes: scopes("inbox_placement_reports", "read"), serve: placementReports.serve},
		{id: "subsequences.list", method: get, path: "/subsequences",
			scopes: scopes("subsequences", "read"), serve: subsequences.serve},
		{id: "subsequences.delete", method: del, path: "/subsequences/{id}",
			scopes: scopes("subsequences", "delete"), serve: deleteSubsequence},
		{id: "workspace-members.list", method: get, path: "/workspace-members",
			scopes: scopes("workspace_members", "read"), serve: members.serve},
		{id: "workspace-group-members.list", method: get, path: "/workspace-group-members",
			scopes: scopes("workspace_group_members", "read"), serve: groupMembers.serve},
		{id: "dfy-email-account-orders.list", method: get, path: "/dfy-email-account-orders",
			scopes: scopes("dfy_email_account_orders", "read"), serve: orders.serve},
		{id: "custom-tag-mappings.list", method: get, path: "/custom-tag-mappings",
			scopes: scopes("custom_tag_mappings", "read"), serve: tagMappings.serve},
		{id: "lead-labels.list", method: get, path: "/lead-labels",
			scopes: scopes("lead-labels", "read"), serve: leadLabels.serve},
		{id: "lead-lists.list", method: get, path: "/lead-lists",
			scopes: scopes("lead_lists", "read"), serve: leadLists.serve},
		{id: "phone-numbers.list", method: get, path: "/crm-actions/phone-numbers",
			scopes: scopes("crm_actions", "read"), serve: listPhoneNumbers},
		{id: "webhook-events.list", method: get, path: "/webhook-events",
			scopes: scopes("webhook_events", "read"), serve: webhookEvents.serve},
	}
}

// router finds the operation of a request. A path without {id} goes before one
// that matches with it.
type router struct {
	fixed  map[string]methods // by path
	withID []pathWithID
}

// methods are the operations of one path.
type methods map[string]*operation

// pathWithID is a path whose {id} stands between prefix and suffix.
type pathWithID struct {
	prefix, suffix string
	methods        methods
}

func newRouter(ops []*operation) *router {
	r := &router{fixed: map[string]methods{}}
	byPath := map[string]methods{}
	for _, op := range ops {
		if byPath[op.path] == nil {
			byPath[op.path] = methods{}
			if prefix, suffix, ok := strings.Cut(op.path, "{id}"); ok {
				r.withID = append(r.withID, pathWithID{prefix, suffix, byPath[op.path]})
			} else {
				r.fixed[op.path] = byPath[op.path]
			}
		}
		byPath[op.path][op.method] = op
	}
	return r
}

// find returns the operations of the path below BasePath and the id in it; no
// operations when there is no such path.
func (r *router) find(path string) (found methods, id string) {
	if found, ok := r.fixed[path]; ok {
		return found, ""
	}
	for _, p := range r.withID {
		if len(path) > len(p.prefix)+len(p.suffix) && strings.HasPrefix(path, p.prefix) && strings.HasSuffix(path, p.suffix) {
			if id := path[len(p.prefix) : len(path)-len(p.suffix)]; !strings.Contains(id, "/") {
				return p.methods, id
			}
		}
	}
	return nil, ""
}

// of returns the operation of a request method. HEAD is GET without a body.
func (m methods) of(method string) *operation {
	if method == http.MethodHead {
		method = http.MethodGet
	}
	return m[method]
}

// allow returns the value of the Allow header.
func (m methods) allow() string {
	var names []string
	for _, name := range []string{http.MethodGet, http.MethodPost, http.MethodDelete} {
		if m[name] != nil {
			names = append(names, name)
			if name == http.MethodGet {
				names = append(names, http.MethodHead)
			}
		}
	}
	return strings.Join(names, ", ")
}
