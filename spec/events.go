package spec

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
