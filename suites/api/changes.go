package api

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"time"

	"github.com/onsi/gomega"
	"github.com/onsi/gomega/types"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/internal/client"
	"outreach.example/conformance/internal/paging"
	"outreach.example/conformance/internal/sandbox"

	"outreach.example/conformance/spec"
)

// What a spec changes on the target, and how it is rolled back: package sandbox
// knows, and these methods ask it on behalf of a spec.

// Change describes the call to the sandbox.
func Change(api *API, k Call) sandbox.Change {
	return sandbox.Change{By: api.Spec.Name(), Operation: k.Operation, ID: k.ID, Body: k.Members(), Key: k.Key, Owner: k.owner,
		Deletes: api.Spec.Operation == spec.DeletePlacementTest}
}

// EndIf ends the spec if the sandbox returned an error.
func EndIf(api *API, err error) {
	if lacks := deniedInput(err); lacks != "" {
		api.NotAssessed("%s", lacks)
	}
	if err != nil {
		Stop(api, Response{Exchange: client.Exchange{Err: err}})
	}
}

// deniedInput returns the input that is missing for a change that the run may not make; "" for
// another error, and for none.
func deniedInput(err error) string {
	if denied := (*sandbox.Denied)(nil); errors.As(err, &denied) {
		return denied.Input
	}
	return ""
}

// after registers the rollback of what the response changed.
func (api *API) after(r Response, begun sandbox.Begun) {
	created := ""
	if r.Call.Operation.ID == spec.CreatePlacementTest {
		created = r.ID()
	}
	if !r.Call.Allowed.Open() { // else the creation itself is the violation
		begun.OnForeign(func(why string) { api.namesAnother(r, why) })
	}
	if r.Call.Operation.Unsafe() {
		api.changesTo(r.Call.Operation.Resource).Add(1)
	}
	undo, err := api.Sandbox().After(Change(api, r.Call), begun, r.Exchange, created)
	if undo != nil {
		api.Cleanup(undo)
	}
	if err != nil {
		Trouble(api, err.Error())
	}
}

// namesAnother charges a response to a creation that names a test which is not the
// run's own. The test with that id does not keep what was sent.
func (api *API) namesAnother(r Response, why string) {
	Violated(api, spec.StateCreate("name").On(spec.CreatePlacementTest),
		Found(r, "/id", "the id of the test that was created", fmt.Sprintf("%s: %s", r.ID(), why)), "")
}

// showsOwn tells the sandbox which tests a response shows. A test that shows the run's mark
// need not be read again before the run deletes it.
func (api *API) showsOwn(r Response) {
	if r.Call.Operation.Unsafe() || r.Call.Operation.Resource != "InboxPlacementTest" || !r.OK() {
		return
	}
	for _, row := range r.PageRows() {
		if id, ok := row.Value["id"].(string); ok {
			api.Sandbox().Read(Change(api, r.Call), id, row.Value)
		}
	}
}

// made reports whether the run created the row, which it deletes again.
func (api *API) made(id string) bool {
	created, _ := api.Sandbox().Changed(id)
	return !created.IsZero()
}

// ExpendableSubsequence returns a subsequence that the profile lets the run
// delete and that still exists, or ends the spec.
func ExpendableSubsequence(api *API) string {
	api.taken(Expendable(1), false) // the sandbox knows which are left
	id, err := api.Sandbox().TakeSubsequence(api.Ctx, api.share(api.Spec), func() ([]paging.Row, error) {
		return Shared(api, api.As(dataset.Main, spec.ListSubsequences)).Rows(), nil
	})
	EndIf(api, err)
	return id
}

// Neighbours takes the next older and the next younger of the expendable subsequences that no
// other spec takes, until the spec has ended.
func Neighbours(api *API, id string) []string {
	beside := api.Sandbox().TakeNeighbours(id, api.share(api.Spec))
	api.Cleanup(func(context.Context) { api.Sandbox().GiveBack(beside...) })
	return beside
}

// OnlyRun makes sure that no other run uses the rows that only one run can use, or
// ends the spec.
func OnlyRun(api *API) { EndIf(api, api.Sandbox().Alone(api.Ctx)) }

// Alone runs the function while the run changes nothing else: a row that another change
// removes must not count. Requests that change something wait for its end.
func Alone(api *API, work func()) {
	api.changing.Lock()
	api.isAlone = true
	defer func() { api.isAlone = false; api.changing.Unlock() }()
	work()
}

// beside lets a request that changes something run beside others, and not while a spec is
// alone. The caller calls the function afterwards.
func (e *Env) beside(ctx context.Context) (over func()) {
	for !e.changing.TryRLock() {
		if (client.RealTime{}).Sleep(ctx, time.Millisecond) != nil { // a wait for this process, not for the target
			return func() {}
		}
	}
	return e.changing.RUnlock
}

