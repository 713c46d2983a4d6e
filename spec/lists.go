package spec

// pageRequirements are the requirements of the section Pagination.
func pageRequirements() []Requirement {
	const section = "Pagination (list endpoints)"
	page := func(id string, level Level, statement, reasoning, method string, on []string) Requirement {
		return Requirement{ID: id, Level: level, Group: GroupPages, Profile: ProfileRead,
			Statement: statement, Reasoning: reasoning, Section: section, Method: method, Operations: on}
	}
	ordered := ops(func(o Operation) bool { return o.Answer == Page && o.has("id") })
	sorted := ops(func(o Operation) bool { return o.Takes("sort_order") })
	return []Requirement{
		page("PAGE-LIMIT-ACCEPTED", stated, "A limit from 1 to 100 is accepted.", "",
			"limit 1, 2, 7, 99 and 100 must each get 200.", pagedOps()),
		page("PAGE-LIMIT-HONOURED", stated, "A page never has more items than the requested limit.", "",
			"The items are counted on pages with limit 1, 2, 7, 99 and 100, and on all pages of walks.", pagedOps()),
		page("PAGE-LIMIT-ABSENT", derived, "Without limit, the list is served with at most 100 items per page.",
			"limit is a query parameter with a default. No limit above 100 exists, so the default cannot be higher.",
			"The list is requested without limit. The default itself is observed.", pagedOps()),
		page("PAGE-LIMIT-OUT-OF-RANGE", derived, "An out-of-range limit is rejected with a 4xx or clamped. It never yields more than 100 items or a 5xx.",
			"limit is an integer from 1 to 100. The specification does not say whether other values are rejected or clamped.",
			"limit 0, -1, 101, 1000, a huge number, a fraction, a word, a control character, an empty and a blank text are sent.", pagedOps()),
		page("PAGE-CURSOR-VALUE", stated, "A cursor is a UUID, a timestamp or an email address.", "",
			"Every non-empty cursor of a walk is parsed. Its kind is observed.", ops(func(o Operation) bool { return o.Cursor == cursorFree })),
		page("PAGE-CURSOR-TIMESTAMP", stated, "The cursor of a timestamp-based list is a timestamp.", "",
			"Every non-empty cursor of a walk is parsed.", timedOps()),
		page("PAGE-WALK-ENDS", derived, "Following the cursors ends.",
			"The cursor leads to the next page, and a list has a last page. A repeated cursor, or pages without a new row, would keep a client in a loop.",
			"Walks use several page sizes. No cursor may repeat on a page with rows.", pagedOps()),
		page("PAGE-WALK-ONCE", derived, "A walk shows no row twice.",
			"The next page holds the rows after the cursor, in one order.",
			"Walks use several page sizes. For rows without an id, no walk may show a row more often than another walk.", pagedOps()),
		page("PAGE-WALK-COMPLETE", derived, "A walk omits no row: every page size shows the same rows.",
			"The next page holds all rows after the cursor, in one order. limit only sets how many at a time.",
			"Walks with several page sizes, some of them changing, are compared. Rows that appear or disappear in the meantime are ignored.", pagedOps()),
		page("PAGE-WALK-SEQUENCE", derived, "Every page size shows the rows in the same order.",
			"Results are sorted by id, whatever the page size.",
			"The rows that the walks share are compared position by position.", pagedOps()),
		page("LIST-ROWS-ONCE", derived, "A list without pages shows each row once.",
			"An id names one thing, and the list holds all of them at once.",
			"The ids of the list are counted.", plainOps()),
		page("LIST-SAME-VALUES", derived, "A list shows a row with the same values, whatever the page size, the filters and the order.",
			"The parameters select, order and divide rows. Only the flags of reports leave out parts of a row.",
			"Pages of generated queries are compared with the whole list. A value that changed meanwhile does not count.", ordered),
		page("PAGE-ORDER", stated, "Rows are sorted by id, in one direction for the whole walk.", "",
			"The ids of a walk are compared row by row, within and across pages. The direction is observed.", ordered),
		page("PAGE-INSERT", derived, "Inserting rows during a walk makes it neither repeat nor omit an existing row.",
			"The next page holds the rows after the cursor, not the rows from a position.",
			"Tests are created between the pages of a walk.", changedOps(func(change Operation) bool { return !change.Deletes() })),
		page("PAGE-REMOVE", derived, "Deleting rows during a walk makes it neither repeat nor omit a remaining row.",
			"The next page holds the rows after the cursor, not the rows from a position.",
			"Tests that the run created, and a subsequence that it may delete, are deleted between the pages of a walk, including the row that a cursor points to.",
			changedOps(Operation.Deletes)),
		page("SORT-ASC", stated, "sort_order=asc sorts by id, ascending.", "", "A walk with sort_order=asc.", sorted),
		page("SORT-DESC", stated, "sort_order=desc sorts by id, descending, and shows the same rows.", "", "A walk with sort_order=desc.", sorted),
	}
}

