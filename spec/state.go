package spec

import (
	"strings"
)

// stateRequirements say that reads show earlier writes.
func stateRequirements() []Requirement {
	var table []Requirement
	add := func(id string, level Level, statement, reasoning, section, method string, on ...string) {
		table = append(table, Requirement{ID: id, Level: level, Group: GroupState, Profile: ProfileWrite,
			Statement: statement, Reasoning: reasoning, Section: section, Method: method, Operations: on})
	}
	const tests = "Endpoints / Inbox placement tests"

	stored := func(field, method string) {
		add("STATE-CREATE-"+strings.ToUpper(field), derived, "A created test keeps the "+field+" of the request.",
			"Create stores the test with the fields of its body. Create, get and list return that test.",
			tests, method+" The create response, a get and a walk of the list must show the value. Empty and very long texts may be rejected.",
			CreatePlacementTest, GetPlacementTest, ListPlacementTests)
	}
	for _, field := range CreateRequired {
		stored(field, "Tests are created with each kind of value that the field may have.")
	}
	for _, field := range CreateOptional {
		if field != "run_immediately" { // an instruction, not a field of the resource
			stored(field, "Tests are created with each kind of value that this optional field may have.")
		}
	}
	add("STATE-CREATE-RUN_IMMEDIATELY", stated, "A test may be created with run_immediately true or false.", "", tests,
		"A test is created with each value.", CreatePlacementTest)
	add("STATE-CREATE-NULL", stated, "A test may be created with null in every nullable field.", "",
		"Resources and their fields / Inbox placement test", "A test is created with all of them null.", CreatePlacementTest)
	add("STATE-CREATE-DISTINCT", derived, "Two create requests make two tests with different ids, one request makes one, and no other test changes.",
		"An id identifies one test.", tests, "The same body is sent twice. Both tests must be found. A test that runs at once must be the only one of its name. The tests that existed before must keep what a server does not change by itself. No other list loses a row.", CreatePlacementTest)
	for _, field := range CreateReadOnly {
		add("STATE-READ_ONLY-"+strings.ToUpper(field), stated, "A body cannot set the read-only field "+field+".", "",
			"Resources and their fields / Inbox placement test",
			"A test is created with a value for the field. The server must reject it or ignore the value.", CreatePlacementTest)
	}
	add("STATE-GET-LIST", derived, "The list and a get show the same test.",
		"Both return the test with that id.", tests, "Several rows of the list are read one by one. Every field that both show must be equal. The response to a creation shows the same time of creation as a get, to the minute.", gettingOps()...)
	add("STATE-DELETE-ANSWER", stated, "A delete returns the deleted resource.", "", "Endpoints",
		"Tests that were just created, one with every optional field, and a subsequence to which a lead was moved are deleted. The response must be that resource.", deletingOps()...)
	add("STATE-DELETE-GET", derived, "A get of a deleted test gets 404.",
		"The requested resource no longer exists.", tests, "A test is created, deleted and requested again, also with its metadata.", DeletePlacementTest)
	add("STATE-DELETE-LIST", derived, "A deleted resource is no longer listed.",
		"The list shows existing resources.", "Endpoints", "The list is walked after the deletion.", deletingOps()...)
	add("STATE-DELETE-AGAIN", derived, "Deleting a deleted resource gets 404, and it stays deleted.",
		"The requested resource no longer exists.", "Endpoints; Errors", "The delete request is repeated. The resource must not show again.", deletingOps()...)
	add("STATE-DELETE-OTHERS", derived, "Deleting one resource neither removes nor changes others.",
		"The operation deletes the resource with that id.", "Endpoints", "A resource between an older and a newer one is deleted, and a test beside one of the same body. The others must still be listed, with the values that a server does not change by itself. No other list loses a row, except for rows that mention the deleted resource.", deletingOps()...)
	add("STATE-DELETE-MOVE", derived, "Moving a lead to a deleted subsequence is rejected.",
		"The subsequence no longer exists. The status of the rejection is not shown.", "Endpoints / Leads; Errors",
		"A subsequence is deleted and named in a move. The response must be neither 2xx nor 5xx.", MoveLead)
	add("META-TRUE", stated, "A get with with_metadata=true shows metadata.", "", tests, "A created test is read with the parameter.", GetPlacementTest)
	add("META-FALSE", stated, "A get with with_metadata=false shows no metadata.", "", tests, "A created test is read with the parameter.", GetPlacementTest)
	add("META-ABSENT", stated, "A get without with_metadata shows no metadata.", "", tests, "A created test is read without the parameter.", GetPlacementTest)
	add("META-ELSEWHERE", stated, "Only a get shows metadata.", "", "Resources and their fields / Inbox placement test",
		"Every test in a response of another operation is checked.", CreatePlacementTest, ListPlacementTests, DeletePlacementTest)
	add("VARIABLES-CAMPAIGN", stated, "Adding variables returns the campaign named in the path.", "", "Endpoints / Campaigns",
		"The id in the response is checked, for one and for several variables. The name and the creation time stay as they are, also while variables are added to other campaigns. No list loses a row.", AddCampaignVariables)
	add("LEAD-MOVE-LEAD", stated, "Moving a lead returns the lead named in the body.", "", "Endpoints / Leads",
		"The id in the response is checked. The name, the address and the creation time must be the same in each move of the lead, also after moves of other leads.", MoveLead)
	add("LEAD-MOVE-SUBSEQUENCE", stated, "A moved lead's subsequence_id is the destination subsequence.", "",
		"States and transitions; Endpoints / Leads", "A lead is moved to one subsequence, then to another, then back. The subsequences stay as they are, and no list loses a row.", MoveLead)
	return append(table, Requirement{ID: "ACCOUNTS-MOVED", Level: derived, Group: GroupState, Profile: ProfileAdmin,
		Statement: "After a move the accounts are in the destination workspace and can be moved back from there.",
		Reasoning: "The operation moves the accounts, so moving them back is a valid request.",
		Section:   "Endpoints / Accounts", Method: "One account, then several at once, are moved there and back one by one. Each move must get 200. A server that also accepts moves from a wrong workspace cannot show where an account is.", Operations: []string{MoveAccounts}})
}

