package suites

import (
	. "github.com/onsi/ginkgo/v2"

	"outreach.example/conformance/spec"
)

// statuses sends a query parameter that the specification does not have. Whether the
// server serves such a request is open. That it answers 200 or refuses it is not.
func statuses() {
	for _, op := range spec.StatusAllowed.Operations() {
		Describe(op.ID, func() {
			It("serves or refuses an unknown query parameter", Rules(spec.StatusAllowed), func(api *API) {
				r := api.Do(api.harmlessRequest().WithQuery("conformance_unknown", "1").MayBeRefused())
				if op.Answer == spec.Page {
					api.Observe(spec.OpenPointUnknownQuery, "%d", r.Status)
				}
			})
		})
	}
}
