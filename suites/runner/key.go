package runner

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"time"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/fixtures/target"
	"outreach.example/conformance/internal/client"
	"outreach.example/conformance/internal/paging"
	"outreach.example/conformance/spec"
)

// keyCheck checks, before anything is judged, whether the target accepts the keys of
// the profile. That costs 1 request. If the target refuses the main key, more requests
// distinguish a wrong key from an operation that refuses a valid one. If it does not serve
// the first list, they show whether it serves any.
type keyCheck struct {
	ctx     context.Context
	send    paging.Sender
	profile *profile.Profile
	base    string // the address of the target
	asked   int    // requests

	roundTrip time.Duration // of the first request; 0 without a response
}

// doubt returns what is wrong with the keys or with the address, or "". All means that the target accepts
// none of them, so that nothing can be judged.
func (k *keyCheck) doubt() (why string, all bool) {
	main, ok := k.profile.FullKey(dataset.Main)
	if !ok {
		return "", false
	}
	status, lists := k.refuses(main, k.pages()...)
	if spec.MeansUnserved(status) {
		return fmt.Sprintf("the target serves no list (%d): is %s the address in front of /api/v2?", status, k.base), false
	}
	if status == 0 {
		return "", false
	}
	why = fmt.Sprintf("the target refuses %s on every request (%d), probably the cause of the other failures (`outreach-conformance target check` tries each key of the profile)",
		main.Label(), status)
	for _, other := range k.profile.Keys {
		reads := readable(other, lists)
		if other.State != profile.KeyActive || other.Name == main.Name || len(reads) == 0 {
			continue
		}
		if status, _ := k.refuses(other, reads[0]); status == 0 || spec.MeansUnserved(status) {
			return why, false
		}
	}
	return why, true
}

// KnowsNoKey says that the target refuses all keys of its profile, or "". It costs 1
// request, unless the target refuses the main key or does not serve the first list. say
// receives what the request waits for.
func KnowsNoKey(ctx context.Context, t *target.Target, say func(string)) (string, error) {
	api, err := t.Client(client.Options{Waits: func(w client.Wait) { say(w.String()) }})
	if err != nil {
		return "", err
	}
	defer api.Close()
	keys := &keyCheck{ctx: ctx, send: api.Do, profile: t.Profile, base: t.BaseURL}
	if why, all := keys.doubt(); all {
		return why, nil
	}
	return "", nil
}

// maybe is what the specification allows as the response: the key may be wrong, and the
// list not served.
var maybe = client.AnyRefusal(http.StatusOK, http.StatusNotImplemented)

// refuses asks for a page of one list after the other until the target accepts the
// key. It returns the first status with which the key is refused, and the lists that
// refuse it; 0 if one accepts it. A list that is not served shows nothing about the
// key: its status is returned if none is served.
func (k *keyCheck) refuses(key profile.Key, lists ...spec.Operation) (status int, by []spec.Operation) {
	unserved := 0
	for _, op := range lists {
		k.asked++
		ex := k.send(k.ctx, client.Request{Operation: op.ID, Method: op.Method, Path: op.Path, Query: url.Values{"limit": {"1"}},
			Key: key.ForClient(), Allowed: maybe})
		if ex.Err != nil {
			return 0, nil
		}
		k.roundTrip = cmp.Or(k.roundTrip, ex.Took)
		switch ex.Status {
		case http.StatusUnauthorized, http.StatusForbidden:
			status = cmp.Or(status, ex.Status)
			by = append(by, op)
		case http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusNotImplemented:
			unserved = ex.Status
		default:
			return 0, nil
		}
	}
	return cmp.Or(status, unserved), by
}

// pages are the implemented operations that answer with pages.
func (k *keyCheck) pages() []spec.Operation {
	return slices.DeleteFunc(spec.Operations(), func(op spec.Operation) bool {
		return op.Answer != spec.Page || !k.profile.Implements(op.ID)
	})
}

// readable returns the lists that the key's scopes allow to read.
func readable(key profile.Key, lists []spec.Operation) []spec.Operation {
	return slices.DeleteFunc(slices.Clone(lists), func(op spec.Operation) bool {
		return !slices.ContainsFunc(op.Scope.Alternatives(), func(s string) bool { return slices.Contains(key.Scopes, s) })
	})
}
