package spec

import (
	"strconv"
	"strings"
)

// keyRequirements are the rules on keys: authentication and scopes.
func keyRequirements() []Requirement {
	auth := func(id, statement, method string) Requirement {
		return Requirement{ID: id, Level: Stated, Group: GroupKeys, Profile: ProfileScopes, Statement: statement,
			Section: "Authentication, rule 3; Errors", Method: method, Operations: allOps()}
	}
	accepts := func(id, which string) Requirement {
		return Requirement{ID: id, Level: Stated, Group: GroupKeys, Profile: ProfileScopes,
			Statement: "A key whose only scope is " + which + " may make the request.",
			Section:   "Authentication, rule 2; Endpoints", Method: "A valid request with such a key must be answered with 200.", Operations: scopedOps()}
	}
	refuses := func(id, which, method string) Requirement {
		return Requirement{ID: id, Level: Stated, Group: GroupKeys, Profile: ProfileScopes,
			Statement: "A key " + which + " is refused: neither served nor answered with a server error.",
			Section:   "Authentication, rule 2", Method: method + " Which 4xx status refuses it is observed.", Operations: scopedOps()}
	}
	return []Requirement{
		auth("AUTH-HEADER-MISSING", "A request without an Authorization header is answered with 401.",
			"The request is sent without the header."),
		auth("AUTH-SCHEME-OTHER", "A request whose Authorization header is not of the Bearer scheme is answered with 401.",
			"A valid key is sent as Basic credentials."),
		auth("AUTH-TOKEN-EMPTY", "A request whose Bearer token is empty is answered with 401.",
			"“Bearer” is sent with nothing behind it."),
		auth("AUTH-KEY-UNKNOWN", "A request with a key that was never issued is answered with 401.",
			"A random token is sent."),
		auth("AUTH-KEY-REVOKED", "A request with a revoked key is answered with 401.",
			"The revoked key of the profile is sent."),
		accepts("SCOPE-EXACT", "<resource>:<action>"),
		accepts("SCOPE-RESOURCE-ALL", "<resource>:all"),
		accepts("SCOPE-ALL-ACTION", "all:<action>"),
		accepts("SCOPE-ALL-ALL", "all:all"),
		refuses("SCOPE-NONE", "without any scope", "A valid request is made with a key that has no scope."),
		refuses("SCOPE-WRONG-RESOURCE", "for the right action on another resource only", "A valid request is made with a key whose only scope names another resource."),
		refuses("SCOPE-WRONG-ACTION", "for another action on the right resource only", "A valid request is made with keys whose only scope names another action, on this resource and on all."),
		{ID: "ADMIN-KEY", Level: Stated, Group: GroupKeys, Profile: ProfileAdmin,
			Statement: "Accounts are not moved for a key of a workspace that is not an admin workspace.",
			Section:   "Endpoints / Accounts; Authentication, rule 4",
			Method:    "A move that is valid otherwise is asked for with keys of the source workspace and of a stranger; it must be refused and the account must still be in its place.", Operations: []string{MoveAccounts}},
		{ID: "ADMIN-SAME", Level: Stated, Group: GroupKeys, Profile: ProfileAdmin,
			Statement: "Accounts are not moved between workspaces that do not share one admin workspace.",
			Section:   "Endpoints / Accounts; Authentication, rule 4",
			Method:    "The destination, then the source, is a workspace under another admin workspace; the move must be refused.", Operations: []string{MoveAccounts}},
	}
}

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

