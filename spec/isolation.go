package spec

// isolationRequirements say that a workspace's key works on that workspace
// alone. All are derived: the token is "the workspace API key".
func isolationRequirements() []Requirement {
	const reasoning = "The token is the key of one workspace, and resources belong to workspaces."
	isolate := func(id, statement, method string, on ...string) Requirement {
		return Requirement{ID: id, Level: Derived, Group: GroupIsolation, Profile: ProfileIsolation,
			Statement: statement, Reasoning: reasoning, Section: "Authentication, rule 1; What the service does", Method: method, Operations: on}
	}
	owned := []string{MoveLead, CreatePlacementTest, ListPlacementTests, GetPlacementTest, DeletePlacementTest, ListPlacementReports,
		ListSubsequences, DeleteSubsequence, ListMembers, ListGroupMembers, ListTagMappings, ListLeadLabels, ListLeadLists,
		ListPhoneNumbers, ListWebhookEvents}
	return []Requirement{
		isolate("ISOLATION-LIST", "No row shows in the lists of two unrelated workspaces.",
			"The list is walked with keys of both; the rows must have nothing in common.", listOps()...),
		isolate("ISOLATION-OWNER", "The workspace that a row names as its owner is the key's.",
			"The row's organization_id, workspace_id, organization or workspace (of a group member: one of its two workspaces) is compared with the id that the profile gives for the workspace.", owned...),
		isolate("ISOLATION-ID", "The id of another workspace's resource is treated like one that does not exist, or refused; it is never served.",
			"A valid request names a resource of the second workspace; no 2xx, no 5xx.", notFoundOps()...),
		isolate("ISOLATION-SUBSEQUENCE", "A lead cannot be moved to another workspace's subsequence.",
			"A valid move names a subsequence of the second workspace; no 2xx, no 5xx.", MoveLead),
		isolate("ISOLATION-UNTOUCHED", "Another workspace's resource is still there after its deletion was asked for.",
			"Its owner reads it again.", DeletePlacementTest, DeleteSubsequence),
		isolate("ISOLATION-FILTER", "A filter that names another workspace's resource shows no row of it.",
			"The filter is given a value that occurs in the second workspace only.", ListPlacementReports, ListSubsequences, ListTagMappings),
		isolate("ISOLATION-ACCOUNTS", "An admin workspace's key does not move accounts between the sub-workspaces of another admin workspace.",
			"A move that is valid for the one is asked for with the key of the other; it must be refused and the account must still be in its place.", MoveAccounts),
	}
}
