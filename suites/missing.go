package suites

import (
	"fmt"
	"slices"
	"time"

	"github.com/onsi/gomega/types"

	"outreach.example/conformance/internal/paging"
)

// missingBetween returns the rows that a walk before and one after both show,
// and the one between them does not.
func (api *API) missingBetween(before, between, after Walk) []paging.Row {
	return api.missingFrom([]Walk{before, between, after}, 1)
}

// missingFrom returns the rows that the walk of that number leaves out, although walks
// before and after it show them. A change of this run may show late in a view: a row that
// the run created is missing only if the same walk leaves it out for as long as that may
// take. A row that the run deleted is not missing.
func (api *API) missingFrom(walks []Walk, i int) []paging.Row {
	missing := leftOut(walks, i)
	var late []paging.Row // that may show late
	missing = slices.DeleteFunc(missing, func(row paging.Row) bool {
		created, deleted := api.changed(row)
		if !deleted && !created.IsZero() {
			late = append(late, row)
		}
		return deleted || !created.IsZero()
	})
	if len(late) == 0 {
		return missing
	}
	api.look(func() bool {
		shown := api.unjudgedWalk(walks[i].List.keys(), walks[i].sizes).Keys()
		late = slices.DeleteFunc(late, func(row paging.Row) bool {
			_, deleted := api.changed(row)
			return deleted || shown[row.Key] > 0
		})
		return len(late) == 0
	})
	return append(missing, late...)
}

// missingWhile is missingBetween for a walk during which the list changed, which cannot be
// repeated. young are rows that the run created so shortly before that they may show late.
func (api *API) missingWhile(before, during, after Walk) (missing, young []paging.Row) {
	began := during.At(0).Sent
	for _, row := range leftOut([]Walk{before, during, after}, 1) {
		switch created, deleted := api.changed(row); {
		case deleted:
		case !created.IsZero() && began.Sub(created) < api.Profile.Visibility():
			young = append(young, row)
		default:
			missing = append(missing, row)
		}
	}
	return missing, young
}

// settled returns the walk without rows that the run deleted, or created so shortly before
// that other views may show them late.
func (api *API) settled(w Walk) Walk {
	pages := make([]paging.Page, len(w.Pages))
	for i, page := range w.Pages {
		pages[i] = page
		pages[i].Rows = slices.DeleteFunc(slices.Clone(page.Rows), func(row paging.Row) bool {
			created, deleted := api.changed(row)
			return deleted || !created.IsZero() && w.At(i).Sent.Sub(created) < api.Profile.Visibility()
		})
	}
	w.Pages = pages
	return w
}

// changed reports when the run created the row, zero if it did not, and whether it deleted
// it or tried to. A row whose creation has no response yet is created now.
func (api *API) changed(row paging.Row) (created time.Time, deleted bool) {
	if api.sandbox().BeingCreated(row) { // asked first: the response may come in between
		return time.Now(), false
	}
	return api.sandbox().Changed(row.Key)
}

// leftOut returns the rows that walks before and after the walk of that number show, and
// that it does not.
func leftOut(walks []Walk, i int) []paging.Row {
	plain := make([]paging.Walk, len(walks))
	for j, walk := range walks {
		plain[j] = walk.Walk
	}
	return paging.Missing(plain, i)
}

// ShowTheRows matches a walk that shows all rows that the walks before and after it
// show.
func ShowTheRows(missing []paging.Row) types.GomegaMatcher {
	return onWalk("show the rows that walks before and after it show", func(w Walk) Verdict {
		found := Verdict{Assessed: 1}
		for _, row := range missing {
			found.add(Finding{w.At(0), "/items",
				"the row " + shorten(row.Key) + " somewhere in the walk, as in walks before and after it",
				fmt.Sprintf("%d rows on %d pages without it", len(w.Rows()), len(w.Pages))})
		}
		return found
	})
}
