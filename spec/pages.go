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
