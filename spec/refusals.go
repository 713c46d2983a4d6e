package spec

import (
	"strconv"
	"strings"
)

// keyRequirements are the requirements on authentication and scopes.
func keyRequirements() []Requirement {
	auth := func(id, statement, method string) Requirement {
		return Requirement{ID: id, Level: stated, Group: GroupKeys, Profile: ProfileScopes, Statement: statement,
			Section: "Authentication, rule 3; Errors", Method: method, Operations: allOps()}
	}
	accepts := func(id, which string) Requirement {
		return Requirement{ID: id, Level: stated, Group: GroupKeys, Profile: ProfileScopes,
			Statement: "A key whose only scope is " + which + " is enough for the request.",
			Section:   "Authentication, rule 2; Endpoints", Method: "A valid request with such a key must get 200.", Operations: scopedOps()}
	}
	refuses := func(id, which, method string) Requirement {
		return Requirement{ID: id, Level: stated, Group: GroupKeys, Profile: ProfileScopes,
			Statement: "A key " + which + " is rejected: no 2xx and no 5xx.",
			Section:   "Authentication, rule 2", Method: method + " The exact 4xx status is observed.", Operations: scopedOps()}
	}
	return []Requirement{
		auth("AUTH-HEADER-MISSING", "A request without an Authorization header gets 401.",
			"The request is sent without the header, also with a valid key in the query, in a cookie and in other headers. A mistake in the id, a parameter or a part of the body does not change the status."),
		auth("AUTH-SCHEME-OTHER", "A request whose Authorization header does not use the Bearer scheme gets 401.",
			"A valid key is sent with the schemes of other services, without a scheme, and with schemes that look like Bearer, also beside mistakes. Each revoked key is sent so to two operations."),
		auth("AUTH-TOKEN-EMPTY", "A request with an empty Bearer token gets 401.",
			"“Bearer” is sent with nothing after it, also beside mistakes, and an empty header."),
		auth("AUTH-KEY-UNKNOWN", "A request with a key that was never issued gets 401.",
			"A random token and other spellings of a valid key are sent, such as in quotes or encoded, also beside mistakes. Each revoked key is sent so to two operations."),
		auth("AUTH-KEY-REVOKED", "A request with a revoked key gets 401.",
			"The profile's revoked keys are sent, alone and beside a valid key, and beside mistakes. Letter case and blanks of the scheme vary."),
		{ID: "AUTH-NO-EFFECT", Level: derived, Group: GroupKeys, Profile: ProfileScopes,
			Statement: "A request that is rejected for lack of valid authorization changes nothing.",
			Reasoning: "The response reports an error instead of the effect that a 200 reports.",
			Section:   "Authentication, rule 3; Errors",
			Method:    "Valid requests are sent without the header, with an unknown and with a revoked key. Then the tests, the subsequences or the account are looked up.", Operations: seenOps()},
		accepts("SCOPE-EXACT", "<resource>:<action>"),
		accepts("SCOPE-RESOURCE-ALL", "<resource>:all"),
		accepts("SCOPE-ALL-ACTION", "all:<action>"),
		accepts("SCOPE-ALL-ALL", "all:all"),
		refuses("SCOPE-NONE", "without any scope", "A valid request is sent with a key that has no scope."),
		refuses("SCOPE-WRONG-RESOURCE", "for the right action on another resource only", "A valid request is sent with a key whose only scope names another resource. Each other resource is tried."),
		refuses("SCOPE-WRONG-ACTION", "for another action on the right resource only", "A valid request is sent with keys whose only scope names another action, on this resource and on all resources."),
		{ID: "SCOPE-EFFECT", Level: derived, Group: GroupKeys, Profile: ProfileScopes,
			Statement: "A request with a narrow key takes effect in the key's workspace, as with an all:all key.",
			Reasoning: "Any of the four scopes is enough for the request, and a 200 reports its effect.",
			Section:   "Authentication, rule 2; Endpoints",
			Method:    "The full key of the workspace looks for the created or deleted resource.", Operations: lookedUpOps()},
		{ID: "SCOPE-NO-EFFECT", Level: derived, Group: GroupKeys, Profile: ProfileScopes,
			Statement: "A request that is rejected for lack of a scope changes nothing.",
			Reasoning: "The request requires a scope that the key lacks.",
			Section:   "Authentication, rule 2",
			Method:    "Valid requests are sent without any scope, and with scopes for other actions and resources. Then the tests or subsequences are looked up.", Operations: lookedUpOps()},
		{ID: "SCOPE-SEVERAL", Level: derived, Group: GroupKeys, Profile: ProfileScopes,
			Statement: "A key with several scopes may do what each of them allows.",
			Reasoning: "One of the four scopes is enough for the request, whichever other scopes the key has.",
			Section:   "Authentication, rule 2", Method: "A valid request with such a key must get 200. The scope is not the first of the key.", Operations: scopedOps()},
		{ID: "SCOPE-SEVERAL-ONLY", Level: derived, Group: GroupKeys, Profile: ProfileScopes,
			Statement: "A key with several scopes may do nothing that none of them allows: no 2xx and no 5xx.",
			Reasoning: "The request requires one of four scopes. Two scopes that name its resource and its action separately are none of them.",
			Section:   "Authentication, rule 2", Method: "A valid request is sent with a key that has the resource and the action in different scopes. The exact 4xx status is observed.", Operations: scopedOps()},
		{ID: "SCOPE-SAME-ROWS", Level: derived, Group: GroupKeys, Profile: ProfileScopes,
			Statement: "Every key of a workspace that may make the request sees the same rows, with the same values.",
			Reasoning: "The token is the key of a workspace, and one of four scopes is enough for the request. Nothing is said of rows or fields that a scope hides.",
			Section:   "Authentication, rules 1 and 2",
			Method:    "The rows for each key of the profile are compared with those for the all:all key, which reads before and after. A move is repeated with each key.", Operations: append(ops(func(o Operation) bool { return !o.Unsafe() }), MoveLead)},
		{ID: "ADMIN-KEY", Level: stated, Group: GroupKeys, Profile: ProfileAdmin,
			Statement: "A key of a workspace that is not an admin workspace cannot move accounts.",
			Section:   "Endpoints / Accounts; Authentication, rule 4",
			Method:    "An otherwise valid move is sent with keys of the source workspace and of an unrelated one. It must be rejected, and the account must not move.", Operations: []string{MoveAccounts}},
		{ID: "ADMIN-SAME", Level: stated, Group: GroupKeys, Profile: ProfileAdmin,
			Statement: "Accounts cannot move between workspaces that do not share an admin workspace.",
			Section:   "Endpoints / Accounts; Authentication, rule 4",
			Method:    "The destination, then the source, is a workspace under another admin workspace. The move must be rejected.", Operations: []string{MoveAccounts}},
	}
}

