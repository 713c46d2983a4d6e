package oracle

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	"pgregory.net/rapid"

	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/internal/paging"
	"outreach.example/conformance/spec"
)

// tests is a list of placement tests with names and statuses that several of them share.
func tests(t *rapid.T) List {
	n := rapid.IntRange(2, 30).Draw(t, "rows")
	l := List{Operation: spec.MustOperation(spec.ListPlacementTests)}
	for i := range n {
		l.Rows = append(l.Rows, paging.RowOf("", map[string]any{
			"id":            fmt.Sprintf("01900000-0000-7000-8000-%012d", i),
			"name":          rapid.SampledFrom([]string{"Alpha check", "Beta", "Gamma"}).Draw(t, "name"),
			"status":        json.Number(rapid.SampledFrom([]string{"1", "2", "3"}).Draw(t, "status")),
			"email_subject": fmt.Sprint("subject ", i),
		}))
	}
	return l
}

// honest answers a query as a server that conforms.
func honest(l List, q Query) (pages []Page, complete bool) {
	rows := slices.Clone(l.Rows)
	if q.Parameters[profile.ParamSortOrder] == "desc" {
		slices.Reverse(rows)
	}
	rows = slices.DeleteFunc(rows, func(r paging.Row) bool {
		status, byStatus := q.Parameters[profile.ParamStatus]
		term, bySearch := q.Parameters[profile.ParamSearch]
		return byStatus && Scalar(r.Value["status"]) != status || bySearch && !strings.Contains(Scalar(r.Value["name"]), term)
	})
	for i := 0; i < q.Pages; i++ {
		size := q.Sizes[i%len(q.Sizes)]
		end := min(len(rows), size)
		if size == 0 {
			end = min(len(rows), 7)
		}
		pages = append(pages, Page{Page: paging.Page{Limit: size, Rows: slices.Clone(rows[:end])}})
		if rows = rows[end:]; len(rows) == 0 {
			return pages, true
		}
	}
	return pages, false
}

func all(string) bool { return true }

// Whatever is asked, an honest server is as predicted.
func TestHonestListsAreAsPredicted(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := tests(t)
		queries := append(l.Fixed(all, 3), l.Queries(all).Draw(t, "query"))
		for _, q := range queries {
			pages, complete := honest(l, q)
			if c := l.Compare(q, pages, complete); len(c.Mismatches) > 0 {
				t.Fatalf("%+v: %+v", q, c.Mismatches)
			}
		}
	})
}

// Each damage to an honest walk is a mismatch under its requirement.
func TestDamagesAreMismatches(t *testing.T) {
	list := List{Operation: spec.MustOperation(spec.ListPlacementTests)}
	for i := range 9 {
		list.Rows = append(list.Rows, paging.RowOf("", map[string]any{"id": fmt.Sprintf("01900000-0000-7000-8000-%012d", i),
			"name": []string{"Alpha", "Beta"}[i%2], "status": json.Number([]string{"1", "2", "3"}[i%3]), "email_subject": "subject"}))
	}
	of := func(parameters ...string) map[string]string {
		set := map[string]string{}
		for i := 0; i < len(parameters); i += 2 {
			set[parameters[i]] = parameters[i+1]
		}
		return set
	}
	drop := func(pages []Page) { pages[0].Rows = pages[0].Rows[1:] }
	for name, tc := range map[string]struct {
		parameters map[string]string
		size       int
		damage     func(pages []Page)
		want       spec.ID
	}{
		"a row is lost":              {nil, 3, drop, spec.PageWalkComplete},
		"a row comes again":          {nil, 3, func(p []Page) { p[1].Rows[0] = p[0].Rows[2] }, spec.PageWalkOnce},
		"rows are swapped":           {nil, 3, func(p []Page) { r := p[1].Rows; r[0], r[1] = r[1], r[0] }, spec.PageOrder},
		"a page is too long":         {nil, 3, func(p []Page) { p[0].Limit = 2 }, spec.PageLimitHonoured},
		"a value differs":            {nil, 3, func(p []Page) { p[0].Rows[0] = otherSubject(p[0].Rows[0]) }, spec.ListSameValues},
		"a sorted row is lost":       {of("sort_order", "desc"), 3, drop, spec.SortDesc},
		"the order is ignored":       {of("sort_order", "asc"), 9, func(p []Page) { slices.Reverse(p[0].Rows) }, spec.SortAsc},
		"a filtered row is lost":     {of("status", "1"), 9, drop, spec.FilterStatusMissing},
		"a found row is lost":        {of("search", "Alpha"), 9, drop, spec.FilterSearchMissing},
		"a row of both is lost":      {of("status", "1", "search", "Alpha"), 9, drop, spec.FilterCombined},
		"the filter is ignored":      {of("status", "1"), 9, func(p []Page) { p[0].Rows = list.Rows }, spec.FilterStatusExtra},
		"a filtered row comes again": {of("status", "1"), 9, func(p []Page) { p[0].Rows = append(p[0].Rows, p[0].Rows[0]) }, spec.FilterWalk},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			q := Query{Parameters: tc.parameters, Sizes: []int{tc.size}, Pages: 9}
			pages, complete := honest(list, q)
			g.Expect(complete).To(BeTrue())
			tc.damage(pages)
			var found []spec.ID
			for _, m := range list.Compare(q, pages, complete).Mismatches {
				found = append(found, m.Requirement)
			}
			g.Expect(found).To(ContainElement(tc.want))
		})
	}
}

