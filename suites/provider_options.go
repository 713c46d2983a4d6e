package suites

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"

	. "github.com/onsi/ginkgo/v2"
	"github.com/onsi/gomega/types"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/internal/client"
	"outreach.example/conformance/internal/judge"
	"outreach.example/conformance/spec"

	. "outreach.example/conformance/suites/match"

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
			api.Expect(askOptions(api, api.As(dataset.Main, spec.CreatePlacementTest))).To(BeOptions())
		})
		It("shows provider options only with valid authorization", Requires(spec.OptionsAuth), func(api *API) {
			k := api.As(dataset.Main, spec.CreatePlacementTest)
			forms := func(k Call) []Call {
				return slices.Concat(withKeyElsewhere(k), withOtherScheme(k), withOtherTokens(api, k))
			}
			expectWithheld(api, http.StatusUnauthorized, slices.Concat(WithoutHeader(k), withEmptyToken(k), WithUnknownKey(k), forms(k),
				withRevoked(api, k, forms), withRevokedKeys(api, k))...)
		})
		It("shows provider options to no key without scopes", Requires(spec.OptionsScope), Needs(keyWithOneOf("")), func(api *API) {
			k := api.As(dataset.Main, spec.CreatePlacementTest)
			expectWithheld(api, anyRefusal, k.WithKey(takeKeys(api, "")[0]))
		})
		It("shows provider options to no workspace without a paid plan", Requires(spec.OptionsBilling), Needs(KeyFor(dataset.Unpaid, spec.CreatePlacementTest)), func(api *API) {
			expectWithheld(api, http.StatusPaymentRequired, api.As(dataset.Unpaid, spec.CreatePlacementTest))
		})
		It("shows provider options within the rate limit", Requires(spec.OptionsRate), Needs(LimitedRequest(spec.CreatePlacementTest), KeyFor(dataset.Main, spec.CreatePlacementTest)), OneAtATime("rate limit"), func(api *API) {
			NeedServed(api, Call{Operation: api.Operation()})
			k := limitedRequest(api, spec.CreatePlacementTest)
			if lists := drain(api, limitedRequest(api, anyList(api, spec.Probe()))); !lists.limited {
				api.NotAssessed("%s", lists.lacks(api.Profile.RateLimit))
			}
			beyond := askOptions(api, k)
			if beyond.Status/100 == 2 { // the limit may count this path apart
				api.For(spec.OptionsRate).Assessed()
				return
			}
			api.Expect(options{askOptions(api, api.As(dataset.Main, spec.CreatePlacementTest)), []Response{beyond}}).To(BeWithheld(http.StatusTooManyRequests, api.Rules))
		})
	})
}

// anyRefusal stands for a refusal whose status the specification does not show.
const anyRefusal = 0

// options are the answers to requests for the provider options.
type options struct {
	full    Response // with the full key
	refused []Response
}

// expectWithheld asks for the options with each of the credentials.
func expectWithheld(api *API, status int, calls ...Call) {
	NeedServed(api, Call{Operation: api.Operation()}) // a target that serves nothing withholds everything
	seen := options{full: askOptions(api, api.As(dataset.Main, spec.CreatePlacementTest)), refused: make([]Response, len(calls))}
	work := make([]func(), len(calls))
	for i, k := range calls {
		work[i] = func() { seen.refused[i] = askOptions(api, k) }
	}
	api.Together(work...)
	api.Expect(seen).To(BeWithheld(status, api.Rules))
}

// askOptions asks for the provider options with the credentials of the call.
func askOptions(api *API, k Call) Response {
	EndIf(api, api.Sandbox().Afford())
	r := Response{Call: k, Exchange: api.SendUnspecified(api.Ctx, client.Request{Operation: k.Operation.ID, Method: http.MethodGet, Path: spec.OptionsPath,
		Query: k.Query, Header: k.Header, Key: k.Key, Authorization: k.Authorization, NoRetry: k.NoRetry, Provoked: k.Provoked})}
	if r.Err != nil || r.Truncated {
		Stop(api, r)
	}
	return r
}

// BeOptions matches an answer that shows JSON of any shape, and the answer of a target that
// does not have the path. The key of a refusal may lack a scope, which is not shown.
func BeOptions() types.GomegaMatcher {
	return &Expectation[Response]{Words: "show provider options as JSON", Judge: func(r Response) Verdict {
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
	}}
}

// BeWithheld matches answers that withhold the provider options with that status and the
// documented error. If the full key does not see them either, the target may not have the
// path.
func BeWithheld(status int, rules *judge.Rules) types.GomegaMatcher {
	expected := fmt.Sprint(status)
	if status == anyRefusal {
		expected = "a refusal (4xx)"
	}
	return &Expectation[options]{Words: "withhold the provider options", Judge: func(o options) Verdict {
		found := Verdict{Assessed: 1}
		has := o.full.Status/100 == 2
		if !has && !spec.MeansUnserved(o.full.Status) {
			return Verdict{Missing: fmt.Sprintf("provider options for a key that may see them (got %d)", o.full.Status)}
		}
		for _, r := range o.refused {
			refused := r.Status/100 == 4
			switch {
			case !has && (refused || spec.MeansUnserved(r.Status)), refused && status == anyRefusal:
			case r.Status != status:
				found.Add(Found(r, "status", expected, Readable(r)))
			default:
				for _, f := range rules.Check(judge.Request{Operation: r.Call.Operation, Allowed: client.Only(status)}, r.Exchange).Findings {
					found.Add(Found(r, f.Pointer, f.Expected, f.Actual))
				}
			}
		}
		return found
	}}
}
