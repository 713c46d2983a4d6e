package spec

// OpenPoint is a point that the specification leaves open: "not shown", or not
// mentioned at all. It is observed and never judged.
type OpenPoint struct {
	ID         string
	Statement  string   // the open point
	Section    string   // where the specification leaves it open
	Observed   string   // what a run records; empty if a client cannot see it
	Operations []string // the operations concerned; nil for all
}

// Ids of the open points that the harness observes.
const (
	OpenPointDefaultLimit     = "SILENT-DEFAULT-LIMIT"
	OpenPointLimitRange       = "SILENT-LIMIT-RANGE"
	OpenPointShortPages       = "SILENT-SHORT-PAGES"
	OpenPointLastCursor       = "SILENT-LAST-CURSOR"
	OpenPointCursorKind       = "SILENT-CURSOR-KIND"
	OpenPointDirection        = "SILENT-DIRECTION"
	OpenPointExtraFields      = "SILENT-EXTRA-FIELDS"
	OpenPointOmittedFields    = "SILENT-OMITTED-FIELDS"
	OpenPointSameNames        = "SILENT-SAME-NAMES"
	OpenPointMessages         = "SILENT-MESSAGES"
	OpenPointInvalidRequest   = "SILENT-INVALID-REQUEST"
	OpenPointOmitted          = "SILENT-OMITTED-BY-DESIGN"
	OpenPointVisibility       = "SILENT-VISIBILITY"
	OpenPointNormalForm       = "SILENT-NORMAL-FORM"
	OpenPointLooseJSON        = "SILENT-LOOSE-JSON"
	OpenPointUnknownInBody    = "SILENT-UNKNOWN-IN-BODY"
	OpenPointSuccessRetried   = "SILENT-SUCCESS-RETRIED"
	OpenPointRetryURL         = "SILENT-RETRY-URL"
	OpenPointPermission       = "SILENT-PERMISSION"
	OpenPointForeignID        = "SILENT-FOREIGN-ID"
	OpenPointReadOnlySent     = "SILENT-READ-ONLY-SENT"
	OpenPointUnknownAccount   = "SILENT-UNKNOWN-ACCOUNT"
	OpenPointUnknownWorkspace = "SILENT-UNKNOWN-WORKSPACE"
	OpenPointLeadMoveFields   = "SILENT-LEAD-MOVE-FIELDS"
	OpenPointRepeatedChange   = "SILENT-REPEATED-CHANGE"
	OpenPointAccountFields    = "SILENT-ACCOUNT-MOVE-FIELDS"
	OpenPointAccountScopes    = "SILENT-ACCOUNT-MOVE-SCOPES"
	OpenPointWindowEnds       = "SILENT-WINDOW-ENDS"
	OpenPointInvalidQuery     = "SILENT-INVALID-QUERY"
	OpenPointUnknownQuery     = "SILENT-UNKNOWN-QUERY"
	OpenPointOtherMethods     = "SILENT-OTHER-METHODS"
	OpenPointUnknownCursor    = "SILENT-UNKNOWN-CURSOR"
	OpenPointDeletedCursor    = "SILENT-DELETED-CURSOR"
	OpenPointReusable         = "SILENT-REUSABLE"
	OpenPointRateLimit        = "SILENT-RATE-LIMIT"
	OpenPointRetryAfter       = "SILENT-RETRY-AFTER"
	OpenPointESPOptions       = "SILENT-ESP-OPTIONS"
	OpenPointMemberRole       = "SILENT-MEMBER-ROLE"
	OpenPointGroupStatus      = "SILENT-GROUP-STATUS"
	OpenPointForwardingMode   = "SILENT-FORWARDING-MODE"
	OpenPointResourceType     = "SILENT-RESOURCE-TYPE"
	OpenPointTrigger          = "SILENT-VARIANT-TRIGGER"
)

