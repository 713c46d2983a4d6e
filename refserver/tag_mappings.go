package refserver

import (
	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/refserver/store"
)

type tagMappingAttrs struct{ resource string }

func tagMappingRow(r dataset.TagMapping) (store.Row[tagMappingAttrs], error) {
	return rowOf(r.ID, r, tagMappingAttrs{r.ResourceID})
}

// tagMappings can be narrowed to those of some accounts or campaigns.
var tagMappings = listing[tagMappingAttrs]{
	rows:   func(ws *workspace) *store.List[tagMappingAttrs] { return ws.tagMappings },
	cursor: byID[tagMappingAttrs](),
	filter: func(q *query) func(*tagMappingAttrs) bool {
		resources := q.uuids("resource_ids")
		if len(resources) == 0 {
			return nil
		}
		return func(a *tagMappingAttrs) bool { return resources[a.resource] }
	},
}
