package suites

import (
	"cmp"

	. "github.com/onsi/ginkgo/v2"

	"outreach.example/conformance/spec"

	. "outreach.example/conformance/suites/api"
)

// served judges whether the target implements each operation at all. Every spec
// depends on that: what needs an operation that is not served is not assessed, so
// that a missing operation is one failure.
func served() {
	for _, op := range spec.Operations() {
		Describe(op.ID, func() {
			It("is implemented", Rules(spec.Served), Needs(HarmlessRequest(op.ID)), func(api *API) {
				pair := spec.Served.On(op.ID)
				switch s := Service(api, op.ID); {
				case s.Crash != "":
					Trouble(api, s.Crash)
				case s.Unserved != nil:
					api.Evidence.Assessed(pair, 1)
					Violated(api, pair, Finding{Response: *s.Unserved, Pointer: "status",
						Expected: "a status other than 404, 405 and 501 to some request",
						Actual:   s.Unserved.Describe() + ", and no other request was answered better"}, "")
				case s.Known:
					api.Evidence.Assessed(pair, 1)
				default: // a 200 to another spec may still show it
					api.Evidence.Missing(pair, cmp.Or(s.Missing, "a response that differs from that to an unknown path"))
				}
			})
		})
	}
}
