package selftest

import (
	"runtime"
	"testing"
	"weak"

	. "github.com/onsi/gomega"

	"outreach.example/conformance/internal/judge"
	"outreach.example/conformance/spec"
	"outreach.example/conformance/suites/selftest/faults"
	"outreach.example/conformance/suites/tree"
)

// A case is forgotten when it has ended, although its context goes on: a self-test has
// thousands of cases.
func TestEndedCaseIsForgotten(t *testing.T) {
	g := NewWithT(t)
	rules, err := judge.NewRules()
	g.Expect(err).NotTo(HaveOccurred())
	var subject weak.Pointer[faults.Target]
	asked := 0
	_, err = examine(t.Context(), Embedded(ShortLists), rules, 1, tree.Judging(spec.Pair{Requirement: string(spec.AuthHeaderMissing), Operation: spec.ListPlacementTests}),
		func(target *faults.Target) faults.Middleware {
			subject = weak.Make(target)
			return func(next faults.Handler) faults.Handler {
				return func(r faults.Request) (faults.Response, error) {
					if target.Profile != nil {
						asked++
					}
					return next(r)
				}
			}
		})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(asked).To(BeNumerically(">", 0))
	for range 10 {
		runtime.GC()
	}
	g.Expect(subject.Value()).To(BeNil(), "something keeps the target of the case")
}