// optionsRequirements are the requirements on the 19th path (OptionsPath). They are bound
// to the operation whose body needs the options.
func optionsRequirements() []Requirement {
	option := func(id string, group Group, profile Profile, statement, method string) Requirement {
		return Requirement{ID: id, Level: derived, Group: group, Profile: profile, Statement: statement,
			Reasoning: "The path is listed under Endpoints. Every endpoint requires the Authorization header and can return the four errors.",
			Section:   "Endpoints / Inbox placement tests; Errors",
			Method:    method + " If an all:all key does not see the options either, any refusal passes.", Operations: []string{CreatePlacementTest}}
	}
	return []Requirement{
		option("OPTIONS-AUTH", GroupKeys, ProfileScopes, "The provider options are shown only with valid authorization. Otherwise the response is a documented 401.",
			"The path is requested without the header, with another scheme, and with empty and unknown keys. A valid key and each revoked one are sent in each spelling, too."),
		option("OPTIONS-SCOPE", GroupKeys, ProfileScopes, "A key without any scope does not see the provider options.",
			"The path is requested with such a key. The response must be neither 2xx nor 5xx."),
		option("OPTIONS-BILLING", GroupBilling, ProfileBilling, "A workspace without an active paid plan gets a documented 402 for the provider options.",
			"The path is requested with a key of the unpaid workspace."),
		option("OPTIONS-RATE", GroupRate, ProfileRateLimit, "Beyond the rate limit, a request for the provider options that is rejected gets a documented 429.",
			"The path is requested while lists have driven the profile's rate-limit key over its limit. A limit may count the path apart, so a 2xx passes."),
	}
}

