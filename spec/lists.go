package spec

// pageRequirements are the rules of the section Pagination.
func pageRequirements() []Requirement {
	const section = "Pagination (list endpoints)"
	page := func(id string, level Level, statement, reasoning, method string, on []string) Requirement {
		return Requirement{ID: id, Level: level, Group: GroupPages, Profile: ProfileRead,
			Statement: statement, Reasoning: reasoning, Section: section, Method: method, Operations: on}
	}
	ordered := ops(func(o Operation) bool { return o.Answer == Page && o.ID != ListDFYOrders })
	timed := []string{ListLeadLabels, ListLeadLists}
	free := ops(func(o Operation) bool { return o.Answer == Page && o.ID != ListLeadLabels && o.ID != ListLeadLists })
	tests := []string{ListPlacementTests}
	return []Requirement{
		page("PAGE-LIMIT-ACCEPTED", Stated, "A limit from 1 to 100 is accepted.", "",
			"limit 1, 2, 7, 99 and 100 must each be answered with 200.", pagedOps()),
		page("PAGE-LIMIT-HONOURED", Stated, "A page never holds more items than the limit that was sent.", "",
			"The pages for limit 1, 2, 7, 99 and 100, and all pages of walks, are counted.", pagedOps()),
		page("PAGE-LIMIT-ABSENT", Derived, "Without a limit the list is served, with at most 100 items a page.",
			"limit is a query parameter with a default; no limit above 100 exists, so no default can be above it.",
			"The list is asked for without limit. The default itself is observed.", pagedOps()),
		page("PAGE-LIMIT-OUT-OF-RANGE", Derived, "A limit out of range is refused with a 4xx or replaced by one in range: never more than 100 items, never a server error.",
			"limit is an integer from 1 to 100; whether another value is refused or clamped is left open.",
			"limit 0, -1, 101, 1000, a huge number, a fraction and a word are sent.", pagedOps()),
		page("PAGE-CURSOR-VALUE", Stated, "A cursor is a UUID, a timestamp or an email address.", "",
			"Every non-empty cursor of a walk is parsed; which of the three it is, is observed.", free),
		page("PAGE-CURSOR-TIMESTAMP", Stated, "The cursor of a timestamp-based list is a timestamp.", "",
			"Every non-empty cursor of a walk is parsed.", timed),
		page("PAGE-WALK-ENDS", Derived, "Following the cursors comes to an end.",
			"The cursor leads to the next page; a list has a last page. A cursor that comes back, or pages without a new row, would lead a client in circles.",
			"Walks with several page sizes; no cursor may repeat on a page with rows.", pagedOps()),
		page("PAGE-WALK-ONCE", Derived, "A walk shows no row twice.",
			"The next page holds the rows after the cursor, in one order.",
			"Walks with several page sizes; for rows without an id, no walk may show a row more often than another walk.", pagedOps()),
		page("PAGE-WALK-COMPLETE", Derived, "A walk leaves no row out: every page size shows the same rows.",
			"The next page holds all rows after the cursor, in one order; limit only says how many at a time.",
			"Walks with several and with changing page sizes are compared; rows that came or went meanwhile do not count.", pagedOps()),
		page("PAGE-WALK-SEQUENCE", Derived, "Every page size shows the rows in the same order.",
			"Results are sorted by id, whatever the page size.",
			"The rows that walks have in common are compared position by position.", pagedOps()),
		page("PAGE-ORDER", Stated, "Rows are sorted by id, in one direction for the whole walk.", "",
			"The ids of walks are compared row by row, inside pages and across them; which direction is observed.", ordered),
		page("PAGE-INSERT", Derived, "Rows that are inserted during a walk do not make it repeat or leave out a row that was there all along.",
			"The next page holds the rows after the cursor, not the rows from a position.",
			"Tests are created between the pages of a walk.", tests),
		page("PAGE-REMOVE", Derived, "Rows that are deleted during a walk do not make it repeat or leave out a row that is still there.",
			"The next page holds the rows after the cursor, not the rows from a position.",
			"Tests of the run, among them the one that a cursor points to, are deleted between the pages of a walk.", tests),
		page("SORT-ASC", Stated, "sort_order=asc sorts by id, ascending.", "", "A walk with sort_order=asc.", tests),
		page("SORT-DESC", Stated, "sort_order=desc sorts by id, descending, and shows the same rows.", "", "A walk with sort_order=desc.", tests),
	}
}

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
