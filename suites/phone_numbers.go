package suites

import (
	. "github.com/onsi/ginkgo/v2"

	"outreach.example/conformance/spec"
)

// phoneNumbers judges listing phone numbers: a plain array, without pages.
func phoneNumbers() {
	Describe(spec.ListPhoneNumbers, func() {
		documentedShape(func(api *API) {
			for range 3 {
				api.Do(api.Request())
			}
			for _, role := range api.rolesThatRead() { // a workspace may have none
				api.Do(api.As(role, spec.ListPhoneNumbers))
			}
		})

		It("shows each row once", Requires(spec.ListRowsOnce), func(api *API) {
			list := api.read(api.Request())
			if !list.Complete() {
				api.NotAssessed("%s from %s", list.Last().shortfall(), list.List.Operation.ID)
			}
			if len(list.Rows()) < 2 {
				api.NotAssessed("at least two rows in %s", list.List.Operation.ID)
			}
			api.Expect(list).To(ShowEveryRowOnce())
		})
	})
}
