package suites

import (
	. "github.com/onsi/ginkgo/v2"
	"github.com/onsi/gomega"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/spec"

	. "outreach.example/conformance/suites/api"
)

// webhookEvents judges the rules between the attempts of one delivery (section
// Events). The rules on a single attempt are judged on every row.
func webhookEvents() {
	Describe(spec.ListWebhookEvents, func() {
		It("keeps the attempts of a delivery consistent", Requires(spec.EventGroupCount, spec.EventRetryTrue, spec.EventRetryFalse), func(api *API) {
			for _, role := range []string{dataset.Main, dataset.Second} {
				if role != dataset.Main && !api.Has(FullKey(role)) {
					continue
				}
				list := api.As(role, spec.ListWebhookEvents)
				var first Walk
				var rules map[spec.ID]Verdict
				api.Eventually(func() bool { // others may add a row, and remove it again
					first = api.Read(list)
					rules = RulesOfDeliveries(AttemptsOf(first), AttemptsOf(api.Read(list)))
					for _, found := range rules {
						if len(found.Findings) > 0 {
							return false
						}
					}
					return true
				}).Should(gomega.BeTrue())
				for id, found := range rules {
					api.For(id).Judge(found)
				}
				AttemptsOf(first).ObserveAddresses(api)
			}
		})
	})
}
