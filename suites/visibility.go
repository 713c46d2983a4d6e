package suites

import (
	"net/http"
	"slices"
	"time"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/internal/paging"
	"outreach.example/conformance/internal/visible"
	"outreach.example/conformance/spec"
)

// The specification does not say how soon a change shows in another view. A spec
// therefore looks again until the change shows, for as long as the profile allows
// (visible_within), and judges what it saw last.

// eventually looks until the function sees the change, and observes how long that
// took. It reports whether the change showed in time.
func (api *API) eventually(view string, sees func() bool) bool {
	began := time.Now()
	looks := 0
	showed := api.look(func() bool { looks++; return sees() })
	if showed {
		api.Observe(spec.OpenPointVisibility, "%s: %s", view, delay(time.Since(began), looks == 1))
	}
	return showed
}

// mustShow is eventually for a change that must show before the spec goes on.
func (api *API) mustShow(view string, sees func() bool) {
	if !api.eventually(view, sees) {
		api.NotAssessed("a change that shows within %s: %s", api.Profile.Visibility(), view)
	}
}

// look looks until the function sees what it looks for, as long as a change may take to
// show.
func (api *API) look(sees func() bool) (seen bool) {
	err := visible.Within(api.ctx, api.Profile.Visibility(), func(bool) (done bool, err error) {
		seen = sees()
		return seen, nil
	})
	if err != nil {
		api.NotAssessed("%s", whyCut(api.ctx))
	}
	return seen
}

// delay renders how long a change took to show, roughly: two runs should say the same.
func delay(took time.Duration, atOnce bool) string {
	if atOnce {
		return "at once"
	}
	for _, within := range []time.Duration{100 * time.Millisecond, 500 * time.Millisecond, 2 * time.Second, 10 * time.Second} {
		if took <= within {
			return "within " + within.String()
		}
	}
	return "within a minute"
}

// find reads the test in which a creation was answered, until the target shows it.
func (api *API) find(made Response) Response {
	get := api.getting(made).MayGet(http.StatusNotFound)
	return api.until("a created test in a get", get, func(r Response) bool { return isMade(made, r) })
}

// getting returns a get of the test in which a creation was answered.
func (api *API) getting(made Response) Call {
	return api.As(dataset.Main, spec.GetPlacementTest).WithID(made.ID())
}

// shown is find for a test that a spec works with. The spec ends if the target does
// not find it. Other responses than 404 are for the spec to judge.
func (api *API) shown(made Response) Response {
	if found := api.find(made); found.Status == http.StatusNotFound && !api.probes {
		api.MustDo(api.getting(made))
	}
	return made
}

// listShowing reads the list until it shows the rows.
func (api *API) listShowing(list Call, ids ...string) (w Walk) {
	if len(ids) == 0 {
		return api.ReadAll(list)
	}
	api.eventually("a created test in the list", func() bool {
		w = api.ReadAll(list)
		keys := w.Keys()
		for _, id := range ids {
			if keys[paging.FoldID(id)] == 0 {
				return false
			}
		}
		return true
	})
	return w
}

// mustList is listShowing for rows that must show before the spec goes on.
func (api *API) mustList(list Call, ids ...string) Walk {
	w := api.listShowing(list, ids...)
	for _, id := range ids {
		if w.Row(id) == nil {
			api.NotAssessed("the created tests in %s", list.Operation.ID)
		}
	}
	return w
}

// listWithout reads the list until it no longer shows the row.
func (api *API) listWithout(list Call, ids ...string) (w Walk) {
	api.eventually("a deletion in the list", func() bool {
		w = api.ReadAll(list)
		shown := w.Keys()
		return !slices.ContainsFunc(ids, func(id string) bool { return shown[paging.FoldID(id)] > 0 })
	})
	return w
}

// until sends the call until a response fits.
func (api *API) until(view string, k Call, fits func(Response) bool) (r Response) {
	api.eventually(view, func() bool {
		r = api.Do(k)
		return fits(r)
	})
	return r
}

// untilGone sends the call until the target answers that the resource does not exist.
func (api *API) untilGone(view string, k Call) Response {
	return api.until(view, k.MayGet(http.StatusNotFound), func(r Response) bool { return r.Status == http.StatusNotFound })
}
