package suites

import (
	"net/http"
	"slices"

	. "github.com/onsi/ginkgo/v2"

	"outreach.example/conformance/internal/client"
	"outreach.example/conformance/spec"
)

// authentication sends requests without valid authorization (section
// Authentication, rule 3). The requests name nothing that exists, so that a
// server that serves them does no harm. Without valid authorization the response
// is 401, whatever else is wrong.
func authentication() {
	for _, op := range spec.Operations() {
		Describe(op.ID, func() {
			It("refuses a request without an Authorization header", Requires(spec.AuthHeaderMissing), func(api *API) {
				api.expectUnauthorized(withoutHeader(api.harmlessRequest())...)
			})
			It("refuses another scheme than Bearer", Requires(spec.AuthSchemeOther), func(api *API) {
				api.expectUnauthorized(withOtherScheme(api.harmlessRequest())...)
			})
			It("refuses an empty token", Requires(spec.AuthTokenEmpty), func(api *API) {
				api.expectUnauthorized(withEmptyToken(api.harmlessRequest())...)
			})
			It("refuses a key that was never issued", Requires(spec.AuthKeyUnknown), func(api *API) {
				api.expectUnauthorized(withUnknownKey(api.harmlessRequest())...)
			})
			It("refuses a revoked key", Requires(spec.AuthKeyRevoked), func(api *API) {
				revoked := api.withRevokedKey(api.harmlessRequest())
				if len(revoked) == 0 {
					api.NotAssessed("a revoked key")
				}
				api.expectUnauthorized(revoked...)
			})
		})
	}
}

// The ways to lack authorization.

func withoutHeader(k Call) []Call {
	return unauthorizedFor(spec.AuthHeaderMissing, k.WithoutAuthorization())
}

func withOtherScheme(k Call) []Call {
	return unauthorizedFor(spec.AuthSchemeOther, k.WithAuthorization("Basic "+k.key.Token), k.WithAuthorization(k.key.Token))
}

func withEmptyToken(k Call) []Call {
	return unauthorizedFor(spec.AuthTokenEmpty, k.WithAuthorization("Bearer "))
}

func withUnknownKey(k Call) []Call {
	calls := []Call{k.WithKey(client.Key{Name: "unknown", Token: unknownToken})}
	if n := len(k.key.Token); n >= longKey {
		calls = append(calls, k.WithKey(client.Key{Name: "half-of-" + k.key.Name, Token: k.key.Token[:n/2]}))
	}
	return unauthorizedFor(spec.AuthKeyUnknown, calls...)
}

// withRevokedKey returns no call if the profile has no revoked key.
func (api *API) withRevokedKey(k Call) []Call {
	revoked, ok := api.Profile.RevokedKey()
	if !ok {
		return nil
	}
	return unauthorizedFor(spec.AuthKeyRevoked, k.WithKey(token(revoked)))
}

// unauthorizedFor declares that the calls lack what the requirement is about.
func unauthorizedFor(id spec.ID, calls ...Call) []Call {
	for i, k := range calls {
		calls[i] = k.MustGet(http.StatusUnauthorized).Breaking(id)
	}
	return calls
}

// unauthorized lacks authorization in every way.
func (api *API) unauthorized(k Call) []Call {
	return slices.Concat(withoutHeader(k), withOtherScheme(k), withEmptyToken(k), withUnknownKey(k), api.withRevokedKey(k))
}

// longKey is how many bytes a key must have for its half to be surely no key.
const longKey = 16

// expectUnauthorized expects a 401 for each of the calls. The same request with
// a good key must not be answered 401, or the 401 proves nothing.
func (api *API) expectUnauthorized(calls ...Call) {
	api.control()
	for _, response := range api.DoAll(calls...) {
		api.Expect(response).To(HaveStatus(http.StatusUnauthorized))
	}
}

// control sends the spec's harmless request with a good key, once a run.
func (api *API) control() {
	op := api.Operation()
	if _, done := api.controlled.LoadOrStore(op.ID, true); done {
		return
	}
	k := api.harmlessRequest()
	if op.Answer == spec.Page {
		k = k.WithQuery("limit", "1") // so that the server has little to do
	}
	if r := api.Do(k); r.Status == http.StatusUnauthorized {
		api.evidence.Answered(op.ID, r.Status)
	}
}