// filterRequirements are the requirements on query parameters that select rows
// or parts of rows. Each filter is compared with an unfiltered walk in both directions.
func filterRequirements() []Requirement {
	var table []Requirement
	add := func(id string, level Level, statement, reasoning, method string, on ...string) {
		table = append(table, Requirement{ID: id, Level: level, Group: GroupFilters, Profile: ProfileRead,
			Statement: statement, Reasoning: reasoning, Section: "Endpoints / " + MustOperation(on[0]).Section, Method: method, Operations: on})
	}
	// both adds the two directions of a filter whose selection is fully stated.
	both := func(word, selects string) {
		const method = "A filtered walk is compared with unfiltered walks before and after it, for a few of the values that occur in them."
		add("FILTER-"+word+"-EXTRA", stated, "The filter shows only "+selects+".", "", method, withFilter(word)...)
		add("FILTER-"+word+"-MISSING", stated, "The filter shows all of "+selects+".", "", method, withFilter(word)...)
	}

	searched := withFilter("SEARCH")
	const openSearch = "A search string selects rows. The specification leaves open which fields it matches and how, so only results that every reading shares are checked."
	add("FILTER-SEARCH-EXTRA", derived, "A search shows no row that contains none of the words in the string.", openSearch,
		"Searches use names that occur and a string that occurs in no row. Punctuation separates words. Accents and endings do not count.", searched...)
	add("FILTER-SEARCH-MISSING", derived, "A search for the full name of a row (for a label, its label) shows that row.", openSearch,
		"Searches use the names of several rows.", searched...)
	for i := range table { // they are about several lists
		table[i].Section = "Endpoints"
	}
	members := withFilter("SEARCH_MEMBER")
	add("FILTER-SEARCH_MEMBER-EXTRA", stated, "A search shows no member whose name and email contain none of the words in the string.", "",
		"Searches use email addresses, names, and a string that occurs in no row. Punctuation separates words. Accents and endings do not count.", members...)
	add("FILTER-SEARCH_MEMBER-MISSING", stated, "A search for a member's email address or name shows that member.", "",
		"Searches use the email addresses of several members, and the usual forms of a name, one of which must find the member.", members...)
	both("SEARCH_URL", "the attempts for exactly that webhook URL")
	both("SEARCH_EMAIL", "the attempts for exactly that lead email")

	both("STATUS", "the tests with that status")
	both("TEST", "the reports of that test")
	both("PARENT", "the subsequences of that campaign")
	add("FILTER-PARENT_NOT-EXTRA", stated, "Excluding a campaign shows none of its subsequences.", "",
		"A few campaigns that occur in an unfiltered walk are excluded, one at a time.", withFilter("PARENT_NOT")...)
	both("ACCEPTED", "the members with that value of accepted")
	both("RESOURCE_IDS", "the mappings of the resources in the comma-separated list")
	both("INTEREST", "the labels with that interest status")
	both("ENRICHMENT", "the lists with that value of has_enrichment_task")
	both("SUCCESS", "the attempts with that value of success")

	const openWindow = "A window has a start and an end. The specification does not say whether they are inclusive, so rows at the exact ends are ignored."
	const cutTimes = "Windows start and end at times taken from the rows of an unfiltered walk."
	add("FILTER-WINDOW-START-EXTRA", derived, "The window shows no report created before its start.", openWindow, cutTimes, withFilter("WINDOW-START")...)
	add("FILTER-WINDOW-START-MISSING", derived, "The window shows every report created after its start (and before its end).", openWindow, cutTimes, withFilter("WINDOW-START")...)
	add("FILTER-WINDOW-END-EXTRA", derived, "The window shows no report created after its end.", openWindow, cutTimes, withFilter("WINDOW-END")...)
	add("FILTER-WINDOW-END-MISSING", derived, "The window shows every report created before its end (and after its start).", openWindow, cutTimes, withFilter("WINDOW-END")...)
	const cutDays = "Windows start and end on days that occur in an unfiltered walk."
	add("FILTER-DAYS-START-EXTRA", stated, "The window shows no attempt from before its first day.", "", cutDays, withFilter("DAYS-START")...)
	add("FILTER-DAYS-START-MISSING", stated, "The window shows every attempt from after its first day (up to its last day).", "", cutDays, withFilter("DAYS-START")...)
	add("FILTER-DAYS-START-INCLUSIVE", stated, "The window includes the attempts of its first day.", "", cutDays, withFilter("DAYS-START")...)
	add("FILTER-DAYS-END-EXTRA", stated, "The window shows no attempt from after its last day.", "", cutDays, withFilter("DAYS-END")...)
	add("FILTER-DAYS-END-MISSING", stated, "The window shows every attempt from before its last day (back to its first day).", "", cutDays, withFilter("DAYS-END")...)
	add("FILTER-DAYS-END-INCLUSIVE", stated, "The window includes the attempts of its last day.", "", cutDays, withFilter("DAYS-END")...)

	for _, o := range operations {
		for _, flag := range o.Filters {
			if flag.Selects() {
				continue
			}
			add(string(flag.Requirement("TRUE")), stated, "With the flag true, no report has "+flag.Fields[0]+", and the rows are the same.", "",
				"The list with the flag is compared with the list without it.", o.ID)
			add(string(flag.Requirement("DEFAULT")), stated, "The flag's default is false: without it, reports show "+flag.Fields[0]+" as they do with false.", "",
				"The list with the flag false is compared with the list without it. Some report must show it.", o.ID)
		}
	}

	add("FILTER-COMBINED", derived, "Filters together show all rows that each of them selects.",
		"Each filter selects rows by a sentence of its own, and no sentence restricts another.",
		"Queries with several filters are compared with the whole list. Rows of which one filter says nothing do not count.",
		filteredOps(2, Filter.Selects)...)
	table[len(table)-1].Section = "Pagination (list endpoints)"
	add("FILTER-WALK", derived, "A filtered list shows each of its rows exactly once, sorted by id, whatever the page size.",
		"Filters select rows and pagination divides them. Neither sentence restricts the other.",
		"Each filter is walked in small pages and in pages of 100, which are compared. The filter and the order must hold on every page.",
		filteredOps(1, Filter.Selects)...)
	table[len(table)-1].Section = "Pagination (list endpoints)" // it is about all of them
	return table
}

// MaxLimit is the highest limit, and the most rows of a page (section Limits).
const MaxLimit = 100