// requestRequirements are the demands on request bodies and path parameters:
// what lacks a required part or has a clearly wrong one is not accepted.
func requestRequirements() []Requirement {
	var table []Requirement
	refuse := func(id string, level Level, statement, reasoning, section, method string, on ...string) {
		table = append(table, Requirement{ID: id, Level: level, Group: GroupRequests, Profile: ProfileWrite,
			Statement: statement, Reasoning: reasoning, Section: section,
			Method: method + " The answer must be neither 2xx nor 5xx; its status and body are observed.", Operations: on})
	}
	refuse("REQUEST-JSON", Derived, "A request body that is not JSON is not accepted.",
		"Request bodies are JSON with required members; what cannot be read cannot hold them.",
		"What the service does", "A body that breaks off is sent.", bodyOps()...)
	refuse("REQUEST-OBJECT", Derived, "A request body that is not an object is not accepted.",
		"The body is documented as an object with members.", "Endpoints", "An array and a string are sent.", bodyOps()...)
	refuse("REQUEST-PATH-ID", Derived, "A path id that is not a UUID is not accepted.",
		"The path parameter is a required uuid.", "Endpoints", "Words and broken UUIDs take the place of the id.", pathIDOps()...)

	for _, field := range CreateRequired {
		refuse("REQUEST-REQUIRED-"+strings.ToUpper(field), Stated, "A test is not created without "+field+".", "",
			"Endpoints / Inbox placement tests", "A valid body is sent without the field.", CreatePlacementTest)
	}
	for _, field := range append(append([]string(nil), CreateRequired...), CreateOptional...) {
		refuse("REQUEST-INVALID-"+strings.ToUpper(field), Derived, "A test is not created with a "+field+" of a wrong type or outside its values.",
			"The field's type and values are stated and hold for the request too.",
			"Endpoints / Inbox placement tests; Resources and their fields", "A valid body is sent with the field damaged in each way that its row rules out.", CreatePlacementTest)
	}
	refuse("REQUEST-REQUIRED-VARIABLES", Stated, "Variables are not added by a body without variables.", "",
		"Endpoints / Campaigns", "An empty object is sent.", AddCampaignVariables)
	refuse("REQUEST-INVALID-VARIABLES", Derived, "Variables that are not an array of strings are not accepted.",
		"The type is stated.", "Endpoints / Campaigns", "A string, an object and an array with a number are sent.", AddCampaignVariables)
	refuse("REQUEST-INVALID-ID", Derived, "A lead id that is not a UUID is not accepted.",
		"The type is stated.", "Endpoints / Leads", "A number and a word are sent.", MoveLead)
	refuse("REQUEST-INVALID-SUBSEQUENCE_ID", Derived, "A subsequence_id that is not a UUID is not accepted.",
		"The type is stated.", "Endpoints / Leads", "A number and a word are sent.", MoveLead)
	refuse("REQUEST-EMAILS-EMPTY", Stated, "Accounts are not moved by an empty list of emails.", "",
		"Limits; Endpoints / Accounts", "An empty array is sent.", MoveAccounts)
	refuse("REQUEST-INVALID-ACCOUNT_EMAILS", Derived, "emails that are not an array of email addresses are not accepted.",
		"The type is stated.", "Endpoints / Accounts", "A string and an array with a number are sent.", MoveAccounts)
	refuse("REQUEST-INVALID-SOURCE_WORKSPACE_ID", Derived, "A source_workspace_id that is not a UUID is not accepted.",
		"The type is stated.", "Endpoints / Accounts", "A number and a word are sent.", MoveAccounts)
	refuse("REQUEST-INVALID-DESTINATION_WORKSPACE_ID", Derived, "A destination_workspace_id that is not a UUID is not accepted.",
		"The type is stated.", "Endpoints / Accounts", "A number and a word are sent.", MoveAccounts)
	return table
}

// CreateRequired are the required fields of the body that creates an inbox placement test.
var CreateRequired = []string{"name", "type", "sending_method", "email_subject", "email_body", "emails"}

// CreateOptional are its optional fields.
var CreateOptional = []string{"delivery_mode", "description", "schedule", "campaign_id", "test_code", "tags", "text_only",
	"recipients_labels", "timestamp_next_run", "automations", "status", "not_sending_status", "run_immediately"}

// CreateReadOnly are the resource's fields that a body cannot set.
var CreateReadOnly = []string{"id", "organization_id", "recipients", "timestamp_created"}