// isolationRequirements say that a key works on its own workspace only. All
// are derived: the token is "the workspace API key".
func isolationRequirements() []Requirement {
	const reasoning = "The token is the key of one workspace, and resources belong to workspaces."
	isolate := func(id, statement, method string, on ...string) Requirement {
		return Requirement{ID: id, Level: derived, Group: GroupIsolation, Profile: ProfileIsolation,
			Statement: statement, Reasoning: reasoning, Section: "Authentication, rule 1; What the service does", Method: method, Operations: on}
	}
	return []Requirement{
		isolate("ISOLATION-LIST", "The lists of two unrelated workspaces share no row.",
			"The list is walked with keys of the workspaces in the profile, 2 for each admin workspace. Those without a common admin workspace must have no row in common.", listOps()...),
		isolate("ISOLATION-OWNER", "Each row names the key's workspace as its owner.",
			"The row's organization_id, workspace_id, organization or workspace is compared with the workspace id in the profile. A group member names it, or its admin workspace as admin.", ops(func(o Operation) bool { return len(o.Owner) > 0 })...),
		isolate("ISOLATION-ID", "The id of another workspace's resource is handled like an unknown id, or rejected. It is never served.",
			"A valid request names a resource of the second workspace, and keys of other workspaces name one of the main workspace. The response must be neither 2xx nor 5xx.", namedOps()...),
		isolate("ISOLATION-CREATE", "A test that is created with a workspace's key belongs to that workspace alone, and to no campaign of another.",
			"A test is created with the key of the second workspace. A get with that key must find it, and one with the main key must not. A creation with the main key and a campaign of the second workspace must be refused.", CreatePlacementTest),
		isolate("ISOLATION-SUBSEQUENCE", "A lead cannot be moved to another workspace's subsequence.",
			"A valid move names a subsequence of the second workspace. The response must be neither 2xx nor 5xx.", MoveLead),
		isolate("ISOLATION-UNTOUCHED", "A request to delete another workspace's resource leaves it in place.",
			"The owner reads it again. The key of the main workspace, then keys of other workspaces, ask for the deletion.", deletingOps()...),
		isolate("ISOLATION-FILTER", "A filter that names another workspace's resource shows none of its rows.",
			"Each filter and search uses values of the second workspace's rows, first those that no row of the main workspace has.", filteredOps(1, Filter.Selects)...),
		isolate("ISOLATION-ACCOUNTS", "An admin workspace's key cannot move accounts between sub-workspaces of another admin workspace.",
			"A move that is valid for one admin key is sent with the other's. It must be rejected, and the account must not move.", MoveAccounts),
	}
}