func otherSubject(r paging.Row) paging.Row {
	return paging.RowOf("", map[string]any{"id": r.Key, "name": r.Value["name"], "status": r.Value["status"], "email_subject": "another"})
}

// A walk that ends in the middle of a list is held to the rows before its end only.
func TestPartOfAWalk(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := tests(t)
		q := Query{Sizes: []int{1}, Pages: rapid.IntRange(2, len(l.Rows)).Draw(t, "pages")}
		pages, complete := honest(l, q)
		lost := rapid.IntRange(1, len(pages)-1).Draw(t, "lost") // the first shows the direction
		if len(pages) < 4 || lost > len(pages)-2 || lost < 2 {
			return
		}
		pages = slices.Delete(pages, lost, lost+1)
		if c := l.Compare(q, pages, complete); len(c.Mismatches) == 0 {
			t.Fatalf("page %d of %d is lost: no mismatch", lost, len(pages))
		}
	})
}

// Rows that changed between the walks, or that only one of them shows, are not held
// against a query.
func TestRowsThatChangedMeanwhile(t *testing.T) {
	g := NewWithT(t)
	row := func(n int, subject string) paging.Row {
		return paging.RowOf("", map[string]any{"id": fmt.Sprintf("01900000-0000-7000-8000-%012d", n), "email_subject": subject})
	}
	op := spec.MustOperation(spec.ListPlacementTests)
	l := Between(op, []paging.Row{row(1, "a"), row(2, "a"), row(3, "a")}, []paging.Row{row(1, "a"), row(2, "b"), row(4, "a")})
	g.Expect(l.Rows).To(ConsistOf(row(1, "a")))
	seen := []Page{{Page: paging.Page{Rows: []paging.Row{row(1, "a"), row(2, "c"), row(4, "z"), row(5, "new")}}}}
	g.Expect(l.Compare(Query{}, seen, true).Mismatches).To(BeEmpty())
	seen[0].Rows = []paging.Row{row(3, "z")}
	g.Expect(l.Compare(Query{}, seen, true).Mismatches).To(HaveLen(1), "the row that stayed is missing")
}

// A query sets both ends of a window, in order, or none.
func TestWindowsAreInOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := List{Operation: spec.MustOperation(spec.ListPlacementReports)}
		for i := range 5 {
			l.Rows = append(l.Rows, paging.RowOf("", map[string]any{"id": fmt.Sprint(i), "test_id": "t",
				"timestamp_created": fmt.Sprintf("2026-01-%02dT00:00:00.000Z", rapid.IntRange(1, 28).Draw(t, "day"))}))
		}
		for _, q := range append(l.Fixed(all, 5), l.Queries(all).Draw(t, "query")) {
			start, end := q.Parameters[profile.ParamWindowStart], q.Parameters[profile.ParamWindowEnd]
			if start > end || (start == "") != (end == "") {
				t.Fatalf("window from %q to %q", start, end)
			}
		}
	})
}

// A use beside another filter tells whether the filter is heeded: an honest list shows none of
// the rows that it leaves out, and a list that drops it shows one. Each value of the other
// filter is used.
func TestUsesBesideOtherFiltersTell(t *testing.T) {
	g := NewWithT(t)
	l := List{Operation: spec.MustOperation(spec.ListPlacementTests)}
	for i := range 12 {
		l.Rows = append(l.Rows, paging.RowOf("", map[string]any{"id": fmt.Sprintf("01900000-0000-7000-8000-%012d", i),
			"name": fmt.Sprint("Check ", i), "status": json.Number(fmt.Sprint(1 + i%3))}))
	}
	statuses := map[string]bool{}
	for _, f := range Filters(l.Operation.ID) {
		uses := l.Beside(f, 4, all)
		g.Expect(uses).NotTo(BeEmpty(), f.Title())
		for _, use := range uses {
			without := Query{Parameters: map[string]string{}, Sizes: []int{spec.MaxLimit}, Pages: 1}
			for parameter, value := range use.Query {
				if parameter != f.Key {
					without.Parameters[parameter] = value
				}
			}
			g.Expect(strangersTo(use, l, Query{Parameters: use.Query, Sizes: without.Sizes, Pages: 1})).To(BeEmpty(), "%s", use)
			g.Expect(strangersTo(use, l, without)).NotTo(BeEmpty(), "%s", use)
			statuses[use.Query[profile.ParamStatus]] = true
		}
	}
	g.Expect(statuses).To(And(HaveKey("1"), HaveKey("2"), HaveKey("3")))
}

// strangersTo returns the rows that an honest list shows and the use leaves out.
func strangersTo(use Use, l List, q Query) (strangers []string) {
	pages, _ := honest(l, q)
	for _, row := range pages[0].Rows {
		if id, in := use.Says(row); id != "" && !in {
			strangers = append(strangers, row.Key)
		}
	}
	return strangers
}

