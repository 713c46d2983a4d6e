package suites

import (
	. "github.com/onsi/ginkgo/v2"

	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/internal/oracle"
	"outreach.example/conformance/schemas/contract"
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
				for i, part := range contract.Query(op.ID) {
					if name, known := nameOf(api, part); known {
						expectAnswers(api, i, name, part)
					}
				}
			})
		})
	}
}

// expectAnswers sends values of a query parameter that the document rules out, and values that
// break careless servers. The parameters share the latter.
func expectAnswers(api *API, index int, name string, part contract.Part) {
	for _, v := range part.Invalid {
		refused := api.Do(withValues(api, name, oracle.Scalar(Normalize(v.Value))))
		api.Observe(spec.OpenPointInvalidQuery, "%s: %d", name, refused.Status)
	}
	valid, isBool := "conformance", false
	if len(part.Valid) > 0 {
		valid = oracle.Scalar(Normalize(part.Valid[0].Value))
		_, isBool = part.Valid[0].Value.(bool)
	}
	if index%2 == 0 {
		api.DoAll(withValues(api, name, ""), withValues(api, name, "\x00"))
	} else {
		api.DoAll(withValues(api, name, " "), withValues(api, name, valid, valid))
	}
	if isBool {
		api.Do(withValues(api, name, []string{"TRUE", "1", "yes"}[index%3]))
	}
}

// withValues returns a request of the spec's operation with values of a query parameter.
func withValues(api *API, name string, values ...string) Call {
	k := api.HarmlessRequest().WithQuery(name, "").MayBeRefused()
	k.Query[name] = values
	return k
}

// nameOf returns the target's name of a query parameter of the spec's operation. Limits have
// a spec of their own.
func nameOf(api *API, part contract.Part) (name string, known bool) {
	if part.Name == "with_metadata" {
		return part.Name, true
	}
	return api.Profile.Parameter(api.Spec.Operation, profile.CustomaryKey(api.Spec.Operation, part.Name))
}
