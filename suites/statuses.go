package suites

import (
	"iter"

	. "github.com/onsi/ginkgo/v2"

	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/internal/oracle"
	"outreach.example/conformance/schemas/variants"
	"outreach.example/conformance/spec"

	. "outreach.example/conformance/suites/api"
)

// statuses sends a query parameter that the specification does not have, and invalid and odd
// values of those that it has. Whether the server serves such a request is open. That it
// answers 200 or refuses it is not.
func statuses() {
	for _, op := range spec.StatusAllowed.Operations() {
		Describe(op.ID, func() {
			It("serves or refuses an unusual query", Rules(spec.StatusAllowed), Needs(HarmlessRequest(op.ID)), func(api *API) {
				r := api.Do(api.HarmlessRequest().WithQuery("conformance_unknown", "1").MayBeRefused())
				if op.Answer == spec.Page {
					api.Observe(spec.OpenPointUnknownQuery, "%d", r.Status)
				}
				for parameter, calls := range invalidQueries(api) {
					for _, refused := range api.DoAll(calls...) {
						api.Observe(spec.OpenPointInvalidQuery, "%s: %d", parameter, refused.Status)
					}
				}
				if odd := oddQueries(api); len(odd) > 0 {
					api.DoAll(odd...)
				}
			})
		})
	}
}

// invalidQueries returns requests of the spec's operation with values that the document
// rules out, by the name of the parameter. Limits have a spec of their own.
func invalidQueries(api *API) map[string][]Call {
	calls := map[string][]Call{}
	for name, part := range namedParts(api) {
		for _, v := range part.Invalid {
			calls[name] = append(calls[name], api.HarmlessRequest().WithQuery(name, oracle.Scalar(Normalize(v.Value))).MayBeRefused())
		}
	}
	return calls
}

// oddQueries returns requests of the spec's operation with values that break careless
// servers: an empty and a blank one, a control character, a parameter that stands twice, and
// texts that stand for booleans.
func oddQueries(api *API) []Call {
	var calls []Call
	for name, part := range namedParts(api) {
		value, odd := "conformance", []string{"", " ", "\x00"}
		if len(part.Valid) > 0 {
			value = oracle.Scalar(Normalize(part.Valid[0].Value))
			if _, isBool := part.Valid[0].Value.(bool); isBool {
				odd = append(odd, "TRUE", "1", "yes")
			}
		}
		for _, value := range odd {
			calls = append(calls, api.HarmlessRequest().WithQuery(name, value).MayBeRefused())
		}
		twice := api.HarmlessRequest().WithQuery(name, value).MayBeRefused()
		twice.Query.Add(name, value)
		calls = append(calls, twice)
	}
	return calls
}

// namedParts returns the query parameters of the spec's operation that have names.
func namedParts(api *API) iter.Seq2[string, variants.Part] {
	return func(yield func(string, variants.Part) bool) {
		for _, part := range variants.Query(api.Spec.Operation) {
			name, known := api.Profile.Parameter(api.Spec.Operation, profile.CustomaryKey(api.Spec.Operation, part.Name))
			if part.Name == "with_metadata" {
				name, known = part.Name, true
			}
			if known && !yield(name, part) {
				return
			}
		}
	}
}
