package spec

// Rows returns the resources in a decoded 200 answer of the operation, whatever
// its outer form. What is not an object is left out.
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

// ownerFields name the workspace that a resource belongs to. A group member
// belongs to two; an order's workspace_id is no UUID in the shape seen.
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

// OwnerFields returns the fields of the operation's resource that name the
// workspace that it belongs to; none where it has none.
func (o Operation) OwnerFields() []string { return ownerFields[o.Resource] }
