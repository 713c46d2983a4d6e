package suites

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	. "github.com/onsi/ginkgo/v2"
	"github.com/onsi/gomega/types"

	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/internal/client"
	"outreach.example/conformance/internal/paging"
	"outreach.example/conformance/schemas"
	"outreach.example/conformance/spec"
)

// filtersOf lists the filters of each list that select rows, as the section
// Endpoints gives them. The flags that leave out parts of a report are in
// inbox_placement_reports.go.
var filtersOf = map[string][]filter{
	spec.ListPlacementTests:   placementTestFilters,
	spec.ListPlacementReports: reportFilters,
	spec.ListSubsequences:     subsequenceFilters,
	spec.ListMembers:          memberFilters,
	spec.ListTagMappings:      tagMappingFilters,
	spec.ListLeadLabels:       leadLabelFilters,
	spec.ListLeadLists:        leadListFilters,
	spec.ListWebhookEvents:    webhookEventFilters,
}

// filters compares every filter with unfiltered walks of the list.
func filters() {
	for _, op := range spec.Operations() {
		Describe(op.ID, func() {
			for _, f := range filtersOf[op.ID] {
				It(f.title, Requires(f.requirements...), func(api *API) { api.expectFilter(f) })
			}
		})
	}
	for _, op := range spec.FilterWalk.Operations() {
		Describe(op.ID, func() {
			It("pages through filtered rows as through all", Requires(spec.FilterWalk), walkFiltered)
		})
	}
}

// filter is one filter of one list.
type filter struct {
	title        string
	requirements []spec.ID
	probes       func(rows []map[string]any) []probe // made from an unfiltered walk
}

// probe is one use of a filter: what is sent, and what the specification says of
// each row of the unfiltered list.
type probe struct {
	query map[string]string // key of the parameter → value
	// says returns the requirement that speaks of the row, and whether the row
	// must be in the filtered list or out of it; "" if nothing is said.
	says func(row map[string]any) (requirement spec.ID, in bool)
}

// handful is how many values of a filter are tried at most.
const handful = 4

// expectFilter walks the list without the filter, with it, and without it again:
// only rows that both unfiltered walks show alike are expected or ruled out.
func (api *API) expectFilter(f filter) {
	list := api.Request()
	before := api.ReadAll(list)
	probes := f.probes(before.Values())
	if len(probes) == 0 {
		api.NotAssessed("rows of %s with values to filter by", list.Operation.ID)
	}
	filtered := make([]Walk, len(probes))
	var work []func()
	for i, p := range probes {
		k := api.filteredBy(list, p)
		work = append(work, func() { filtered[i] = api.ReadAll(k) })
	}
	api.Together(work...)
	after := api.ReadAll(list)

	for i, p := range probes {
		for _, id := range f.requirements {
			api.For(id).Expect(filtered[i]).To(SelectRows(id, p, before, after))
		}
	}
	for _, id := range f.requirements {
		if !api.For(id).Judged() {
			api.For(id).NotAssessed("rows of %s that differ in what the filter selects", list.Operation.ID)
		}
	}
}

// filteredBy adds the probe's parameters to the list's call.
func (api *API) filteredBy(list Call, p probe) Call {
	for _, meaning := range slices.Sorted(maps.Keys(p.query)) {
		list = list.WithQuery(api.Parameter(list.Operation.ID, meaning), p.query[meaning])
	}
	return list
}

// knownFilter is filteredBy for a probe whose parameter names may be unknown.
func (api *API) knownFilter(list Call, p probe) (Call, bool) {
	for meaning := range p.query {
		if _, ok := api.Profile.Parameter(list.Operation.ID, meaning); !ok {
			return Call{}, false
		}
	}
	return api.filteredBy(list, p), true
}

