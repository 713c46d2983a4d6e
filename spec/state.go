package spec

import (
	"strings"
)

// stateRequirements say that what is written is what is read afterwards.
func stateRequirements() []Requirement {
	var table []Requirement
	add := func(id string, level Level, statement, reasoning, section, method string, on ...string) {
		table = append(table, Requirement{ID: id, Level: level, Group: GroupState, Profile: ProfileWrite,
			Statement: statement, Reasoning: reasoning, Section: section, Method: method, Operations: on})
	}
	const tests = "Endpoints / Inbox placement tests"

	stored := func(field, method string) {
		add("STATE-CREATE-"+strings.ToUpper(field), Derived, "A created test keeps the "+field+" that was sent.",
			"Create stores the test with the fields of its body; the answers of create, get and list are that test.",
			tests, method+" The answer of create, a get and a walk of the list must show the value.",
			CreatePlacementTest, GetPlacementTest, ListPlacementTests)
	}
	for _, field := range CreateRequired {
		stored(field, "A test is created from required fields alone.")
	}
	for _, field := range CreateOptional {
		if field != "run_immediately" { // an instruction, not a field of the resource
			stored(field, "A test is created with this optional field.")
		}
	}
	add("STATE-CREATE-RUN_IMMEDIATELY", Stated, "A test may be created with run_immediately, true or false.", "", tests,
		"A test is created with either value.", CreatePlacementTest)
	add("STATE-CREATE-NULL", Stated, "A test may be created with null in the fields that may be null.", "",
		"Resources and their fields / Inbox placement test", "A test is created with all of them null.", CreatePlacementTest)
	add("STATE-CREATE-DISTINCT", Derived, "Two creations make two tests with ids of their own.",
		"An id identifies one test.", tests, "The same body is sent twice; both tests must be found.", CreatePlacementTest)
	for _, field := range CreateReadOnly {
		add("STATE-READ_ONLY-"+strings.ToUpper(field), Stated, "A body cannot set "+field+", which is read-only.", "",
			"Resources and their fields / Inbox placement test",
			"A test is created with a value for the field: it must be refused, or the test must not have taken that value.", CreatePlacementTest)
	}
	add("STATE-GET-LIST", Derived, "A test looks the same in the list and in a get.",
		"Both answer with the test of that id.", tests, "Several rows of the list are read one by one; every field that both show must be equal.", GetPlacementTest)
	add("STATE-DELETE-ANSWER", Stated, "Deleting answers with the resource that was deleted.", "", "Endpoints",
		"A test that was just created, and a subsequence as the list showed it, are deleted: the answer must be that resource.", DeletePlacementTest, DeleteSubsequence)
	add("STATE-DELETE-GET", Derived, "A deleted test is answered with 404.",
		"The requested resource does not exist any more.", tests, "A test is created, deleted and asked for.", DeletePlacementTest)
	add("STATE-DELETE-LIST", Derived, "What was deleted is gone from the list.",
		"The list shows what exists.", "Endpoints", "The list is walked after the deletion.", DeletePlacementTest, DeleteSubsequence)
	add("STATE-DELETE-AGAIN", Derived, "Deleting what was deleted is answered with 404.",
		"The requested resource does not exist any more.", "Endpoints; Errors", "The deletion is repeated.", DeletePlacementTest, DeleteSubsequence)
	add("STATE-DELETE-OTHERS", Derived, "Deleting one resource leaves the others in their place.",
		"The operation deletes the resource of that id.", "Endpoints", "One resource among an older and a younger one is deleted; the others must still be on the list.", DeletePlacementTest, DeleteSubsequence)
	add("STATE-DELETE-MOVE", Derived, "A lead cannot be moved to a subsequence that was deleted: 404.",
		"The requested resource does not exist any more.", "Endpoints / Leads; Errors", "A subsequence is deleted and named in a move.", MoveLead)
	add("META-TRUE", Stated, "A get with with_metadata=true shows metadata.", "", tests, "A created test is read with the parameter.", GetPlacementTest)
	add("META-FALSE", Stated, "A get with with_metadata=false shows no metadata.", "", tests, "A created test is read with the parameter.", GetPlacementTest)
	add("META-ABSENT", Stated, "A get without with_metadata shows no metadata.", "", tests, "A created test is read without the parameter.", GetPlacementTest)
	add("META-ELSEWHERE", Stated, "Only a get shows metadata.", "", "Resources and their fields / Inbox placement test",
		"Every test in an answer of another operation is looked at.", CreatePlacementTest, ListPlacementTests, DeletePlacementTest)
	add("VARIABLES-CAMPAIGN", Stated, "Adding variables answers with the campaign that the path names.", "", "Endpoints / Campaigns",
		"The answer's id is compared, for one and for several variables.", AddCampaignVariables)
	add("LEAD-MOVE-LEAD", Stated, "Moving a lead answers with the lead that the body names.", "", "Endpoints / Leads",
		"The answer's id is compared.", MoveLead)
	add("LEAD-MOVE-SUBSEQUENCE", Stated, "A moved lead's subsequence_id is the subsequence that it was moved to.", "",
		"States and transitions; Endpoints / Leads", "A lead is moved to one subsequence, then to another.", MoveLead)
	return append(table, Requirement{ID: "ACCOUNTS-MOVED", Level: Derived, Group: GroupState, Profile: ProfileAdmin,
		Statement: "After a move the accounts are in the destination workspace: they can be moved back from there.",
		Reasoning: "The operation moves the accounts; a move back is then a valid request.",
		Section:   "Endpoints / Accounts", Method: "One account, then several at once, are moved there and, one by one, back; each move must be answered with 200. A server that then does not refuse to move an account from where it is not cannot show where it was.", Operations: []string{MoveAccounts}})
}

