package spec

// Silence is a point that the specification leaves open: "not shown", or not
// mentioned at all. It is observed and never judged.
type Silence struct {
	ID         string
	Statement  string   // the open point
	Section    string   // where the specification leaves it open
	Observed   string   // what a run records; empty if a client cannot see it
	Operations []string // the operations concerned; nil for all
}

// Ids of the silences that the harness observes.
const (
	SilenceDefaultLimit     = "SILENT-DEFAULT-LIMIT"
	SilenceLimitRange       = "SILENT-LIMIT-RANGE"
	SilenceShortPages       = "SILENT-SHORT-PAGES"
	SilenceLastCursor       = "SILENT-LAST-CURSOR"
	SilenceCursorKind       = "SILENT-CURSOR-KIND"
	SilenceDirection        = "SILENT-DIRECTION"
	SilenceExtraFields      = "SILENT-EXTRA-FIELDS"
	SilenceOmittedFields    = "SILENT-OMITTED-FIELDS"
	SilenceMessages         = "SILENT-MESSAGES"
	SilenceInvalidRequest   = "SILENT-INVALID-REQUEST"
	SilencePermission       = "SILENT-PERMISSION"
	SilenceForeignID        = "SILENT-FOREIGN-ID"
	SilenceReadOnlySent     = "SILENT-READ-ONLY-SENT"
	SilenceUnknownAccount   = "SILENT-UNKNOWN-ACCOUNT"
	SilenceUnknownWorkspace = "SILENT-UNKNOWN-WORKSPACE"
	SilenceLeadMoveFields   = "SILENT-LEAD-MOVE-FIELDS"
	SilenceAccountFields    = "SILENT-ACCOUNT-MOVE-FIELDS"
	SilenceAccountScopes    = "SILENT-ACCOUNT-MOVE-SCOPES"
	SilenceWindowEnds       = "SILENT-WINDOW-ENDS"
	SilenceInvalidQuery     = "SILENT-INVALID-QUERY"
	SilenceUnknownQuery     = "SILENT-UNKNOWN-QUERY"
	SilenceUnknownCursor    = "SILENT-UNKNOWN-CURSOR"
	SilenceReusable         = "SILENT-REUSABLE"
	SilenceRateLimit        = "SILENT-RATE-LIMIT"
	SilenceRetryAfter       = "SILENT-RETRY-AFTER"
	SilenceESPOptions       = "SILENT-ESP-OPTIONS"
	SilenceMemberRole       = "SILENT-MEMBER-ROLE"
	SilenceGroupStatus      = "SILENT-GROUP-STATUS"
	SilenceForwardingMode   = "SILENT-FORWARDING-MODE"
	SilenceResourceType     = "SILENT-RESOURCE-TYPE"
	SilenceTrigger          = "SILENT-VARIANT-TRIGGER"
)

