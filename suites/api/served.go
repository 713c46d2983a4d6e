package api

import (
	"net/http"
	"sync"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/internal/client"
	"outreach.example/conformance/spec"
)

// service is what is known of whether the target serves an operation.
type service struct {
	once     sync.Once
	Unserved *Response // the response that shows that it does not; nil if it does, or may
	Known    bool      // it does
	Missing  string    // what would show it; "" for nothing
	Crash    string    // of the harness while it found out; "" for none
}

// Service finds out, once a run, whether the target serves the operation.
func Service(api *API, operation string) *service {
	s := Once(api.Env, func() *service { return &service{} }, "the service", operation)
	s.once.Do(func() {
		probe := newAPI(client.From(api.Ctx, operation+" is implemented"), api.Env, Spec{Operation: operation, Title: "is implemented"}, hash(operation))
		probe.probes = true
		defer func() {
			if crash := recover(); crash != nil {
				s.Crash = panicked(crash)
			}
		}()
		defer probe.kept.release()
		defer probe.restore()
		Survive(probe, func() {
			s.Missing = Attempt(probe, func() { s.Unserved, s.Known = probe.unserved() })
		})
		if s.Unserved == nil { // else the verdict on its responses is that it is not served
			api.addOutside(probe)
			return
		}
		for _, t := range probe.Evidence.Troubles() {
			api.outside.Troubled(t.Where, t.What)
		}
	})
	return s
}

// Attempt returns the missing input that ended the function early, or "". Trouble ends
// the caller, too.
func Attempt(api *API, work func()) (missing string) {
	defer func() {
		switch stopped := recover().(type) {
		case nil:
		case skipSpec:
			if missing = stopped.input; missing == "" {
				panic(stopped)
			}
		default:
			panic(stopped)
		}
	}()
	work()
	return ""
}

// Survive calls a function that trouble may end.
func Survive(api *API, work func()) {
	defer func() {
		stopped := recover()
		if _, trouble := stopped.(skipSpec); stopped != nil && !trouble {
			panic(stopped)
		}
	}()
	work()
}

// Serves reports whether the target implements the operation, as far as the
// profile and the target say.
func (api *API) Serves(operation string) bool {
	return api.Has(Implemented(operation)) && Service(api, operation).Unserved == nil
}

// NeedServed ends the spec if the profile or the target lacks what the call needs.
func NeedServed(api *API, k Call) {
	api.Take(Implemented(k.Operation.ID))
	needed := []string{k.Operation.ID}
	if k.Operation.ID == spec.CreatePlacementTest {
		needed = append(needed, spec.DeletePlacementTest) // removes what a run creates
	}
	for _, id := range needed {
		if api.probes && (id == api.Spec.Operation || api.Spec.Operation == spec.CreatePlacementTest) {
			continue // the probe of an operation must not wait for itself, and that of create waits for no other
		}
		if r := Service(api, id).Unserved; r != nil {
			api.NotAssessed("the operation %s, which the target does not serve (it answers %d)", id, r.Status)
		}
	}
	if api.probes {
		return
	}
	// A refusal shows nothing if the target may refuse all that it does not know.
	if s := Service(api, k.Operation.ID); !s.Known && s.Missing != "" && !api.deletable(k.Operation) {
		api.NotAssessed("%s", s.Missing)
	}
}

// deletable reports whether a deletion will show that the operation is served. The
// probe saves the few subsequences that may be deleted for the specs.
func (api *API) deletable(op spec.Operation) bool {
	return op.ID == spec.DeleteSubsequence && len(api.Workspace(dataset.Main).ExpendableSubsequences) > 0
}

// unserved returns a response that shows that the target does not serve the
// spec's operation. It returns nil if it may, and ends the spec if an input is
// missing. A server that does not serve an operation answers every request with
// 404, 405 or 501; many ask for a key first. known says that it does serve it.
func (api *API) unserved() (shown *Response, known bool) {
	op := api.Operation()
	if !op.HasPathID() && !op.Unsafe() {
		return api.unservedList()
	}
	anonymous := api.Do(orUnserved(WithoutHeader(BareRequest(api))...)[0])
	if !spec.MeansUnserved(anonymous.Status) && !api.asksForKeyFirst(anonymous) {
		return nil, api.knows(anonymous)
	}
	empty := api.Do(BareRequest(api))
	switch {
	case !spec.MeansUnserved(empty.Status):
		return nil, api.knows(empty)
	case empty.Status != http.StatusNotFound:
		return &empty, false
	}
	// The 404 may mean an id, or that the request is invalid.
	if api.asksForPermission() {
		return nil, true
	}
	missing := toDelete
	if op.ID != spec.DeleteSubsequence {
		var valid Response
		if missing = Attempt(api, func() { valid = api.answered(orUnserved(api.Request())[0]) }); missing == "" {
			if spec.MeansUnserved(valid.Status) {
				return &valid, false
			}
			return nil, api.knows(valid)
		}
	}
	if api.unservedWithoutKey() {
		return &empty, false
	}
	api.NotAssessed("%s", missing)
	return nil, false
}

