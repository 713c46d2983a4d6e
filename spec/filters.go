package spec

// filterRequirements are the query parameters that select rows or parts of
// rows. Each is judged in both directions against an unfiltered walk.
func filterRequirements() []Requirement {
	var table []Requirement
	add := func(id string, level Level, statement, reasoning, method string, on ...string) {
		table = append(table, Requirement{ID: id, Level: level, Group: GroupFilters, Profile: ProfileRead,
			Statement: statement, Reasoning: reasoning, Section: "Endpoints / " + MustOperation(on[0]).Section, Method: method, Operations: on})
	}
	// both adds the two directions of a filter whose selection is fully stated.
	both := func(name, op, selects string) {
		const method = "A filtered walk is compared with unfiltered walks before and after it, for every value that occurs in them (at most a handful)."
		add("FILTER-"+name+"-EXTRA", Stated, "The filter shows no row other than "+selects+".", "", method, op)
		add("FILTER-"+name+"-MISSING", Stated, "The filter leaves out none of "+selects+".", "", method, op)
	}

	searched := []string{ListPlacementTests, ListSubsequences, ListLeadLabels, ListLeadLists}
	const openSearch = "A search string selects rows; which fields it is held against and how is left open, so only what every reading agrees on is judged."
	add("FILTER-SEARCH-EXTRA", Derived, "A search shows no row in which no word of the string occurs anywhere.", openSearch,
		"Names that occur, and a string that occurs in no row, are searched for.", searched...)
	add("FILTER-SEARCH-MISSING", Derived, "A search for the whole name (of a label: the label) of a row shows that row.", openSearch,
		"The names of several rows are searched for.", searched...)
	add("FILTER-SEARCH_MEMBER-EXTRA", Stated, "A search shows no member in whose name and email no word of the string occurs.", "",
		"Email addresses, names and a string that occurs in no row are searched for.", ListMembers)
	add("FILTER-SEARCH_MEMBER-MISSING", Stated, "A search for the email address of a member shows that member.", "",
		"The email addresses of several members are searched for.", ListMembers)
	both("SEARCH_URL", ListWebhookEvents, "the attempts for exactly that webhook URL")
	both("SEARCH_EMAIL", ListWebhookEvents, "the attempts for exactly that lead email")

	both("STATUS", ListPlacementTests, "the tests with that status")
	both("TEST", ListPlacementReports, "the reports of that test")
	both("PARENT", ListSubsequences, "the subsequences of that campaign")
	add("FILTER-PARENT_NOT-EXTRA", Stated, "Excluding a campaign shows none of its subsequences.", "",
		"Every campaign that occurs in an unfiltered walk (at most a handful) is excluded once.", ListSubsequences)
	both("ACCEPTED", ListMembers, "the members whose accepted has that value")
	both("RESOURCE_IDS", ListTagMappings, "the mappings of the resources in the comma-separated list")
	both("INTEREST", ListLeadLabels, "the labels of that interest status")
	both("ENRICHMENT", ListLeadLists, "the lists whose has_enrichment_task has that value")
	both("SUCCESS", ListWebhookEvents, "the attempts whose success has that value")

	const openWindow = "A window is a start and an end; whether they are inclusive is left open here, so rows at the very ends are not judged."
	const cutTimes = "Windows are cut at times taken from the rows of an unfiltered walk."
	add("FILTER-WINDOW-START-EXTRA", Derived, "The window shows no report created before its start.", openWindow, cutTimes, ListPlacementReports)
	add("FILTER-WINDOW-START-MISSING", Derived, "The window leaves out no report created after its start (and before its end).", openWindow, cutTimes, ListPlacementReports)
	add("FILTER-WINDOW-END-EXTRA", Derived, "The window shows no report created after its end.", openWindow, cutTimes, ListPlacementReports)
	add("FILTER-WINDOW-END-MISSING", Derived, "The window leaves out no report created before its end (and after its start).", openWindow, cutTimes, ListPlacementReports)
	const cutDays = "Windows are cut at days that occur in an unfiltered walk."
	add("FILTER-DAYS-START-EXTRA", Stated, "The window shows no attempt of a day before its first.", "", cutDays, ListWebhookEvents)
	add("FILTER-DAYS-START-MISSING", Stated, "The window leaves out no attempt of a day after its first.", "", cutDays, ListWebhookEvents)
	add("FILTER-DAYS-START-INCLUSIVE", Stated, "The window holds the attempts of its first day.", "", cutDays, ListWebhookEvents)
	add("FILTER-DAYS-END-EXTRA", Stated, "The window shows no attempt of a day after its last.", "", cutDays, ListWebhookEvents)
	add("FILTER-DAYS-END-MISSING", Stated, "The window leaves out no attempt of a day before its last.", "", cutDays, ListWebhookEvents)
	add("FILTER-DAYS-END-INCLUSIVE", Stated, "The window holds the attempts of its last day.", "", cutDays, ListWebhookEvents)

	for _, part := range []struct{ id, field string }{
		{"SPAM_ASSASSIN", "spam_assassin_report"},
		{"BLACKLIST", "blacklist_report"},
	} {
		add("FILTER-SKIP_"+part.id+"-TRUE", Stated, "With the flag true, no report carries "+part.field+"; the rows are the same.", "",
			"The list with the flag is compared with the list without.", ListPlacementReports)
		add("FILTER-SKIP_"+part.id+"-DEFAULT", Stated, "The flag's default is false: without it, reports carry "+part.field+" just as with false.", "",
			"The list with the flag false is compared with the list without the flag.", ListPlacementReports)
	}

	add("FILTER-WALK", Derived, "A filtered list, too, shows each of its rows exactly once and in the same order for every page size.",
		"Filters select rows, pagination divides what is selected; neither sentence limits the other.",
		"A filtered walk in small pages is compared with one in pages of 100.",
		ListPlacementTests, ListPlacementReports, ListSubsequences, ListMembers, ListTagMappings, ListLeadLabels, ListLeadLists, ListWebhookEvents)
	return table
}