// One end of a window is used without the other.
func TestEndsOfWindowsAlone(t *testing.T) {
	g := NewWithT(t)
	l := List{Operation: spec.MustOperation(spec.ListPlacementReports)}
	for i := range 9 {
		l.Rows = append(l.Rows, paging.RowOf("", map[string]any{"id": fmt.Sprintf("01900000-0000-7000-8000-%012d", i),
			"timestamp_created": fmt.Sprintf("2026-01-%02dT00:00:00.000Z", 1+i)}))
	}
	for _, f := range Filters(l.Operation.ID) {
		uses := l.Alone(f, 4)
		g.Expect(len(uses) > 0).To(Equal(f.Key != profile.ParamTest), f.Title())
		for _, use := range uses {
			g.Expect(use.Query).To(And(HaveLen(1), HaveKey(f.Key)))
		}
	}
}

// A row that the list does not show is named, unless it is newer than the list.
func TestRowsThatTheListDoesNotShow(t *testing.T) {
	g := NewWithT(t)
	row := func(n int) paging.Row {
		return paging.RowOf("", map[string]any{"id": fmt.Sprintf("01900000-0000-7000-8000-%012d", n)})
	}
	l := List{Operation: spec.MustOperation(spec.ListPlacementTests), Rows: []paging.Row{row(1), row(3)}}
	seen := []Page{{Page: paging.Page{Rows: []paging.Row{row(1), row(2), row(3), row(4)}}}}
	c := l.Compare(Query{}, seen, true)
	g.Expect(c.Mismatches).To(BeEmpty())
	g.Expect(c.Unlisted).To(ConsistOf(row(2).Key))
}

// Rows without an id have the order of the whole list on pages of every size.
func TestOrderOfRowsWithoutAnID(t *testing.T) {
	g := NewWithT(t)
	row := func(domain string) paging.Row { return paging.RowOf("", map[string]any{"domain": domain}) }
	l := List{Operation: spec.MustOperation(spec.ListDFYOrders), Rows: []paging.Row{row("b"), row("a"), row("c")}}
	pages := func(rows ...paging.Row) []Page { return []Page{{Page: paging.Page{Rows: rows}}} }
	g.Expect(l.Compare(Query{}, pages(row("b"), row("a")), false).Mismatches).To(BeEmpty())
	g.Expect(l.Compare(Query{}, pages(row("c"), row("a"), row("b")), true).Mismatches).To(ConsistOf(HaveField("Requirement", spec.PageWalkSequence)))
}

// A row is searched for words as if all of its texts were in lower case, ASCII or not.
func TestContainsWord(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		letters := rapid.StringOfN(rapid.SampledFrom([]rune("aAbBzZ .İé\n")), 0, 8, -1)
		first, second := letters.Draw(t, "text"), letters.Draw(t, "text in a list")
		word := rapid.StringOfN(rapid.SampledFrom([]rune("aBz.é")), 1, 3, -1).Draw(t, "word")
		row := paging.RowOf("", map[string]any{"id": 1, "a": first, "b": map[string]any{"c": []any{second, nil, true}}})
		want := strings.Contains(strings.ToLower(first), strings.ToLower(word)) || strings.Contains(strings.ToLower(second), strings.ToLower(word))
		for range 2 { // the second time, its text is known
			if got := ContainsWord(row.Text(), "qqq "+word); got != want {
				t.Fatalf("%q and %q contain %q: %t, want %t", first, second, word, got, want)
			}
		}
	})
}

// A search may cut texts at punctuation, drop accents and endings, and look for any word.
func TestRowsThatASearchMayFind(t *testing.T) {
	for _, c := range []struct {
		text, term string
		want       bool
	}{
		{"Domain check", "placement-check", true},
		{"EU accounts", "[EU]", true},
		{"bob@team.example", "ann@team.example", true},
		{"Cafe", "Café", true},
		{"CAFÉS", "cafe", true},
		{"studies", "study", true},
		{"日本", "本", true},
		{"precheck", "check", true},
		{"100 %", "%", true},
		{"Domain check", "Delivery", false},
		{"Domain check", "%", false},
		{"precheck", "a-check", false},
	} {
		if got := mayMatch(paging.RowOf("", map[string]any{"name": c.text}).Text(), c.term); got != c.want {
			t.Errorf("a search for %q may find %q: %t, want %t", c.term, c.text, got, c.want)
		}
	}
}

// Only the path of a URL counts its case.
func TestPathInOtherCase(t *testing.T) {
	g := NewWithT(t)
	for text, want := range map[string]string{"https://Example.com/Hooks/1": "https://Example.com/hOOKS/1", "https://example.com/": "", "https://example.com": "",
		"https://example.com/a%2fb": "", "a@example.com": "", "https://example.com/1": ""} {
		other, ok := pathInOtherCase(text)
		g.Expect(ok).To(Equal(want != ""), text)
		if ok {
			g.Expect(other).To(Equal(want))
		}
	}
}
