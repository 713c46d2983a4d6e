package runner

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/internal/client"
	"outreach.example/conformance/spec"
)

// keyCheck checks, before anything is judged, whether the target accepts the keys of
// the profile. That costs 1 request. If the target refuses the main key, more requests
// distinguish a wrong key from an operation that refuses a valid one.
type keyCheck struct {
	ctx     context.Context
	api     *client.Client
	profile *profile.Profile
	asked   int // requests
}

// doubt returns what is wrong with the keys, or "". All means that the target accepts
// none of them, so that nothing can be judged.
func (k *keyCheck) doubt() (why string, all bool) {
	main, ok := k.profile.FullKey(dataset.Main)
	if !ok {
		return "", false
	}
	status, refused := k.refuses(main, pages()...)
	if !refused {
		return "", false
	}
	why = fmt.Sprintf("the target refuses %s on every request (%d), probably the cause of the other failures (`outreach-conformance target check` tries each key of the profile)",
		main.Label(), status)
	for _, other := range k.profile.Keys {
		reads := pagesFor(other)
		if other.State != profile.KeyActive || other.Name == main.Name || len(reads) == 0 {
			continue
		}
		if _, refused := k.refuses(other, reads[0]); !refused {
			return why, false
		}
	}
	return why, true
}

// refuses asks for a page of one list after the other until the target takes the
// key. It returns the first status with which it is refused.
func (k *keyCheck) refuses(key profile.Key, lists ...spec.Operation) (status int, refused bool) {
	for _, op := range lists {
		k.asked++
		ex := k.api.Do(k.ctx, client.Request{Operation: op.ID, Method: op.Method, Path: op.Path, Query: url.Values{"limit": {"1"}},
			Key: client.Key{Name: key.Name, Token: key.Token}})
		if ex.Err != nil || ex.Status != http.StatusUnauthorized && ex.Status != http.StatusForbidden {
			return 0, false
		}
		if status == 0 {
			status = ex.Status
		}
	}
	return status, true
}

// pages are the operations that answer with pages.
func pages() []spec.Operation {
	return slices.DeleteFunc(spec.Operations(), func(op spec.Operation) bool { return op.Answer != spec.Page })
}

// pagesFor are those that the key's scopes allow to read.
func pagesFor(key profile.Key) []spec.Operation {
	return slices.DeleteFunc(pages(), func(op spec.Operation) bool {
		return !slices.ContainsFunc(op.Scope.Alternatives(), func(s string) bool { return slices.Contains(key.Scopes, s) })
	})
}