var silences = []Silence{
	// "Not shown", in the order of the specification.
	{"SILENT-CAMPAIGN-FIELDS", "Which fields a campaign has after timestamp_updated.", "Resources / Campaign", "extra fields, under " + SilenceExtraFields, []string{AddCampaignVariables}},
	{"SILENT-LEAD-CODES", "What the values of a lead's status, lt_interest_status, verification_status, enrichment_status, esp_code and esg_code mean.", "Resources / Lead", "", []string{MoveLead}},
	{SilenceTrigger, "Which values auto_variant_select.trigger may have, apart from the one for clicks.", "Resources / Campaign subsequence", "the values seen in the list", []string{ListSubsequences, DeleteSubsequence}},
	{"SILENT-CONDITION-CODES", "What the numbers in conditions.crm_status and conditions.lead_activity mean.", "Resources / Campaign subsequence", "", []string{ListSubsequences, DeleteSubsequence}},
	{"SILENT-LABEL-AND-AUTOMATION-ITEMS", "What the items of recipients_labels and automations look like.", "Resources / Inbox placement test", "extra fields, under " + SilenceExtraFields, []string{CreatePlacementTest, ListPlacementTests, GetPlacementTest, DeletePlacementTest}},
	{SilenceMemberRole, "Which values a member's role and the items of permissions may have.", "Resources / Workspace member", "the roles seen", []string{ListMembers}},
	{SilenceGroupStatus, "Which values a group member's status may have, apart from accepted.", "Resources / Workspace group member", "the values seen", []string{ListGroupMembers}},
	{SilenceForwardingMode, "Which values forwarding_mode may have.", "Resources / Done-for-you email account order", "the values seen", []string{ListDFYOrders}},
	{SilenceResourceType, "What the values of resource_type mean.", "Resources / Custom tag mapping", "the values seen", []string{ListTagMappings}},
	{"SILENT-ACCESS-TYPE", "What the values of access_type mean.", "Resources / Lead label", "", []string{ListLeadLabels}},
	{"SILENT-CAMPAIGN-TRANSITIONS", "How a campaign's status changes.", "States and transitions", "", []string{AddCampaignVariables}},
	{"SILENT-SUBSEQUENCE-TRANSITIONS", "How a subsequence's status changes.", "States and transitions", "", []string{ListSubsequences}},
	{"SILENT-TEST-TRANSITIONS", "How a test's status changes.", "States and transitions", "", []string{GetPlacementTest}},
	{SilenceDefaultLimit, "How many items a page holds when limit is omitted.", "Pagination", "the number of items on the first page without limit", nil},
	{SilenceLeadMoveFields, "Which of id and subsequence_id a lead move requires.", "Endpoints / Leads", "the status when one is omitted", []string{MoveLead}},
	{SilenceAccountScopes, "Which scopes moving accounts needs.", "Endpoints / Accounts", "", []string{MoveAccounts}},
	{SilenceESPOptions, "What the list of email service provider options looks like.", "Endpoints / Inbox placement tests", "the status and outer form of the response", []string{CreatePlacementTest}},
	{"SILENT-REPORT-PARAMETERS", "The names of the four filters of the reports.", "Endpoints / Inbox placement reports", "", []string{ListPlacementReports}},
	{"SILENT-SUBSEQUENCE-PARAMETERS", "The names of the three filters of the subsequences.", "Endpoints / Campaign subsequences", "", []string{ListSubsequences}},
	{"SILENT-MEMBER-PARAMETERS", "The names of the two filters of the members.", "Endpoints / Workspace members", "", []string{ListMembers}},
	{"SILENT-MAPPING-PARAMETER", "The name of the filter of the tag mappings.", "Endpoints / Custom tag mappings", "", []string{ListTagMappings}},
	{"SILENT-LABEL-PARAMETERS", "The names of the cursor and the two filters of the labels.", "Endpoints / Lead labels", "", []string{ListLeadLabels}},
	{"SILENT-LIST-PARAMETERS", "The names of the cursor and the two filters of the lead lists.", "Endpoints / Lead lists", "", []string{ListLeadLists}},
	{"SILENT-EVENT-PARAMETERS", "The names of the four filters of the webhook events.", "Endpoints / Webhook events", "", []string{ListWebhookEvents}},
	{"SILENT-KEY-MANAGEMENT", "How keys are issued, listed and revoked.", "Authentication, rule 5", "", nil},
	{"SILENT-EVENT-KINDS", "Which events trigger webhooks.", "Events", "", []string{ListWebhookEvents}},
	{"SILENT-EVENT-PAYLOAD", "What the payload of a delivery holds.", "Events", "", []string{ListWebhookEvents}},
	{"SILENT-EVENT-SIGNATURE", "Whether deliveries are signed or authenticated.", "Events", "", []string{ListWebhookEvents}},
	{SilenceInvalidRequest, "The status and body of the response to an invalid request.", "Errors", "the status and members of the body", nil},
	{SilencePermission, "The status and body of the response to a key without permission.", "Errors", "the status and members of the body", nil},
	{SilenceRateLimit, "How many requests a period allows, and which requests share the count.", "Limits", "whether the run reached a limit within its budget; a load run infers the limit", nil},
	{"SILENT-DEPRECATION", "Which compatibility and deprecation promises apply.", "Versioning", "", nil},

	// Not mentioned.
	{SilenceLimitRange, "How the server handles an out-of-range limit.", "Pagination; Limits", "the status, and the number of items if it is served", nil},
	{SilenceShortPages, "Whether a page before the last may have fewer items than the limit.", "Pagination", "whether such a page was seen", nil},
	{SilenceLastCursor, "The value of next_starting_after on the last page.", "Pagination", "absent, null, empty, or a cursor to an empty page", nil},
	{SilenceCursorKind, "Which kind of cursor a list uses, if it is not timestamp-based.", "Pagination", "the kind seen", nil},
	{SilenceDirection, "The sort direction of a list without sort_order.", "Pagination", "the direction seen", nil},
	{SilenceExtraFields, "Whether objects may have undocumented fields.", "Resources and their fields", "the undocumented fields seen", nil},
	{SilenceOmittedFields, "Whether a field that does not apply in some state is omitted or null.", "Resources and their fields", "", nil},
	{SilenceMessages, "Whether error messages may differ from the examples.", "Errors", "the messages seen", nil},
	{SilenceForeignID, "The status of a request that names another workspace's id.", "Errors", "the status", nil},
	{SilenceReadOnlySent, "Whether a body with a read-only field is rejected or the field is ignored.", "Resources / Inbox placement test", "the status", []string{CreatePlacementTest}},
	{SilenceUnknownAccount, "How the server handles a move of an account that is not in the source workspace.", "Endpoints / Accounts", "the status", []string{MoveAccounts}},
	{SilenceUnknownWorkspace, "The status of a move from or to a workspace that does not exist.", "Endpoints / Accounts", "the status", []string{MoveAccounts}},
	{SilenceAccountFields, "Which fields an account move requires.", "Endpoints / Accounts", "the status when one is omitted", []string{MoveAccounts}},
	{SilenceWindowEnds, "Whether the ends of the reports' time window are inclusive.", "Endpoints / Inbox placement reports", "whether rows at either end are shown", []string{ListPlacementReports}},
	{SilenceInvalidQuery, "How the server handles a query parameter with an invalid value.", "Endpoints", "the status", nil},
	{SilenceUnknownQuery, "How the server handles an unknown query parameter.", "Endpoints", "the status", nil},
	{SilenceUnknownCursor, "How the server handles a cursor that it never issued.", "Pagination", "the status", nil},
	{SilenceReusable, "Which subsequences of other campaigns are reusable.", "Endpoints / Campaign subsequences", "whether excluding a campaign shows all others", []string{ListSubsequences}},
	{SilenceRetryAfter, "Whether a 429 response says how long to wait.", "Errors; Limits", "the Retry-After seen", nil},
	{"SILENT-PRECEDENCE", "Which error a request with several faults gets, apart from 401.", "Errors", "", nil},
	{"SILENT-EVENT-STATUS-CODE", "Which status codes of a webhook target count as success.", "Events", "", []string{ListWebhookEvents}},
}

// Silences returns every open point, in the order of the specification.
func Silences() []Silence { return append([]Silence(nil), silences...) }

// FindSilence returns the silence with the given id.
func FindSilence(id string) (Silence, bool) {
	for _, s := range silences {
		if s.ID == id {
			return s, true
		}
	}
	return Silence{}, false
}
