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
		})
	})
}