// eventRequirements are the rules between the fields of rows: those of the
// section Events, and dates that repeat a timestamp.
func eventRequirements() []Requirement {
	event := func(id string, level Level, statement, reasoning, method string) Requirement {
		return Requirement{ID: id, Level: level, Group: GroupState, Profile: ProfileRead, Statement: statement, Reasoning: reasoning,
			Section: "Events, rules 1 and 2", Method: method, Operations: []string{ListWebhookEvents}}
	}
	return []Requirement{
		{ID: "DATE-OF-TIMESTAMP", Level: Derived, Group: GroupState, Profile: ProfileRead,
			Statement: "timestamp_created_date is the day of timestamp_created, in UTC.",
			Reasoning: "Timestamps are UTC; the date of the creation timestamp can be no other day.",
			Section:   "Resources and their fields", Method: "Every row seen is compared with itself.",
			Operations: []string{ListPlacementReports, ListWebhookEvents}},
		event("EVENT-SUCCESS-FINAL", Derived, "A successful attempt plans no further one: will_retry is not true.",
			"will_retry belongs to the failed attempt: a delivery that succeeded is done.", "Every successful attempt seen is looked at."),
		event("EVENT-NEXT-RETRY", Stated, "A failed attempt whose will_retry is true tells when: timestamp_next_retry is present and not before timestamp_created.", "",
			"Every failed attempt that will be retried is looked at."),
		event("EVENT-GROUP-URL", Derived, "Attempts that share a retry_group_id went to one address.",
			"A retry group is one delivery, and a delivery has one target.", "The attempts of a walk are grouped."),
		event("EVENT-GROUP-COUNT", Derived, "Within a retry group, retry_count never falls as time goes on.",
			"It counts retries; a later attempt has no fewer behind it.", "The attempts of a walk are grouped and put in order of time."),
		event("EVENT-RETRY-TRUE", Stated, "retry_successful is true only where a later attempt of the group succeeded.", "",
			"The attempts of a whole walk are grouped; rows whose group may reach beyond what was seen are left out."),
		event("EVENT-RETRY-FALSE", Derived, "A failed attempt with a later success in its group does not say that retry_successful is false.",
			"The field reports whether a retry later succeeded.", "The attempts of a walk are grouped and put in order of time."),
	}
}