// requestRequirements are the requirements on request bodies and path
// parameters: a missing or clearly wrong part is not accepted.
func requestRequirements() []Requirement {
	var table []Requirement
	refuse := func(id string, level Level, statement, reasoning, section, method string, on ...string) {
		table = append(table, Requirement{ID: id, Level: level, Group: GroupRequests, Profile: ProfileWrite,
			Statement: statement, Reasoning: reasoning, Section: section,
			Method: method + " The response must be neither 2xx nor 5xx. Its status and body are observed.", Operations: on})
	}
	refuse("REQUEST-JSON", derived, "A request body from which no JSON value can be read is not accepted.",
		"Request bodies are JSON with required members. A body that cannot be parsed cannot hold them. A parser may accept more than JSON (RFC 8259, section 9), so only such bodies count.",
		"What the service does", "A truncated body and a form are sent.", bodyOps()...)
	refuse("REQUEST-OBJECT", derived, "A request body that is not an object is not accepted.",
		"The body is documented as an object with members.", "Endpoints", "An array and a string are sent.", bodyOps()...)
	refuse("REQUEST-PATH-ID", derived, "A path id that is not a UUID is not accepted.",
		"The path parameter is a required uuid.", "Endpoints", "Words, signs and malformed UUIDs replace the id.", pathIDOps()...)

	for _, field := range CreateRequired {
		refuse("REQUEST-REQUIRED-"+strings.ToUpper(field), stated, "A body without "+field+" does not create a test.", "",
			"Endpoints / Inbox placement tests", "A valid body is sent without the field.", CreatePlacementTest)
	}
	for _, field := range append(append([]string(nil), CreateRequired...), CreateOptional...) {
		refuse("REQUEST-INVALID-"+strings.ToUpper(field), derived, "A body whose "+field+" has a wrong type or value does not create a test.",
			"The field's type and values are stated, and they apply to the request too.",
			"Endpoints / Inbox placement tests; Resources and their fields", "A valid body is sent with values of each other type, values just outside the set or the bounds, and malformed values. "+
				"A value that servers convert, such as true for the number 1, may be accepted if the response does not show it as it was sent.", CreatePlacementTest)
	}
	notUUID := func(id, what, on string) {
		refuse(id, derived, what+" that is not a UUID is not accepted.", "The type is stated.", "Endpoints / "+MustOperation(on).Section,
			"Values of other types, words and malformed UUIDs are sent.", on)
	}
	refuse("REQUEST-REQUIRED-VARIABLES", stated, "A body without variables does not add variables.", "",
		"Endpoints / Campaigns", "An empty object is sent.", AddCampaignVariables)
	refuse("REQUEST-INVALID-VARIABLES", derived, "Variables that are not an array of strings are not accepted.",
		"The type is stated.", "Endpoints / Campaigns", "Values of other types, and arrays with such items, are sent.", AddCampaignVariables)
	notUUID("REQUEST-INVALID-ID", "A lead id", MoveLead)
	notUUID("REQUEST-INVALID-SUBSEQUENCE_ID", "A subsequence_id", MoveLead)
	refuse("REQUEST-EMAILS-EMPTY", stated, "An empty list of emails does not move accounts.", "",
		"Limits; Endpoints / Accounts", "An empty array is sent.", MoveAccounts)
	refuse("REQUEST-INVALID-ACCOUNT_EMAILS", derived, "An emails member that is not an array of email addresses is not accepted.",
		"The type is stated.", "Endpoints / Accounts", "Values of other types, and arrays with such items, are sent.", MoveAccounts)
	notUUID("REQUEST-INVALID-SOURCE_WORKSPACE_ID", "A source_workspace_id", MoveAccounts)
	notUUID("REQUEST-INVALID-DESTINATION_WORKSPACE_ID", "A destination_workspace_id", MoveAccounts)
	return append(table, Requirement{ID: "REQUEST-NO-EFFECT", Level: derived, Group: GroupRequests, Profile: ProfileWrite,
		Statement: "A request that is rejected because a part of it is invalid changes nothing.",
		Reasoning: "The response reports an error instead of the effect that a 200 reports.",
		Section:   "Endpoints",
		Method: "Deletions name a UUID with one more character, or have a body. Account moves name a number, an unknown account or an invalid workspace beside a valid account. " +
			"After those that are rejected, the test, the subsequence or the account is looked up. Creations are judged by the requirements on their fields.",
		Operations: append([]string{MoveAccounts}, deletingOps()...)})
}

// CreateRequired and CreateOptional are the fields of the body that creates an inbox
// placement test.
var (
	CreateRequired = MustOperation(CreatePlacementTest).Required
	CreateOptional = MustOperation(CreatePlacementTest).Optional
)

// CreateReadOnly are the resource's fields that a body cannot set.
var CreateReadOnly = []string{"id", "organization_id", "recipients", "timestamp_created"}

// ErrorText maps a status to the `error` member that the table of the section
// Errors gives it.
var ErrorText = map[int]string{
	401: "Unauthorized",
	402: "Payment Required",
	404: "Not Found",
	429: "Too Many Requests",
}

