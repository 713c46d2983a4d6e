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
				k := api.harmlessRequest()
				api.expectUnauthorized(withoutHeader(k)...)
				api.expectUnauthorized(withKeyElsewhere(k)...)
				api.expectUnauthorized(api.withMistakes(k.WithoutAuthorization())...)
				api.expectUnauthorized(api.withEachPart(authorizedRole(op), k.WithoutAuthorization())...)
			})
			It("refuses another scheme than Bearer", Requires(spec.AuthSchemeOther), func(api *API) {
				k := api.harmlessRequest()
				api.expectUnauthorized(withOtherScheme(k)...)
				api.expectUnauthorized(withAlmostBearer(k)...)
			})
			It("refuses an empty token", Requires(spec.AuthTokenEmpty), func(api *API) {
				k := api.harmlessRequest()
				api.expectUnauthorized(append(withEmptyToken(k), k.WithAuthorization(""))...)
			})
			It("refuses a key that was never issued", Requires(spec.AuthKeyUnknown), func(api *API) {
				k := api.harmlessRequest()
				api.expectUnauthorized(withUnknownKey(k)...)
				api.expectUnauthorized(api.withAlmostKey(k)...)
				api.expectUnauthorized(withNoKey(k)...)
				api.expectUnauthorized(append(withTwoKeys(k, unknownToken), k.WithAuthorization("Bearer "+k.key.Token+" conformance"))...)
				api.expectUnauthorized(api.withMistakes(withUnknownKey(k)[0])...)
				api.expectUnauthorized(api.withAllParts(authorizedRole(op), withUnknownKey(k)[0])...)
			})
			It("refuses a revoked key", Requires(spec.AuthKeyRevoked), func(api *API) {
				k := api.harmlessRequest()
				revoked := api.withRevokedKey(k)
				if len(revoked) == 0 {
					api.NotAssessed("a revoked key")
				}
				api.expectUnauthorized(revoked...)
				api.expectUnauthorized(withTwoKeys(k, revoked[0].key.Token)...)
				api.expectUnauthorized(api.withMistakes(revoked[0])...)
				api.expectUnauthorized(api.withAllParts(authorizedRole(op), revoked[0])...)
			})
		})
	}
}

// The ways to lack authorization. credentials.go has those that are almost valid.

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
	return unauthorizedFor(spec.AuthKeyRevoked, k.WithKey(revoked.ForClient()))
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

func (k Call) hasBody() bool { return k.raw != nil || k.body != nil }

// credentials names the operation and what the request shows as authorization.
func (k Call) credentials() string {
	if k.authorization != nil {
		return k.Operation.ID + " " + *k.authorization
	}
	return k.Operation.ID + " " + k.key.Token
}

// provoke sends the calls, to get an error, that no other spec has sent for that.
func (api *API) provoke(calls ...Call) {
	api.DoAll(slices.DeleteFunc(calls, func(k Call) bool {
		_, sent := api.provoked.Load(k.credentials())
		return sent
	})...)
}

// longKey is how many bytes a key must have for a part of it, or for it with another
// letter, to be surely no key.
const longKey = 16

// expectUnauthorized expects a 401 for each of the calls. The same request with
// a good key must not be answered 401, or the 401 proves nothing.
func (api *API) expectUnauthorized(calls ...Call) {
	api.control()
	for i, k := range calls {
		if !k.allowed.Open() && k.allowed != client.Only(http.StatusUnauthorized) {
			calls[i] = k.MustGet(http.StatusUnauthorized)
		}
		// A server may leave the body of a refused request unread. One such request of a spec
		// shows that; the others must not suffer from it.
		calls[i].fresh = api.bodyRefused
		api.bodyRefused = api.bodyRefused || k.hasBody()
	}
	for _, response := range api.DoAll(calls...) {
		api.provoked.Store(response.Call.credentials(), true)
		if api.isUnknownPath(response) {
			continue
		}
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
