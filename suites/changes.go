package suites

import (
	"context"
	"errors"
	"fmt"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/internal/client"
	"outreach.example/conformance/internal/paging"
	"outreach.example/conformance/internal/sandbox"
	"outreach.example/conformance/spec"
)

// What a spec changes on the target, and how it is rolled back: package sandbox
// knows, and these methods ask it on behalf of a spec.

// change describes the call to the sandbox.
func (api *API) change(k Call) sandbox.Change {
	return sandbox.Change{By: api.spec.Name(), Operation: k.Operation, ID: k.id, Body: k.members(), Key: k.key, Owner: k.owner,
		Deletes: api.spec.Operation == spec.DeletePlacementTest}
}

// need ends the spec if the sandbox returned an error.
func (api *API) need(err error) {
	var denied *sandbox.Denied
	switch {
	case errors.As(err, &denied):
		api.NotAssessed("%s", denied.Input)
	case err != nil:
		api.stop(Response{Exchange: client.Exchange{Err: err}})
	}
}

// after registers the rollback of what the response changed.
func (api *API) after(r Response, begun sandbox.Begun) {
	created := ""
	if r.Call.Operation.ID == spec.CreatePlacementTest {
		created = r.ID()
	}
	if !r.Call.allowed.Open() { // else the creation itself is the violation
		begun.OnForeign(func(why string) { api.namesAnother(r, why) })
	}
	if r.Call.Operation.Unsafe() {
		api.changesTo(r.Call.Operation.Resource).Add(1)
	}
	undo, err := api.sandbox().After(api.change(r.Call), begun, r.Exchange, created)
	if undo != nil {
		api.afterwards(undo)
	}
	if err != nil {
		api.trouble(err.Error())
	}
}

// namesAnother charges a response to a creation that names a test which is not the
// run's own. The test with that id does not keep what was sent.
func (api *API) namesAnother(r Response, why string) {
	api.violated(spec.StateCreate("name").On(spec.CreatePlacementTest),
		Finding{r, "/id", "the id of the test that was created", fmt.Sprintf("%s: %s", r.ID(), why)}, "")
}

// showsOwn tells the sandbox which tests a response shows. A test that shows the run's mark
// need not be read again before the run deletes it.
func (api *API) showsOwn(r Response) {
	if r.Call.Operation.Unsafe() || r.Call.Operation.Resource != "InboxPlacementTest" || !r.OK() {
		return
	}
	for _, row := range r.pageRows() {
		if id, ok := row.Value["id"].(string); ok {
			api.sandbox().Read(api.change(r.Call), id, row.Value)
		}
	}
}

// made reports whether the run created the row, which it deletes again.
func (api *API) made(id string) bool {
	created, _ := api.sandbox().Changed(id)
	return !created.IsZero()
}

// expendableSubsequence returns a subsequence that the profile lets the run
// delete and that still exists, or ends the spec.
func (api *API) expendableSubsequence() string {
	id, err := api.sandbox().TakeSubsequence(api.ctx, api.share(api.spec), func() ([]paging.Row, error) {
		return api.ReadAll(api.As(dataset.Main, spec.ListSubsequences)).Rows(), nil
	})
	api.need(err)
	return id
}

// neighbours takes the next older and the next younger of the expendable subsequences that no
// other spec takes, until the spec has ended.
func (api *API) neighbours(id string) []string {
	beside := api.sandbox().TakeNeighbours(id, api.share(api.spec))
	api.afterwards(func(context.Context) { api.sandbox().GiveBack(beside...) })
	return beside
}

// lock makes sure that no other run uses the rows that only one run can use, or
// ends the spec.
func (api *API) lock() { api.need(api.sandbox().Lock(api.ctx)) }