// answered sends the call. A target may find a test that the run has just created only
// after a while, so it asks again while the answer is a 404.
func (api *API) answered(k Call) (r Response) {
	if id := k.Operation.ID; id != spec.GetPlacementTest && id != spec.DeletePlacementTest {
		return api.Do(k)
	}
	api.look(func() bool {
		r = api.Do(k)
		return r.Status != http.StatusNotFound
	})
	return r
}

// knows reports whether the response shows that the target knows the operation: it
// differs from that to an unknown path.
func (api *API) knows(r Response) bool {
	return r.Status == http.StatusOK || r.Status != UnknownPath(api, r.Call.Key)
}

// unservedWithoutKey reports whether even requests without authorization get 404,
// 405 or 501. A server that serves the operation asks for a key.
func (api *API) unservedWithoutKey() bool {
	k := BareRequest(api)
	for _, r := range api.DoAll(orUnserved(append(WithUnknownKey(k), WithoutHeader(k)...)...)...) {
		if !spec.MeansUnserved(r.Status) {
			return false
		}
	}
	return true
}

// asksForPermission reports whether the target refuses a key without scopes, and
// not as it refuses that key an unknown path: then it knows the operation.
func (api *API) asksForPermission() bool {
	key, ok := api.Profile.ScopedKey(dataset.Main, "")
	if !ok {
		return false
	}
	r := api.Do(BareRequest(api).WithKey(key.ForClient()))
	return r.Status/100 == 4 && r.Status != http.StatusUnauthorized && !spec.MeansUnserved(r.Status) &&
		spec.MeansUnserved(UnknownPath(api, key.ForClient()))
}

// unservedList is unserved for a list, which has no reason for a 404.
func (api *API) unservedList() (shown *Response, known bool) {
	list := api.Request()
	r := api.Do(orUnserved(list)[0])
	if !spec.MeansUnserved(r.Status) {
		return nil, api.knows(r)
	}
	for _, another := range orUnserved(list.WithQuery("limit", "1"), WithoutHeader(list)[0]) {
		next := api.Do(another)
		if !spec.MeansUnserved(next.Status) && !api.asksForKeyFirst(next) {
			return nil, api.knows(next)
		}
	}
	return &r, false
}

// orUnserved declares that the operation may not be served.
func orUnserved(calls ...Call) []Call {
	for i, k := range calls {
		calls[i] = k.MayGet(http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusNotImplemented)
		calls[i].probe = true
	}
	return calls
}

// BareRequest is a request of the spec's operation that can change nothing: it
// names no resource that exists, and its body lacks what is required. The operation may
// not be served, and what a server makes of some of these requests is open.
func BareRequest(api *API) Call {
	op := api.Operation()
	k := api.As(AuthorizedRole(op), op.ID).MayBeRefused().MayGet(http.StatusNotImplemented)
	k.probe = true
	k.Fresh = true // a body that the server left unread must not be taken for this request
	if op.HasPathID() {
		k = k.WithID(api.FreshID())
	}
	switch {
	case op.ID == spec.CreatePlacementTest: // a name finds the test that a careless server makes of it
		k = k.WithBody(map[string]any{"name": api.Word()})
	case op.Method == http.MethodPost:
		k = k.WithBody(map[string]any{})
	}
	return k
}

// asksForKeyFirst reports whether the response is a 401 that says nothing about
// the operation.
func (api *API) asksForKeyFirst(r Response) bool {
	return r.Status == http.StatusUnauthorized && api.keyFirst()
}

// keyFirst reports whether the target asks for a key before it looks at the path.
func (api *API) keyFirst() bool { return UnknownPath(api, client.Key{}) == http.StatusUnauthorized }

// UnknownPath returns the status of the answer to a path that the specification
// does not have, and 0 if there is none. It asks once a run for each key.
func UnknownPath(api *API, key client.Key) int {
	return Fact(api, "", "an unknown path with "+key.Name, func(api *API) int {
		api.Spent(1)
		return api.SendUnspecified(api.Ctx, client.Request{Method: http.MethodGet, Path: "/api/v2/" + api.Word(), Key: key}).Status
	})
}
