package suites

import (
	. "github.com/onsi/ginkgo/v2"

	"outreach.example/conformance/spec"
)

// dfyEmailAccountOrders judges listing done-for-you email account orders. Their
// rows have no id: a row is identified by all that it says.
func dfyEmailAccountOrders() {
	Describe(spec.ListDFYOrders, func() {
		documentedShape(readEachWay)
	})
}