// SelectRows matches a filtered walk that shows the rows of which the requirement
// says that they are in, and none of which it says that they are out. Rows that
// changed between the unfiltered walks are left out.
func SelectRows(id spec.ID, p probe, before, after Walk) types.GomegaMatcher {
	return onWalk("show the rows that the filter selects, and no others", func(w Walk) Verdict {
		var found Verdict
		shown, later := w.Keys(), after.ByKey()
		for _, row := range before.Rows() {
			requirement, in := p.says(row.Value)
			again, still := later[row.Key]
			if requirement != id || !still {
				continue
			}
			if r, sameIn := p.says(again); r != requirement || sameIn != in {
				continue
			}
			found.Assessed++
			if in && shown[row.Key] == 0 {
				found.add(Finding{w.At(0), "/items", "the row " + shorten(row.Key) + ", which the unfiltered list shows",
					fmt.Sprintf("%d rows without it", len(w.Rows()))})
			}
		}
		found.add(strangers(id, p, w, "no row that the filter leaves out")...)
		return found
	})
}

// strangers finds the rows of which the requirement says that the filter leaves
// them out.
func strangers(id spec.ID, p probe, w Walk, expected string) []Finding {
	var found []Finding
	for i, page := range w.Pages {
		for k, row := range page.Rows {
			if requirement, in := p.says(row.Value); requirement != "" && !in && (id == "" || requirement == id) {
				found = append(found, Finding{w.At(i), pointerIn(k), expected, shorten(describe(row.Value))})
			}
		}
	}
	return found
}

// walkFiltered walks the list in several page sizes through the first filter that
// selects several rows.
func walkFiltered(api *API) {
	list := api.Request()
	rows := api.ReadAll(list).Values()
	for _, f := range filtersOf[list.Operation.ID] {
		for _, p := range f.probes(rows) {
			k, ok := api.knownFilter(list, p)
			if !ok {
				continue
			}
			walks := []Walk{api.unjudgedWalk(k, pagesOf(maxLimit))}
			if len(walks[0].Rows()) < 5 {
				api.chargeEnd(walks[0])
				api.chargeRepeats(walks[0])
				continue
			}
			walks = append(walks, api.unjudgedWalk(k, pagesOf(3)), api.unjudgedWalk(k, paging.Cycle(1, 2, 7)), api.unjudgedWalk(k, pagesOf(maxLimit)))
			api.expectSameFiltered(p, walks)
			return
		}
	}
	api.NotAssessed("a filter of %s that selects five rows or more", list.Operation.ID)
}

func (api *API) expectSameFiltered(p probe, walks []Walk) {
	plain := make([]paging.Walk, len(walks))
	for i, walk := range walks {
		if !api.Expect(walk).To(EndFiltered(api.maxPages())) {
			return
		}
		plain[i] = walk.Walk
	}
	for i, walk := range walks {
		api.Expect(walk).To(ShowEveryRowOnceAmong(walks, i))
		api.Expect(walk).To(ShowTheRows(paging.Missing(plain, i)))
		api.Expect(walk).To(ShowTheOrderOf(walks[0]))
		api.Expect(walk).To(ShowNoStrangers(p))
	}
}

// EndFiltered matches a filtered walk that ends.
func EndFiltered(maxPages int) types.GomegaMatcher {
	return onWalk("let the filtered walk end", func(w Walk) Verdict {
		switch w.End {
		case paging.Done:
			return Verdict{Assessed: 1}
		case paging.Broken, paging.Capped:
			return Verdict{Missing: w.unread(maxPages)}
		default:
			return Verdict{Assessed: 1, Findings: []Finding{{w.Last(), "/next_starting_after", "a walk that ends", string(w.End)}}}
		}
	})
}

// ShowNoStrangers matches a filtered walk without rows that the filter leaves out.
func ShowNoStrangers(p probe) types.GomegaMatcher {
	return onWalk("show no row that the filter leaves out", func(w Walk) Verdict {
		found := Verdict{Assessed: 1}
		found.add(strangers("", p, w, "no row that the filter leaves out, whatever the page size")...)
		return found
	})
}

// exactly filters by the whole value of one field.
func exactly(missing, extra spec.ID, meaning, field string) filter {
	return byValue(missing, extra, meaning, field, func(rows []map[string]any) []string { return distinct(rows, field) })
}

