package refserver

import (
	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/refserver/store"
)

// reportAttrs says, besides the filters' values, where in the document the two
// parts that can be skipped lie: they are its last fields, spam_assassin_report
// from spam to blacklist, blacklist_report from there to the closing brace.
type reportAttrs struct {
	test, created   string
	spam, blacklist int
}

func reportRow(r dataset.InboxPlacementReport) (store.Row[reportAttrs], error) {
	attrs := reportAttrs{test: r.TestID, created: r.Created}
	spam, blacklist := r.SpamAssassinReport, r.BlacklistReport
	r.SpamAssassinReport, r.BlacklistReport = nil, nil
	head, err := render(r)
	if err != nil {
		return store.Row[reportAttrs]{}, err
	}
	doc := head[:len(head)-1]
	add := func(name string, part any) {
		rendered, renderErr := render(part)
		if renderErr != nil {
			err = renderErr
		}
		doc = append(append(append(doc, `,"`...), name...), `":`...)
		doc = append(doc, rendered...)
	}
	attrs.spam = len(doc)
	if spam != nil {
		add("spam_assassin_report", spam)
	}
	attrs.blacklist = len(doc)
	if blacklist != nil {
		add("blacklist_report", blacklist)
	}
	return store.Row[reportAttrs]{ID: r.ID, Doc: append(doc, '}'), Attrs: attrs}, err
}

// placementReports can be narrowed to a test and to an inclusive window of
// timestamp_created, given as timestamps or dates. A skipped part is absent.
var placementReports = listing[reportAttrs]{
	rows:   func(ws *workspace) *store.List[reportAttrs] { return ws.reports },
	cursor: byID[reportAttrs](),
	filter: func(q *query) func(*reportAttrs) bool {
		test, from, to := q.uuid("test_id"), q.windowStart("date_from"), q.windowEnd("date_to")
		if test == "" && from == "" && to == "" {
			return nil
		}
		return func(a *reportAttrs) bool {
			return (test == "" || a.test == test) && a.created >= from && (to == "" || a.created <= to)
		}
	},
	view: func(q *query) func([]byte, *store.Row[reportAttrs]) []byte {
		skipSpam, _ := q.boolean("skip_spam_assassin_report")
		skipBlacklist, _ := q.boolean("skip_blacklist_report")
		return func(page []byte, row *store.Row[reportAttrs]) []byte {
			doc, a := row.Doc, &row.Attrs
			page = append(page, doc[:a.spam]...)
			if !skipSpam {
				page = append(page, doc[a.spam:a.blacklist]...)
			}
			if !skipBlacklist {
				page = append(page, doc[a.blacklist:len(doc)-1]...)
			}
			return append(page, '}')
		}
	},
}