// RetryFields are the fields of a webhook event that rule 2 of the section Events
// explains for a failed attempt, and that every failed attempt has.
var RetryFields = []string{"will_retry", "retry_count", "retry_group_id"}

// EventFailed returns the requirement that a failed attempt has one of RetryFields.
func EventFailed(field string) ID { return ID("EVENT-FAILED-" + strings.ToUpper(field)) }

// eventRequirements are the requirements between fields of one row or of
// related rows: those of the section Events, and dates that repeat a timestamp.
func eventRequirements() []Requirement {
	event := func(id string, level Level, statement, reasoning, method string) Requirement {
		return Requirement{ID: id, Level: level, Group: GroupState, Profile: ProfileRead, Statement: statement, Reasoning: reasoning,
			Section: "Events, rules 1 and 2", Method: method, Operations: []string{ListWebhookEvents}}
	}
	failed := func(field, meaning string) Requirement {
		return event(string(EventFailed(field)), stated, "A failed attempt has "+field+", which "+meaning+".", "", "Every failed attempt seen is checked.")
	}
	return []Requirement{
		{ID: "DATE-OF-TIMESTAMP", Level: derived, Group: GroupState, Profile: ProfileRead,
			Statement: "timestamp_created_date is the UTC day of timestamp_created.",
			Reasoning: "Timestamps are UTC, so the date of the creation timestamp is that day.",
			Section:   "Resources and their fields", Method: "The two fields of every row seen are compared.",
			Operations: ops(func(o Operation) bool { return o.Answer == Page && o.has("timestamp_created_date") })},
		failed("will_retry", "tells whether another attempt is planned"),
		failed("retry_count", "counts retries"),
		failed("retry_group_id", "is shared by the attempts of the delivery"),
		event("EVENT-NEXT-RETRY", stated, "If will_retry of a failed attempt is true, timestamp_next_retry is present and not before timestamp_created.", "",
			"Every failed attempt with will_retry true is checked."),
		event("EVENT-GROUP-COUNT", derived, "Within a retry group, retry_count of the failed attempts never decreases over time, nor stays below the number of their retries.",
			"It counts retries, and a later attempt follows at least as many.",
			"The failed attempts of a walk are grouped and sorted by time. Equal counts must reach the number of retries, which a server may show in each attempt."),
		event("EVENT-RETRY-TRUE", stated, "retry_successful of a failed attempt is true only if a later attempt of the group succeeded.", "",
			"The attempts of a whole walk are grouped. The attempt that succeeded may show in the next walk."),
		event("EVENT-RETRY-FALSE", derived, "If a later attempt of its group succeeded, a failed attempt's retry_successful is not false.",
			"The field reports whether a retry later succeeded.", "The attempts of a walk are grouped and sorted by time."),
	}
}