// exactlyText is exactly for texts that a server might match in part: it filters
// by pieces of a value, too.
func exactlyText(missing, extra spec.ID, meaning, field string) filter {
	return byValue(missing, extra, meaning, field, func(rows []map[string]any) []string {
		values := distinct(rows, field)
		if len(values) == 0 || utf8.RuneCountInString(values[0]) < 2 {
			return values
		}
		_, first := utf8.DecodeRuneInString(values[0])
		_, last := utf8.DecodeLastRuneInString(values[0])
		return append(values, values[0][:len(values[0])-last], values[0][first:])
	})
}

// byValue filters by the values that are made from an unfiltered walk.
func byValue(missing, extra spec.ID, meaning, field string, values func([]map[string]any) []string) filter {
	return filter{"filters by " + field, []spec.ID{missing, extra}, func(rows []map[string]any) []probe {
		var probes []probe
		for _, value := range values(rows) {
			probes = append(probes, probe{map[string]string{meaning: value}, func(row map[string]any) (spec.ID, bool) {
				if scalar(row[field]) == value {
					return missing, true
				}
				return extra, false
			}})
		}
		return probes
	}}
}

// searchBy searches for texts of the field that occur, and for a word that does
// not.
func searchBy(field string) filter {
	const missing, extra = spec.FilterSearchMissing, spec.FilterSearchExtra
	return filter{"searches by " + field, []spec.ID{missing, extra}, func(rows []map[string]any) []probe {
		return searches(append(distinct(rows, field), absentWord), field, missing, extra)
	}}
}

// absentWord occurs in no row.
const absentWord = "zyxgqvkwjqxzzvq"

func searches(terms []string, field string, missing, extra spec.ID) []probe {
	var probes []probe
	for _, term := range terms {
		if strings.TrimSpace(term) == "" {
			continue
		}
		probes = append(probes, probe{map[string]string{profile.ParamSearch: term}, func(row map[string]any) (spec.ID, bool) {
			switch {
			case scalar(row[field]) == term:
				return missing, true
			case !containsWord(row, term):
				return extra, false
			default:
				return "", false
			}
		}})
	}
	return probes
}

// containsWord reports whether any word of the term occurs in any text of the row.
func containsWord(row map[string]any, term string) bool {
	return containsAny(row, strings.Fields(strings.ToLower(term)))
}

// containsAny reports whether a string of a JSON value contains one of the words,
// which are in lower case. The rest of a shortened text may contain them.
func containsAny(value any, words []string) bool {
	switch value := value.(type) {
	case string:
		text := strings.ToLower(value)
		return schemas.IsShortened(value) || slices.ContainsFunc(words, func(word string) bool { return strings.Contains(text, word) })
	case map[string]any:
		for _, v := range value {
			if containsAny(v, words) {
				return true
			}
		}
	case []any:
		for _, v := range value {
			if containsAny(v, words) {
				return true
			}
		}
	}
	return false
}

// distinct returns a handful of the values that occur in a field, the first and
// the last among them. Null and absent values do not count.
func distinct(rows []map[string]any, field string) []string {
	values := distinctAll(rows, field)
	if len(values) <= handful {
		return values
	}
	picked := make([]string, handful)
	for i := range picked {
		picked[i] = values[i*(len(values)-1)/(handful-1)]
	}
	return picked
}

// distinctAll returns the values of a field that may go into an address.
func distinctAll(rows []map[string]any, field string) []string {
	var values []string
	seen := map[string]bool{}
	for _, row := range rows {
		value := scalar(row[field])
		if value != "" && len(value) <= client.MaxURLValue && !seen[value] {
			seen[value] = true
			values = append(values, value)
		}
	}
	return values
}

// spread picks a handful of values from all over the list. Of a long list it
// leaves out the very first and last, so that something lies on either side.
func spread(values []string) []string {
	if len(values) <= handful {
		return values
	}
	picked := make([]string, handful)
	for i := range picked {
		picked[i] = values[(i+1)*len(values)/(handful+1)]
	}
	return picked
}

// scalar renders a JSON scalar as a query parameter does; "" for anything else.
func scalar(value any) string {
	switch value := value.(type) {
	case string:
		return value
	case bool:
		return strconv.FormatBool(value)
	case fmt.Stringer: // json.Number
		if whole, err := strconv.ParseFloat(value.String(), 64); err == nil {
			return strconv.FormatFloat(whole, 'f', -1, 64)
		}
	}
	return ""
}
