package refserver

import (
	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/refserver/store"
)

func orderRow(r dataset.DFYOrder) (store.Row[none], error) { return rowOf(r.OrderID, r, none{}) }

// orders are sorted and paged by an id that the order itself does not show.
var orders = listing[none]{
	rows:   func(ws *workspace) *store.List[none] { return ws.orders },
	cursor: byID[none](),
}
