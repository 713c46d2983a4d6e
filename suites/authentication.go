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
				api.expectUnauthorized(inTurn(append(withoutHeader(k), api.spelled(k, withKeyElsewhere)...), api.besides(op))...)
				api.expectUnauthorized(api.withEachPart(authorizedRole(op), k.WithoutAuthorization())...)
			})
			It("refuses another scheme than Bearer", Requires(spec.AuthSchemeOther), func(api *API) {
				api.expectUnauthorized(inTurn(api.spelled(api.harmlessRequest(), withOtherScheme), api.besides(op))...)
			})
			It("refuses an empty token", Requires(spec.AuthTokenEmpty), func(api *API) {
				empty := withEmptyToken(api.harmlessRequest())
				api.expectUnauthorized(append(inTurn(empty[:1], api.besides(op)), empty[1:]...)...)
			})
			It("refuses a key that was never issued", Requires(spec.AuthKeyUnknown), func(api *API) {
				k := api.harmlessRequest()
				api.expectUnauthorized(inTurn(append(withUnknownKey(k), api.spelled(k, api.withOtherTokens)...), api.besides(op))...)
			})
			It("refuses a revoked key", Requires(spec.AuthKeyRevoked), func(api *API) {
				revoked := api.withRevokedKeys(api.harmlessRequest())
				if len(revoked) == 0 {
					api.NotAssessed("a revoked key")
				}
				api.expectUnauthorized(inTurn(revoked, api.besides(op))...)
			})
		})
	}
}

// The ways to lack authorization. credentials.go has those that are almost valid.

func withoutHeader(k Call) []Call {
	return unauthorizedFor(spec.AuthHeaderMissing, k.WithoutAuthorization())
}

func withOtherScheme(k Call) []Call { return inForms(spec.AuthSchemeOther, k, otherSchemes) }

func withEmptyToken(k Call) []Call {
	return unauthorizedFor(spec.AuthTokenEmpty, k.WithAuthorization("Bearer "), k.WithAuthorization(""))
}

func withUnknownKey(k Call) []Call {
	return unauthorizedFor(spec.AuthKeyUnknown, k.WithKey(client.Key{Name: "unknown", Token: unknownToken}))
}

// withOtherTokens shows the key in forms that make another key of it.
func (api *API) withOtherTokens(k Call) []Call {
	return append(inForms(spec.AuthKeyUnknown, k, otherTokens), api.withAlmostKey(k)...)
}

// spelled returns the call in all of the forms, and with revoked keys in some of them.
func (api *API) spelled(k Call, forms func(Call) []Call) []Call {
	return append(forms(k), shareOf(api.withRevoked(k, forms))...)
}

// withRevokedKey returns no call if the profile has no revoked key.
func (api *API) withRevokedKey(k Call) []Call {
	return api.withRevoked(k, func(k Call) []Call { return unauthorizedFor(spec.AuthKeyRevoked, k) })
}

// withRevokedKeys also shows revoked keys in forms that a server may accept for a valid
// key, and beside a valid key.
func (api *API) withRevokedKeys(k Call) []Call {
	return append(api.withRevokedKey(k), api.withRevoked(k, func(revoked Call) []Call {
		return inForms(spec.AuthKeyRevoked, revoked, append(looseForms, "Bearer KEY, Bearer "+k.key.Token))
	})...)
}

// withRevoked returns the forms of the call with each revoked key.
func (api *API) withRevoked(k Call, forms func(Call) []Call) []Call {
	var calls []Call
	for _, key := range api.Profile.RevokedKeys() {
		calls = append(calls, forms(k.WithKey(key.ForClient()))...)
	}
	return calls
}

// shareOf returns every ninth of the calls, others for each operation: together, the
// operations try all of them twice.
func shareOf(calls []Call) []Call {
	const shares = 9
	var share []Call
	for i, k := range calls {
		at := slices.IndexFunc(spec.Operations(), func(op spec.Operation) bool { return op.ID == k.Operation.ID })
		if (at+i)%shares == 0 {
			share = append(share, k)
		}
	}
	return share
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
	return slices.Concat(withoutHeader(k), withOtherScheme(k)[:1], withEmptyToken(k)[:1], withUnknownKey(k), api.withRevokedKey(k))
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
