package faults

import (
	"slices"

	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/spec"
)

// partDefects break the two flags that omit a part of each report.
func partDefects() []Defect {
	var defects []Defect
	for _, f := range []flag{
		{"SKIP_SPAM_ASSASSIN", "skip-spam-assassin", profile.ParamSkipSpamAssassin, profile.ParamSkipBlacklist, "spam_assassin_report",
			"is_spam"},
		{"SKIP_BLACKLIST", "skip-blacklist", profile.ParamSkipBlacklist, profile.ParamSkipSpamAssassin, "blacklist_report", "is_blacklisted"},
	} {
		for _, d := range flagDamages {
			defects = append(defects, Defect{spec.ListPlacementReports + "/" + f.id + "-" + d.name,
				spec.Pair{Requirement: "FILTER-" + f.requirement + "-" + d.breaks, Operation: spec.ListPlacementReports},
				d.doc + ", for the flag that omits " + f.part,
				func(a *Target) Middleware {
					name, other := a.parameter(spec.ListPlacementReports, f.meaning), a.parameter(spec.ListPlacementReports, f.other)
					return a.paged(spec.ListPlacementReports, paging{before: func(s *page) { d.do(&flagged{s, f, name, other}) }})
				}})
		}
	}
	return defects
}

// flag is a parameter that omits a part of each report.
type flag struct {
	requirement, id, meaning string
	other                    string // meaning of the other flag
	part                     string // the omitted field
	mark                     string // a boolean in that part
}

// flagged is a page of reports under a flag.
type flagged struct {
	*page
	flag        flag
	name, other string // of the two parameters
}

func (f *flagged) is(value string) bool { return f.request.Query.Get(f.name) == value }

// as returns the target's list for a value of a flag; "" for none.
func (f *flagged) as(name, value string) []listRow {
	return (&selection{page: f.page, name: name}).with(value)
}

// flagDamages misread a flag. Those of FILTER-…-TRUE change only requests with
// the flag true, those of FILTER-…-DEFAULT all others.
var flagDamages = []struct {
	name, breaks, doc string
	do                func(*flagged)
}{
	{"ignored", "TRUE", "shows the part anyway", skipping(func(f *flagged) { f.list = f.as(f.name, "false") })},
	{"forgotten-behind-first-page", "TRUE", "shows the part after the first page", skipping(func(f *flagged) {
		if !f.first {
			f.list = f.as(f.name, "false")
		}
	})},
	{"ignored-where-marked", "TRUE", "shows the part if it reports a problem", skipping(func(f *flagged) {
		f.list = slices.Clone(f.list)
		for i, whole := range f.as(f.name, "false") {
			part, _ := whole.fields[f.flag.part].(map[string]any)
			if i < len(f.list) && part[f.flag.mark] == true {
				f.list[i] = whole
			}
		}
	})},
	{"ignored-beside-the-other", "TRUE", "shows the part if the other one is omitted", skipping(func(f *flagged) {
		if f.request.Query.Get(f.other) == "true" {
			f.list = f.as(f.name, "false")
		}
	})},
	{"forgotten-beside-the-other", "TRUE", "shows the part after the first page if the other one is omitted", skipping(func(f *flagged) {
		if f.request.Query.Get(f.other) == "true" && !f.first {
			f.list = f.as(f.name, "false")
		}
	})},
	{"takes-the-other", "TRUE", "omits the other part instead", skipping(func(f *flagged) {
		f.list = f.page.read(func(r Request) Request {
			r.Query.Del(f.name)
			r.Query.Set(f.other, "true")
			return r
		})
	})},
	{"takes-both", "TRUE", "also omits the other part", skipping(func(f *flagged) { f.list = f.as(f.other, "true") })},
	{"drops-last-row", "TRUE", "also omits the last row", skipping(func(f *flagged) { withoutLast(f.page) })},
	{"drops-marked-rows", "TRUE", "omits rows whose part reports a problem", skipping(func(f *flagged) {
		var marked []listRow
		for _, whole := range f.as(f.name, "false") {
			if part, _ := whole.fields[f.flag.part].(map[string]any); part[f.flag.mark] == true {
				marked = append(marked, whole)
			}
		}
		f.list = without(f.list, marked)
	})},

	{"on-by-default", "DEFAULT", "omits the part without the flag", func(f *flagged) {
		if f.is("") {
			f.list = f.as(f.name, "true")
		}
	}},
	{"never-shown", "DEFAULT", "omits the part from every report", func(f *flagged) { f.list = f.as(f.name, "true") }},
	{"on-for-false", "DEFAULT", "omits the part for false, because the flag is present", func(f *flagged) {
		if f.is("false") {
			f.list = f.as(f.name, "true")
		}
	}},
	{"on-behind-first-page", "DEFAULT", "omits the part after the first page without the flag", func(f *flagged) {
		if f.is("") && !f.first {
			f.list = f.as(f.name, "true")
		}
	}},
	{"on-for-false-beside-the-other", "DEFAULT", "omits the part for false if the other one is omitted", func(f *flagged) {
		if f.is("false") && f.request.Query.Get(f.other) == "true" {
			f.list = f.page.read(func(r Request) Request {
				r.Query.Set(f.name, "true")
				return r
			})
		}
	}},
	{"false-drops-last-row", "DEFAULT", "omits the last row for false", func(f *flagged) {
		if f.is("false") {
			withoutLast(f.page)
		}
	}},
}

// skipping applies a change to requests with the flag true.
func skipping(do func(*flagged)) func(*flagged) {
	return func(f *flagged) {
		if f.is("true") {
			do(f)
		}
	}
}
