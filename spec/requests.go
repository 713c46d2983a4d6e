package spec

import "strings"

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
