package suites

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"

	. "github.com/onsi/ginkgo/v2"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/internal/client"
	"outreach.example/conformance/internal/judge"
	"outreach.example/conformance/spec"

	. "outreach.example/conformance/suites/api"
)

// providerOptions judges the 19th path, the source of the provider options for a new
// test. The specification shows no scopes and no shape for it, but every endpoint asks for
// a key and can return the four errors (sections Endpoints and Errors). A target that does
// not have the path may refuse it in any way.
func providerOptions() {
	Describe(spec.CreatePlacementTest, func() {
		It("shows provider options as JSON, if at all", Requires(spec.OptionsServed), func(api *API) {
			NeedServed(api, Call{Operation: api.Operation()})
			api.For(spec.OptionsServed).Judge(showOptions(askOptions(api, api.As(dataset.Main, spec.CreatePlacementTest))))
		})
		It("shows provider options only with valid authorization", Requires(spec.OptionsAuth), func(api *API) {
			k := api.As(dataset.Main, spec.CreatePlacementTest)
			almostValid := func(k Call) []Call {
				rare := inForms(spec.OptionsAuth, k, slices.Concat(rareSchemes, rareTokens))
				return slices.Concat(withKeyElsewhere(k), withOtherScheme(k), withOtherToken(api, k), rare)
			}
			expectWithheld(api, http.StatusUnauthorized, slices.Concat(WithoutHeader(k), withEmptyToken(k), WithUnknownKey(k), almostValid(k),
				withRevoked(api, k, almostValid), withRevokedKeys(api, k))...)
		})
		It("shows provider options to no key without scopes", Requires(spec.OptionsScope), Needs(keyWithOneOf("")), func(api *API) {
			k := api.As(dataset.Main, spec.CreatePlacementTest)
			key := takeKeys(api, "")[0]
			needKnown(api, key)
			expectWithheld(api, anyRefusal, k.WithKey(key))
		})
		It("shows provider options to no workspace without a paid plan", Requires(spec.OptionsBilling), Needs(KeyFor(dataset.Unpaid, spec.CreatePlacementTest)), func(api *API) {
			expectWithheld(api, http.StatusPaymentRequired, api.As(dataset.Unpaid, spec.CreatePlacementTest))
		})
		It("shows provider options within the rate limit", Requires(spec.OptionsRate), Needs(LimitedRequest(spec.CreatePlacementTest)), OneAtATime("rate limit"), func(api *API) {
			NeedServed(api, Call{Operation: api.Operation()})
			k := limitedRequest(api, spec.CreatePlacementTest)
			below := k
			below.NoRetry = false
			full := askOptions(api, below) // the key may lack a scope that is not shown
			exceedByLists(api)
			beyond := askOptions(api, k)
			if beyond.Status/100 == 2 { // the limit may count this path apart
				api.For(spec.OptionsRate).Assessed()
				return
			}
			judgeWithheld(api, http.StatusTooManyRequests, full, beyond)
		})
	})
}

// anyRefusal stands for a refusal whose status the specification does not show.
const anyRefusal = 0

// expectWithheld asks for the options with each of the credentials.
func expectWithheld(api *API, status int, calls ...Call) {
	NeedServed(api, Call{Operation: api.Operation()}) // a target that serves nothing withholds everything
	full := askOptions(api, api.As(dataset.Main, spec.CreatePlacementTest))
	judgeWithheld(api, status, full, Each(api, calls, func(k Call) Response { return askOptions(api, k) })...)
}

// askOptions asks for the provider options with the credentials of the call.
func askOptions(api *API, k Call) Response {
	EndIf(api, api.Sandbox().Afford())
	r := Response{Call: k, Exchange: api.SendUnspecified(api.Ctx, client.Request{Operation: k.Operation.ID, Method: http.MethodGet, Path: spec.OptionsPath,
		Query: k.Query, Header: k.Header, Key: k.Key, Authorization: k.Authorization, NoRetry: k.NoRetry, Provoked: k.Provoked})}
	if r.Err != nil || r.Truncated {
		Stop(api, r)
	}
	api.Evidence.From(r.Exchange.ID)
	return r
}

// showOptions judges that an answer shows JSON of any shape, or is that of a target that
// does not have the path. The key of a refusal may lack a scope, which is not shown.
func showOptions(r Response) Verdict {
	found := Verdict{Assessed: 1}
	switch {
	case r.Status/100 == 4 && !spec.MeansUnserved(r.Status):
		return Verdict{Missing: fmt.Sprintf("provider options for a key that may see them (got %d)", r.Status)}
	case r.Status == http.StatusOK && !json.Valid(r.Body):
		found.Add(Found(r, "", "JSON", Readable(r)))
	case r.Status != http.StatusOK && !spec.MeansUnserved(r.Status):
		found.Add(Found(r, "status", "200 or a refusal (4xx)", Readable(r)))
	}
	return found
}

// judgeWithheld expects that answers withhold the provider options with that status and the
// documented error. If the full key does not see them either, the target may not have the
// path.
func judgeWithheld(api *API, status int, full Response, refused ...Response) {
	has, withheld := full.Status/100 == 2, api.For(api.Requirement())
	if !has && !spec.MeansUnserved(full.Status) {
		withheld.Missing("provider options for a key that may see them (got %d)", full.Status)
		return
	}
	expected := fmt.Sprint(status)
	if status == anyRefusal {
		expected = "a refusal (4xx)"
	}
	found := Verdict{Assessed: 1}
	for _, r := range refused {
		isRefusal := r.Status/100 == 4
		switch {
		case !has && (isRefusal || spec.MeansUnserved(r.Status)), isRefusal && status == anyRefusal:
		case r.Status != status:
			found.Add(Found(r, "status", expected, Readable(r)))
		default:
			for _, f := range api.Rules.Check(judge.Request{Operation: r.Call.Operation, Allowed: client.Only(status)}, r.Exchange).Findings {
				found.Add(Found(r, f.Pointer, f.Expected, f.Actual))
			}
		}
	}
	withheld.Judge(found)
}
