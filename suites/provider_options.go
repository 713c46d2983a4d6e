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
)

// providerOptions judges the 19th path, the source of the provider options for a new
// test. The specification shows no scopes and no shape for it, but every endpoint asks for
// a key and can return the four errors (sections Endpoints and Errors). A target that does
// not have the path may refuse it in any way.
func providerOptions() {
	Describe(spec.CreatePlacementTest, func() {
		It("shows provider options as JSON, if at all", Requires(spec.OptionsServed), func(api *API) {
			api.needServed(Call{Operation: api.Operation()})
			api.Expect(api.askOptions(api.As(dataset.Main, spec.CreatePlacementTest))).To(BeOptions())
		})
		It("shows provider options only with valid authorization", Requires(spec.OptionsAuth), func(api *API) {
			k := api.As(dataset.Main, spec.CreatePlacementTest)
			forms := func(k Call) []Call {
				return slices.Concat(withKeyElsewhere(k), withOtherScheme(k), api.withOtherTokens(k))
			}
			api.expectWithheld(http.StatusUnauthorized, slices.Concat(withoutHeader(k), withEmptyToken(k), withUnknownKey(k), forms(k),
				api.withRevoked(k, forms), api.withRevokedKeys(k))...)
		})
		It("shows provider options to no key without scopes", Requires(spec.OptionsScope), func(api *API) {
			k := api.As(dataset.Main, spec.CreatePlacementTest)
			api.expectWithheld(anyRefusal, k.WithKey(api.keysWithScopes("")[0]))
		})
		It("shows provider options to no workspace without a paid plan", Requires(spec.OptionsBilling), func(api *API) {
			api.expectWithheld(http.StatusPaymentRequired, api.As(dataset.Unpaid, spec.CreatePlacementTest))
		})
		It("shows provider options within the rate limit", Requires(spec.OptionsRate), OneAtATime("rate limit"), func(api *API) {
			api.needServed(Call{Operation: api.Operation()})
			k := api.limitedRequest(spec.CreatePlacementTest)
			if lists := api.drain(api.limitedRequest(api.anyList(spec.Probe()))); !lists.limited {
				api.NotAssessed("%s", lists.lacks(api.Profile.RateLimit))
			}
			beyond := api.askOptions(k)
			if beyond.Status/100 == 2 { // the limit may count this path apart
				api.For(spec.OptionsRate).Assessed()
				return
			}
			api.Expect(options{api.askOptions(api.As(dataset.Main, spec.CreatePlacementTest)), []Response{beyond}}).To(BeWithheld(http.StatusTooManyRequests, api.Rules))
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
func (api *API) expectWithheld(status int, calls ...Call) {
	api.needServed(Call{Operation: api.Operation()}) // a target that serves nothing withholds everything
	seen := options{full: api.askOptions(api.As(dataset.Main, spec.CreatePlacementTest)), refused: make([]Response, len(calls))}
	work := make([]func(), len(calls))
	for i, k := range calls {
		work[i] = func() { seen.refused[i] = api.askOptions(k) }
	}
	api.Together(work...)
	api.Expect(seen).To(BeWithheld(status, api.Rules))
}

// askOptions asks for the provider options with the credentials of the call.
func (api *API) askOptions(k Call) Response {
	api.need(api.sandbox().Afford())
	r := Response{Call: k, Exchange: api.SendUnspecified(api.ctx, client.Request{Operation: k.Operation.ID, Method: http.MethodGet, Path: spec.OptionsPath,
		Query: k.query, Header: k.header, Key: k.key, Authorization: k.authorization, NoRetry: k.noRetry, Provoked: k.provoked})}
	if r.Err != nil || r.Truncated {
		api.stop(r)
	}
	return r
}

// BeOptions matches an answer that shows JSON of any shape, and the answer of a target that
// does not have the path. The key of a refusal may lack a scope, which is not shown.
func BeOptions() types.GomegaMatcher {
	return &expectation[Response]{words: "show provider options as JSON", judge: func(r Response) Verdict {
		found := Verdict{Assessed: 1}
		switch {
		case r.Status/100 == 4 && !spec.MeansUnserved(r.Status):
			return Verdict{Missing: fmt.Sprintf("provider options for a key that may see them (got %d)", r.Status)}
		case r.Status == http.StatusOK && !json.Valid(r.Body):
			found.add(Finding{r, "", "JSON", describe(r)})
		case r.Status != http.StatusOK && !spec.MeansUnserved(r.Status):
			found.add(Finding{r, "status", "200 or a refusal (4xx)", describe(r)})
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
	return &expectation[options]{words: "withhold the provider options", judge: func(o options) Verdict {
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
				found.add(Finding{r, "status", expected, describe(r)})
			default:
				for _, f := range rules.Check(judge.Request{Operation: r.Call.Operation, Allowed: client.Only(status)}, r.Exchange).Findings {
					found.add(Finding{r, f.Pointer, f.Expected, f.Actual})
				}
			}
		}
		return found
	}}
}