// errorRequirements are the requirements on 401, 402, 404 and 429.
func errorRequirements() []Requirement {
	kinds := []struct {
		status  int
		profile Profile
		how     string
		ops     []string
	}{
		{401, ProfileScopes, "requests without valid authorization", allOps()},
		{402, ProfileBilling, "valid requests for a workspace without a paid plan", allOps()},
		{404, ProfileRead, "requests whose path names a resource that does not exist", pathIDOps()},
		{429, ProfileRateLimit, "requests beyond the rate limit", allOps()},
	}
	var table []Requirement
	for _, k := range kinds {
		status := strconv.Itoa(k.status)
		add := func(part string, level Level, statement, reasoning string) {
			table = append(table, Requirement{
				ID: "ERROR-" + status + "-" + part, Level: level, Group: GroupErrors, Profile: k.profile,
				Statement: statement, Reasoning: reasoning, Section: "Errors",
				Method: "Every " + status + " response in any check is validated. The checks provoke it with " + k.how + ".", Operations: k.ops,
			})
		}
		add("BODY", stated, "The body of a "+status+" response is a JSON object.", "")
		add("CONTENT_TYPE", derived, "A "+status+" response declares JSON in its Content-Type.",
			"Error responses are JSON objects, and clients rely on the header to recognize JSON.")
		add("STATUSCODE", stated, "The statusCode of a "+status+" response is the number "+status+".", "")
		add("ERROR", stated, "The error of a "+status+" response is the string “"+ErrorText[k.status]+"”.", "")
		add("MESSAGE", stated, "The message of a "+status+" response is a non-empty string.", "")
	}
	return join(table, []Requirement{
		{ID: "NOT-FOUND", Level: stated, Group: GroupErrors, Profile: ProfileRead,
			Statement: "A valid request whose path names an unknown resource gets 404.",
			Section:   "Errors", Method: "A new version 7 UUID replaces the id.", Operations: pathIDOps()},
		unknownInBody("NOT-FOUND-LEAD", "Moving an unknown lead is rejected.", "the lead's id"),
		unknownInBody("NOT-FOUND-SUBSEQUENCE", "Moving an existing lead to an unknown subsequence is rejected.", "subsequence_id"),
		{ID: "BILLING-402", Level: stated, Group: GroupBilling, Profile: ProfileBilling,
			Statement: "A valid request for a workspace without an active paid plan gets 402.",
			Section:   "Errors", Method: "A key of the unpaid workspace sends an otherwise valid request about that workspace's own data.", Operations: allOps()},
	})
}

// unknownInBody says that a lead move cannot be served if its body names what does not
// exist. The 404 of the section Errors is for the requested resource, which the path names.
func unknownInBody(id, statement, replaced string) Requirement {
	return Requirement{ID: id, Level: derived, Group: GroupErrors, Profile: ProfileWrite, Statement: statement,
		Reasoning: "What does not exist cannot be moved, nor be moved to. The status of the rejection is not shown.",
		Section:   "Errors; Endpoints / Leads",
		Method:    "A new version 7 UUID replaces " + replaced + ". The response must be neither 2xx nor 5xx. Its status is observed.", Operations: []string{MoveLead}}
}

// lookedUpOps returns the operations with scopes whose effect a get or a list shows.
func lookedUpOps() []string { return ops(Operation.Changes) }

// seenOps returns the operations whose effect a further request shows.
func seenOps() []string { return append([]string{MoveAccounts}, lookedUpOps()...) }

// namedOps returns the operations whose request names a resource that another workspace may
// own. A move of accounts is for the admin of both workspaces.
func namedOps() []string {
	return ops(func(o Operation) bool { return len(o.Names) > 0 && o.ID != MoveAccounts })
}

// deletingOps returns the operations that delete what their path names.
func deletingOps() []string { return ops(Operation.Deletes) }

func rateRequirements() []Requirement {
	return []Requirement{
		{ID: "RATE-429", Level: stated, Group: GroupRate, Profile: ProfileRateLimit,
			Statement: "A request beyond the rate limit gets 429.",
			Section:   "Errors; Limits", Method: "Requests with the profile's rate-limit key exceed the declared limit within its window, up to the profile's request budget. No excess request may get another error.", Operations: allOps()},
		{ID: "RATE-NO-EFFECT", Level: derived, Group: GroupRate, Profile: ProfileRateLimit,
			Statement: "A request that is rejected because of the rate limit changes nothing.",
			Reasoning: "The response reports an error instead of the change that a 200 reports.",
			Section:   "Errors; Limits", Method: "Valid changes are sent while lists have driven the profile's rate-limit key over its limit. Once the limit's period has passed, the tests, the subsequences or the account are looked up.", Operations: seenOps()},
		{ID: "RATE-RESUMES", Level: derived, Group: GroupRate, Profile: ProfileRateLimit,
			Statement: "After the limit's period, the same valid request is served again.",
			Reasoning: "A rate limit counts requests per period. A key that is rejected forever is revoked, not limited.",
			Section:   "Limits", Method: "After a 429 the request is retried, following Retry-After or backing off, until it is served.", Operations: listOps()},
	}
}
