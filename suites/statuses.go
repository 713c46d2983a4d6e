package suites

import (
	. "github.com/onsi/ginkgo/v2"

	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/internal/oracle"
	"outreach.example/conformance/schemas/variants"
	"outreach.example/conformance/spec"
)

// statuses sends a query parameter that the specification does not have, and invalid
// values of those that it has. Whether the server serves such a request is open. That it
// answers 200 or refuses it is not.
func statuses() {
	for _, op := range spec.StatusAllowed.Operations() {
		Describe(op.ID, func() {
			It("serves or refuses an unusual query", Rules(spec.StatusAllowed), func(api *API) {
				r := api.Do(api.harmlessRequest().WithQuery("conformance_unknown", "1").MayBeRefused())
				if op.Answer == spec.Page {
					api.Observe(spec.OpenPointUnknownQuery, "%d", r.Status)
				}
				for parameter, calls := range api.invalidQueries() {
					for _, refused := range api.DoAll(calls...) {
						api.Observe(spec.OpenPointInvalidQuery, "%s: %d", parameter, refused.Status)
					}
				}
			})
		})
	}
}

// invalidQueries returns requests of the spec's operation with values that the document
// rules out, by the name of the parameter. Limits have a spec of their own.
func (api *API) invalidQueries() map[string][]Call {
	calls := map[string][]Call{}
	for _, part := range variants.Query(api.spec.Operation) {
		name := part.Name
		if known, ok := api.Profile.Parameter(api.spec.Operation, profile.CustomaryKey(api.spec.Operation, name)); ok {
			name = known
		} else if name != "with_metadata" {
			continue
		}
		for _, v := range part.Invalid {
			calls[name] = append(calls[name], api.harmlessRequest().WithQuery(name, oracle.Scalar(normalize(v.Value))).MayBeRefused())
		}
	}
	return calls
}
