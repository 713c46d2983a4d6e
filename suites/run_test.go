package suites_test

import (
	"flag"
	"testing"

	. "github.com/onsi/gomega"

	"outreach.example/conformance/suites"
)

// Ginkgo ends the process where `go test` was given a -count; a run does not.
func TestRunInATestThatIsRepeated(t *testing.T) {
	g := NewWithT(t)
	env := environment(t, subjectOfTest(t))
	count := flag.Lookup("test.count")
	usual := count.Value.String()
	g.Expect(flag.Set(count.Name, "2")).To(Succeed())
	defer func() { g.Expect(flag.Set(count.Name, usual)).To(Succeed()) }()
	specs := suites.All()[:1]
	g.Expect(suites.Run(t.Context(), env, specs, suites.Progress{})).To(Equal(1))
}