// The specification does not say how soon a change shows in another view. A spec
// therefore looks again until the change shows, for as long as the profile allows
// (visible_within), and judges what it saw last.

// Polling is a value that a matcher may match later.
type Polling struct {
	api  *API
	poll func() any
}

// Eventually polls a function without parameters, as Gomega does: for as long as a change may
// take to show. It charges nothing. Expect judges what a spec has seen last.
func (api *API) Eventually(poll any) Polling {
	f := reflect.ValueOf(poll)
	return Polling{api, func() any { return f.Call(nil)[0].Interface() }}
}

// Should polls until the matcher matches, and reports whether it did. The description names
// the view in which a change must show: the run observes how long that takes.
func (p Polling) Should(matcher types.GomegaMatcher, view ...string) bool {
	began, before := client.Now(p.api.Ctx), p.api.noted()
	looks := 0
	matched := p.api.look(func() bool {
		looks++
		if len(view) > 0 {
			p.api.forget(before) // only the last look is part of what a trial tries
		}
		matches, err := matcher.Match(p.poll())
		return matches && err == nil
	})
	if matched && len(view) > 0 {
		p.api.Observe(spec.OpenPointVisibility, "%s: %s", view[0], delay(client.Now(p.api.Ctx).Sub(began), looks == 1))
	}
	return matched
}

// MustShow is Eventually for a change that must show before the spec goes on.
func MustShow(api *API, view string, sees func() bool) {
	if !api.Eventually(sees).Should(gomega.BeTrue(), view) {
		api.NotAssessed("a change that shows within %s: %s", api.Profile.Visibility(), view)
	}
}

// look looks until the function sees what it looks for, as long as a change may take to
// show.
func (api *API) look(sees func() bool) (seen bool) {
	err := client.Within(api.Ctx, api.Profile.Visibility(), func(bool) (done bool, err error) {
		seen = sees()
		return seen, nil
	})
	if err != nil {
		api.NotAssessed("%s", WhyCut(api.Ctx))
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

// Find reads the test in which a creation was answered, until the target shows it.
func Find(api *API, made Response) Response {
	get := api.getting(made).MayGet(http.StatusNotFound)
	return Until(api, "a created test in a get", get, func(r Response) bool { return IsMade(made, r) })
}

// getting returns a get of the test in which a creation was answered.
func (api *API) getting(made Response) Call {
	return api.As(dataset.Main, spec.GetPlacementTest).WithID(made.ID())
}

// Shown is Find for a test that a spec works with. The spec ends if the target does
// not find it. Other responses than 404 are for the spec to judge.
func Shown(api *API, made Response) Response {
	if found := Find(api, made); found.Status == http.StatusNotFound && !api.probes {
		api.Do(api.getting(made))
	}
	return made
}

// ListShowing reads the list until it shows the rows.
func ListShowing(api *API, list Call, ids ...string) (w Walk) {
	if len(ids) == 0 {
		return api.Read(list)
	}
	api.Eventually(func() bool {
		w = api.Read(list)
		keys := w.Keys()
		for _, id := range ids {
			if keys[paging.FoldID(id)] == 0 {
				return false
			}
		}
		return true
	}).Should(gomega.BeTrue(), "a created test in the list")
	return w
}

// MustList is ListShowing for rows that must show before the spec goes on.
func MustList(api *API, list Call, ids ...string) Walk {
	w := ListShowing(api, list, ids...)
	for _, id := range ids {
		if w.Row(id) == nil {
			api.NotAssessed("the created tests in %s", list.Operation.ID)
		}
	}
	return w
}

// ListWithout reads the list until it no longer shows the row.
func ListWithout(api *API, list Call, ids ...string) (w Walk) {
	api.Eventually(func() bool {
		w = api.Read(list)
		shown := w.Keys()
		return !slices.ContainsFunc(ids, func(id string) bool { return shown[paging.FoldID(id)] > 0 })
	}).Should(gomega.BeTrue(), "a deletion in the list")
	return w
}

// Until sends the call until a response fits.
func Until(api *API, view string, k Call, fits func(Response) bool) (r Response) {
	api.Eventually(func() bool {
		r = api.Do(k)
		return fits(r)
	}).Should(gomega.BeTrue(), view)
	return r
}

// UntilGone sends the call until the target answers that the resource does not exist.
func UntilGone(api *API, view string, k Call) Response {
	return Until(api, view, k.MayGet(http.StatusNotFound), func(r Response) bool { return r.Status == http.StatusNotFound })
}