// ErrorText is the `error` member that the table of the section Errors gives
// each status.
var ErrorText = map[int]string{
	401: "Unauthorized",
	402: "Payment Required",
	404: "Not Found",
	429: "Too Many Requests",
}

// errorRequirements are the bodies of the four documented errors.
func errorRequirements() []Requirement {
	kinds := []struct {
		status  int
		profile Profile
		how     string
		ops     []string
	}{
		{401, ProfileScopes, "requests without valid authorization", allOps()},
		{402, ProfileBilling, "valid requests for a workspace without a paid plan", allOps()},
		{404, ProfileRead, "requests that name a resource that does not exist", notFoundOps()},
		{429, ProfileRateLimit, "requests beyond the rate limit", allOps()},
	}
	var table []Requirement
	for _, k := range kinds {
		status := strconv.Itoa(k.status)
		add := func(part string, level Level, statement, reasoning string) {
			table = append(table, Requirement{
				ID: "ERROR-" + status + "-" + part, Level: level, Group: GroupErrors, Profile: k.profile,
				Statement: statement, Reasoning: reasoning, Section: "Errors",
				Method: "Every " + status + " answer in any check is judged; " + k.how + " provoke them.", Operations: k.ops,
			})
		}
		add("BODY", Stated, "The body of a "+status+" answer is a JSON object.", "")
		add("CONTENT_TYPE", Derived, "A "+status+" answer announces JSON in its Content-Type.",
			"Error responses are JSON objects; a client that reads the header must be able to tell.")
		add("STATUSCODE", Stated, "statusCode of a "+status+" answer is the number "+status+".", "")
		add("ERROR", Stated, "error of a "+status+" answer is the string “"+ErrorText[k.status]+"”.", "")
		add("MESSAGE", Stated, "message of a "+status+" answer is a string that is not empty.", "")
	}
	return join(table, []Requirement{
		{ID: "NOT-FOUND", Level: Stated, Group: GroupErrors, Profile: ProfileRead,
			Statement: "A valid request for a resource id that does not exist is answered with 404.",
			Section:   "Errors", Method: "A fresh version 7 UUID takes the place of the id; for the lead move, of the lead's id.", Operations: notFoundOps()},
		{ID: "NOT-FOUND-SUBSEQUENCE", Level: Stated, Group: GroupErrors, Profile: ProfileWrite,
			Statement: "Moving an existing lead to a subsequence that does not exist is answered with 404.",
			Section:   "Errors; Endpoints / Leads", Method: "A fresh version 7 UUID takes the place of subsequence_id.", Operations: []string{MoveLead}},
		{ID: "BILLING-402", Level: Stated, Group: GroupBilling, Profile: ProfileBilling,
			Statement: "A valid request for a workspace without an active paid plan is answered with 402.",
			Section:   "Errors", Method: "A request that is valid in every other respect is made with a key of the unpaid workspace, naming that workspace's own data.", Operations: allOps()},
	})
}

// notFoundOps name one resource that may not exist.
func notFoundOps() []string {
	return []string{AddCampaignVariables, MoveLead, GetPlacementTest, DeletePlacementTest, DeleteSubsequence}
}

func rateRequirements() []Requirement {
	return []Requirement{
		{ID: "RATE-429", Level: Stated, Group: GroupRate, Profile: ProfileRateLimit,
			Statement: "A request beyond the rate limit is answered with 429.",
			Section:   "Errors; Limits", Method: "With the key that the profile hands over for it, the limit that the profile promises is exceeded within its window, up to the profile's request budget; no excess request may be answered with another error.", Operations: allOps()},
		{ID: "RATE-RESUMES", Level: Derived, Group: GroupRate, Profile: ProfileRateLimit,
			Statement: "Once the limit's period has passed, the same valid request is served again.",
			Reasoning: "A rate limit counts requests per period; a key that stays refused for ever is not limited but revoked.",
			Section:   "Limits", Method: "After a 429 the request is repeated, waiting as Retry-After says or backing off, until it is served.", Operations: listOps()},
	}
}
