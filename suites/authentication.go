package suites

import (
	"net/http"
	"slices"

	. "github.com/onsi/ginkgo/v2"

	"outreach.example/conformance/spec"

	. "outreach.example/conformance/suites/api"
)

// authentication sends requests without valid authorization (section
// Authentication, rule 3). The requests name nothing that exists, so that a
// server that serves them does no harm. Without valid authorization the response
// is 401, whatever else is wrong.
func authentication() {
	for _, op := range spec.Operations() {
		Describe(op.ID, func() {
			It("refuses a request without an Authorization header", Requires(spec.AuthHeaderMissing), Needs(HarmlessRequest(op.ID)), func(api *API) {
				k := api.HarmlessRequest()
				calls := append(WithoutHeader(k), spelled(api, k, withKeyElsewhere)...)
				expectUnauthorized(api, inTurn(calls, besides(api, op))...)
			})
			It("refuses another scheme than Bearer", Requires(spec.AuthSchemeOther), Needs(HarmlessRequest(op.ID)), func(api *API) {
				calls := spelled(api, api.HarmlessRequest(), withOtherScheme, rareSchemes...)
				beside := append(besides(api, op), eachPart(api, op)...) // there are calls enough for each part alone
				expectUnauthorized(api, inTurn(calls, beside)...)
			})
			It("refuses an empty token", Requires(spec.AuthTokenEmpty), Needs(HarmlessRequest(op.ID)), func(api *API) {
				empty := withEmptyToken(api.HarmlessRequest())
				expectUnauthorized(api, append(inTurn(empty[:1], besides(api, op)), empty[1:]...)...)
			})
			It("refuses a key that was never issued", Requires(spec.AuthKeyUnknown), Needs(HarmlessRequest(op.ID)), func(api *API) {
				k := api.HarmlessRequest()
				almost := spelled(api, k, func(k Call) []Call { return withOtherToken(api, k) }, rareTokens...)
				beside := append(besides(api, op), eachPart(api, op)...)
				expectUnauthorized(api, inTurn(append(WithUnknownKey(k), almost...), beside)...)
			})
			It("refuses a revoked key", Requires(spec.AuthKeyRevoked), Needs(RevokedKey, HarmlessRequest(op.ID)), func(api *API) {
				k := api.HarmlessRequest()
				api.Take(RevokedKey)
				expectUnauthorized(api, inTurn(withRevokedKeys(api, k), besides(api, op))...)
			})
		})
	}
}

func withEmptyToken(k Call) []Call {
	return UnauthorizedFor(spec.AuthTokenEmpty, k.WithHeader("Authorization", "Bearer "), k.WithHeader("Authorization", ""))
}

// spelled returns the call in each of the forms and in a share of the rare ones, and a share of
// all these forms with revoked keys.
func spelled(api *API, k Call, forms func(Call) []Call, rare ...string) []Call {
	const times, once = 3, 1 // how often the operations try a form together
	revoked := withRevoked(api, k, func(k Call) []Call { return append(forms(k), inForms(api.Requirement(), k, rare)...) })
	return slices.Concat(forms(k), inForms(api.Requirement(), k, shareOf(k.Operation, rare, times)), shareOf(k.Operation, revoked, once))
}

// shareOf returns the share of an operation if all operations together try each item so often.
func shareOf[T any](op spec.Operation, items []T, times int) (share []T) {
	operations := spec.Operations()
	shares := len(operations) / times
	at := slices.IndexFunc(operations, func(other spec.Operation) bool { return other.ID == op.ID })
	for i := at % shares; i < len(items); i += shares {
		share = append(share, items[i])
	}
	return share
}

// withRevokedKey returns no call if the profile has no revoked key.
func withRevokedKey(api *API, k Call) []Call {
	return withRevoked(api, k, func(k Call) []Call { return UnauthorizedFor(spec.AuthKeyRevoked, k) })
}

// withRevokedKeys also shows revoked keys in forms that a server may accept for a valid
// key, and beside a valid key.
func withRevokedKeys(api *API, k Call) []Call {
	return append(withRevokedKey(api, k), withRevoked(api, k, func(revoked Call) []Call {
		return inForms(spec.AuthKeyRevoked, revoked, append(looseForms, "Bearer KEY, Bearer "+k.Key.Token))
	})...)
}

// withRevoked returns the forms of the call with each revoked key.
func withRevoked(api *API, k Call, forms func(Call) []Call) []Call {
	var calls []Call
	for _, key := range api.Profile.RevokedKeys() {
		calls = append(calls, forms(k.WithKey(key.ForClient()))...)
	}
	return calls
}

// unauthorized lacks authorization in every way.
func unauthorized(api *API, k Call) []Call {
	return slices.Concat(WithoutHeader(k), withOtherScheme(k)[:1], withEmptyToken(k)[:1], WithUnknownKey(k), withRevokedKey(api, k))
}

func hasBody(k Call) bool { return k.Raw != nil || k.Body != nil }

// credentials names the operation and what the request shows as authorization.
func credentials(k Call) string {
	if k.Authorization != nil {
		return k.Operation.ID + " " + *k.Authorization
	}
	return k.Operation.ID + " " + k.Key.Token
}

// provoke sends the calls, to get an error, that no other spec has sent for that.
func provoke(api *API, calls ...Call) {
	api.DoAll(slices.DeleteFunc(calls, func(k Call) bool {
		return !FirstTime(api, "provoked", credentials(k))
	})...)
}

// expectUnauthorized expects a 401 for each of the calls. The same request with
// a good key must not be answered 401, or the 401 proves nothing.
func expectUnauthorized(api *API, calls ...Call) {
	control(api)
	for i, k := range calls {
		// A server may leave the body of a refused request unread. One such request of a spec
		// shows that; the others must not suffer from it.
		calls[i].Fresh = api.BodyRefused
		api.BodyRefused = api.BodyRefused || hasBody(k)
	}
	for _, response := range api.DoAll(calls...) {
		FirstTime(api, "provoked", credentials(response.Call))
		if response.Call.ID == malformedID && !isUnknownPath(api, response) {
			api.Expect(response).To(HaveStatus(http.StatusUnauthorized))
		}
	}
}

// control sends the spec's harmless request with a good key, once a run.
func control(api *API) {
	op := api.Operation()
	Fact(api, op.ID, "accepts a good key", func(api *API) bool {
		k := api.HarmlessRequest()
		if op.Answer == spec.Page {
			k = k.WithQuery("limit", "1") // so that the server has little to do
		}
		if k.Allowed.Valid() {
			k = k.Breaking(spec.Status200)
		}
		r := api.Do(k)
		if r.Status == http.StatusUnauthorized {
			api.Evidence.Answered(op.ID, r.Status)
		}
		return r.OK()
	})
}
