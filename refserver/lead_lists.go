package refserver

import (
	"strings"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/refserver/store"
)

type leadListAttrs struct {
	created  string
	name     string // in lower case
	enriched bool
}

func leadListRow(r dataset.LeadList) (store.Row[leadListAttrs], error) {
	return rowOf(r.ID, r, leadListAttrs{r.Created, strings.ToLower(r.Name), r.HasEnrichmentTask})
}

// leadLists can be searched by a part of the name, in any case, and narrowed to
// those with or without an enrichment task.
var leadLists = listing[leadListAttrs]{
	rows:   func(ws *workspace) *store.List[leadListAttrs] { return ws.leadLists },
	cursor: byCreated(func(a *leadListAttrs) string { return a.created }),
	filter: func(q *query) func(*leadListAttrs) bool {
		enriched, given := q.boolean("has_enrichment_task")
		search := q.folded("search")
		if !given && search == "" {
			return nil
		}
		return func(a *leadListAttrs) bool {
			return (!given || a.enriched == enriched) && strings.Contains(a.name, search)
		}
	},
}
