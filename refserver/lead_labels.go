package refserver

import (
	"strings"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/refserver/store"
)

type leadLabelAttrs struct {
	created  string
	label    string // in lower case
	interest string
}

func leadLabelRow(r dataset.LeadLabel) (store.Row[leadLabelAttrs], error) {
	return rowOf(r.ID, r, leadLabelAttrs{r.Created, strings.ToLower(r.Label), r.InterestStatusLabel})
}

// leadLabels can be searched by a part of the label, in any case, and narrowed
// to an interest status.
var leadLabels = listing[leadLabelAttrs]{
	rows:   func(ws *workspace) *store.List[leadLabelAttrs] { return ws.leadLabels },
	cursor: byCreated(func(a *leadLabelAttrs) string { return a.created }),
	filter: func(q *query) func(*leadLabelAttrs) bool {
		search, interest := q.folded("search"), q.oneOf("interest_status", "positive", "neutral", "negative")
		if search == "" && interest == "" {
			return nil
		}
		return func(a *leadLabelAttrs) bool {
			return (interest == "" || a.interest == interest) && strings.Contains(a.label, search)
		}
	},
}