var openPoints = []OpenPoint{
	// "Not shown", in the order of the specification.
	{"SILENT-CAMPAIGN-FIELDS", "Which fields a campaign has after timestamp_updated.", "Resources / Campaign", "extra fields, under " + OpenPointExtraFields, []string{AddCampaignVariables}},
	{"SILENT-LEAD-CODES", "What the values of a lead's status, lt_interest_status, verification_status, enrichment_status, esp_code and esg_code mean.", "Resources / Lead", "", []string{MoveLead}},
	{OpenPointTrigger, "Which values auto_variant_select.trigger may have, apart from the one for clicks.", "Resources / Campaign subsequence", "the values seen in the list", []string{ListSubsequences, DeleteSubsequence}},
	{"SILENT-CONDITION-CODES", "What the numbers in conditions.crm_status and conditions.lead_activity mean.", "Resources / Campaign subsequence", "", []string{ListSubsequences, DeleteSubsequence}},
	{"SILENT-LABEL-AND-AUTOMATION-ITEMS", "What the items of recipients_labels and automations look like.", "Resources / Inbox placement test", "extra fields, under " + OpenPointExtraFields, []string{CreatePlacementTest, ListPlacementTests, GetPlacementTest, DeletePlacementTest}},
	{OpenPointMemberRole, "Which values a member's role and the items of permissions may have.", "Resources / Workspace member", "the roles seen", []string{ListMembers}},
	{OpenPointGroupStatus, "Which values a group member's status may have, apart from accepted.", "Resources / Workspace group member", "the values seen", []string{ListGroupMembers}},
	{OpenPointForwardingMode, "Which values forwarding_mode may have.", "Resources / Done-for-you email account order", "the values seen", []string{ListDFYOrders}},
	{OpenPointResourceType, "What the values of resource_type mean.", "Resources / Custom tag mapping", "the values seen", []string{ListTagMappings}},
	{"SILENT-ACCESS-TYPE", "What the values of access_type mean.", "Resources / Lead label", "", []string{ListLeadLabels}},
	{"SILENT-CAMPAIGN-TRANSITIONS", "How a campaign's status changes.", "States and transitions", "", []string{AddCampaignVariables}},
	{"SILENT-SUBSEQUENCE-TRANSITIONS", "How a subsequence's status changes.", "States and transitions", "", []string{ListSubsequences}},
	{"SILENT-TEST-TRANSITIONS", "How a test's status changes.", "States and transitions", "", []string{GetPlacementTest}},
	{OpenPointDefaultLimit, "How many items a page holds when limit is omitted.", "Pagination", "the number of items on the first page without limit", nil},
	{OpenPointLeadMoveFields, "Which of id and subsequence_id a lead move requires.", "Endpoints / Leads", "the status when one is omitted", []string{MoveLead}},
	{OpenPointAccountScopes, "Which scopes moving accounts needs.", "Endpoints / Accounts", "", []string{MoveAccounts}},
	{OpenPointESPOptions, "What the list of email service provider options looks like.", "Endpoints / Inbox placement tests", "the status and outer form of the response", []string{CreatePlacementTest}},
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
	{OpenPointInvalidRequest, "The status and body of the response to an invalid request.", "Errors", "the status and members of the body", nil},
	{OpenPointPermission, "The status and body of the response to a key without permission.", "Errors", "the status and members of the body", nil},
	{OpenPointRateLimit, "How many requests a period allows, and which requests share the count.", "Limits", "whether the run reached a limit within its budget; a load run infers the limit", nil},
	{"SILENT-DEPRECATION", "Which compatibility and deprecation promises apply.", "Versioning", "", nil},

	// Not mentioned.
	{OpenPointLimitRange, "How the server handles an out-of-range limit.", "Pagination; Limits", "the status, and the number of items if it is served", nil},
	{OpenPointShortPages, "Whether a page before the last may have fewer items than the limit.", "Pagination", "whether such a page was seen", nil},
	{OpenPointLastCursor, "The value of next_starting_after on the last page.", "Pagination", "absent, null, empty, or a cursor to an empty page", nil},
	{OpenPointCursorKind, "Which kind of cursor a list uses, if it is not timestamp-based.", "Pagination", "the kind seen", nil},
	{OpenPointDirection, "The sort direction of a list without sort_order.", "Pagination", "the direction seen", nil},
	{OpenPointExtraFields, "Whether objects may have undocumented fields.", "Resources and their fields", "the undocumented fields seen", nil},
	{OpenPointOmittedFields, "Whether a field that does not apply in some state is omitted, or null if its type allows null.", "Resources and their fields", "", nil},
	{OpenPointOmitted, "Which fields an implementation leaves out by design (omits in its profile).", "Resources and their fields", "the fields that were absent", nil},
	{OpenPointSameNames, "Whether an object may have members of the same name (RFC 8259, section 4, only advises against them).", "Resources and their fields", "the names seen", nil},
	{OpenPointVisibility, "How soon a change shows in another view.", "Endpoints", "the delay, by view; a change must show within visible_within of the profile", []string{CreatePlacementTest, ListPlacementTests, GetPlacementTest, DeletePlacementTest, DeleteSubsequence, MoveLead, MoveAccounts}},
	{OpenPointNormalForm, "Whether a test is stored in a normal form: the order, repeated entries and letter case of emails and tags; outer blanks, control characters and line ends of texts, and line breaks of a subject.", "Resources / Inbox placement test", "the fields that are not shown as they were sent", []string{CreatePlacementTest}},
	{OpenPointLooseJSON, "Whether a request body may hold one JSON value and more: trailing content, a comment, a trailing comma, a repeated member (RFC 8259, section 9, allows parsers to accept it).", "What the service does", "the status for each", bodyOps()},
	{OpenPointUnknownInBody, "The status of a request whose body names a resource that does not exist.", "Errors", "the status", []string{MoveLead}},
	{OpenPointSuccessRetried, "What will_retry, retry_count and retry_successful mean for an attempt that succeeded.", "Events, rule 2", "whether will_retry is true for such an attempt", []string{ListWebhookEvents}},
	{OpenPointRetryURL, "Whether all attempts of a delivery go to one URL.", "Events, rule 2", "one URL, or several, by delivery", []string{ListWebhookEvents}},
	{OpenPointMessages, "Whether error messages may differ from the examples.", "Errors", "the messages seen", nil},
	{OpenPointForeignID, "The status of a request that names another workspace's id.", "Errors", "the status", nil},
	{OpenPointReadOnlySent, "Whether a body with a read-only field is rejected or the field is ignored.", "Resources / Inbox placement test", "the status", []string{CreatePlacementTest}},
	{OpenPointUnknownAccount, "How the server handles a move of an account that is not in the source workspace.", "Endpoints / Accounts", "the status", []string{MoveAccounts}},
	{OpenPointRepeatedChange, "The status of a lead move to the subsequence in which the lead is, of adding a variable that exists, and of creating a test with the name of another.", "Endpoints / Campaigns, Leads, Inbox placement tests", "the status", []string{AddCampaignVariables, MoveLead, CreatePlacementTest}},
	{OpenPointUnknownWorkspace, "The status of a move from or to a workspace that does not exist.", "Endpoints / Accounts", "the status", []string{MoveAccounts}},
	{OpenPointAccountFields, "Which fields an account move requires.", "Endpoints / Accounts", "the status when one is omitted", []string{MoveAccounts}},
	{OpenPointWindowEnds, "Whether the ends of the reports' time window are inclusive.", "Endpoints / Inbox placement reports", "whether rows at either end are shown", []string{ListPlacementReports}},
	{OpenPointInvalidQuery, "How the server handles a query parameter with an invalid value.", "Endpoints", "the status", nil},
	{OpenPointUnknownQuery, "How the server handles an unknown query parameter.", "Endpoints", "the status", nil},
	{OpenPointOtherMethods, "How the server handles a method that a path does not have.", "Endpoints", "the status and the Allow header for the safe method OPTIONS", nil},
	{OpenPointUnknownCursor, "How the server handles a cursor that it never issued.", "Pagination", "the status", nil},
	{OpenPointDeletedCursor, "Whether a cursor whose row was deleted is refused.", "Pagination", "the status of a refusal", nil},
	{OpenPointReusable, "Which subsequences of other campaigns are reusable.", "Endpoints / Campaign subsequences", "whether excluding a campaign shows all others", []string{ListSubsequences}},
	{OpenPointRetryAfter, "Whether a 429 response says how long to wait.", "Errors; Limits", "the Retry-After seen", nil},
	{"SILENT-PRECEDENCE", "Which error a request with several faults gets, apart from 401.", "Errors", "", nil},
	{"SILENT-EVENT-STATUS-CODE", "Which status codes of a webhook target count as success.", "Events", "", []string{ListWebhookEvents}},
}

// OpenPoints returns every open point, in the order of the specification.
func OpenPoints() []OpenPoint { return append([]OpenPoint(nil), openPoints...) }

// FindOpenPoint returns the open point with the given id.
func FindOpenPoint(id string) (OpenPoint, bool) {
	return find(openPoints, func(s OpenPoint) bool { return s.ID == id })
}
