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
	ctx    context.Context
	send   paging.Sender
	target *target.Target
	asked  int // requests

	roundTrip time.Duration // of the first request; 0 without a response
}

// doubt returns what is wrong with the keys or with the address, or "". All means that the
// target accepts none of them, so that nothing can be judged.
func (k *keyCheck) doubt() (why string, all bool) {
	p := k.target.Profile
	main, ok := p.FullKey(dataset.Main)
	if !ok {
		return "", false
	}
	status, refusing := k.refuses(main, slices.DeleteFunc(spec.Operations(), func(op spec.Operation) bool {
		return op.Answer != spec.Page || !p.Implements(op.ID)
	})...)
	if status == 0 {
		return "", false
	}
	if spec.MeansUnserved(status) {
		return fmt.Sprintf("the target serves no list (%d): is %s the address in front of /api/v2?", status, k.target.BaseURL), false
	}
	why = fmt.Sprintf("the target refuses %s on every request (%d), probably the cause of the other failures (`outreach-conformance target check` tries each key of the profile)",
		main.Label(), status)
	acceptsAnother := slices.ContainsFunc(p.Keys, func(other profile.Key) bool {
		i := slices.IndexFunc(refusing, other.Reads)
		if other.State != profile.KeyActive || other.Name == main.Name || i < 0 {
			return false
		}
		status, _ := k.refuses(other, refusing[i])
		return status == 0 || spec.MeansUnserved(status)
	})
	return why, !acceptsAnother
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
	why, all := (&keyCheck{ctx: ctx, send: api.Do, target: t}).doubt()
	if !all {
		why = ""
	}
	return why, nil
}

// refuses asks for a page of one list after the other until the target accepts the
// key. It returns the first status with which the key is refused, and the lists that
// refuse it; 0 if one accepts it. A list that is not served shows nothing about the
// key: its status is returned if none is served.
func (k *keyCheck) refuses(key profile.Key, lists ...spec.Operation) (status int, by []spec.Operation) {
	unserved := 0
	for _, op := range lists {
		k.asked++
		ex := k.send(k.ctx, client.Request{Operation: op.ID, Method: op.Method, Path: op.Path, Query: url.Values{"limit": {"1"}},
			Key: key.ForClient(), Allowed: client.AnyRefusal(http.StatusOK, http.StatusNotImplemented)})
		if ex.Err != nil {
			return 0, nil
		}
		k.roundTrip = cmp.Or(k.roundTrip, ex.Took)
		switch {
		case ex.Status == http.StatusUnauthorized, ex.Status == http.StatusForbidden:
			status = cmp.Or(status, ex.Status)
			by = append(by, op)
		case spec.MeansUnserved(ex.Status):
			unserved = ex.Status
		default:
			return 0, nil
		}
	}
	return cmp.Or(status, unserved), by
}
