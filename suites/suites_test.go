package suites_test

import (
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	_ "outreach.example/conformance/fixtures/target/container"
	"outreach.example/conformance/suites"
	"outreach.example/conformance/suites/runner"
	"outreach.example/conformance/suites/tree"
)

// TestConformance judges the reference server, or the target that
// OUTREACH_TARGET and OUTREACH_TARGET_PROFILE name, as an ordinary Ginkgo suite:
//
//	go test ./suites -count=1 -run TestConformance -args -ginkgo.label-filter=group:sort
//	ginkgo --label-filter='group:isolation && !requirement:ISOLATION-LIST' ./suites
func TestConformance(t *testing.T) {
	env, err := runner.FromEnvironment(t.Context(), GinkgoRandomSeed())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := env.Close(); err != nil {
			t.Error(err)
		}
	})
	suites.Tree.Register(env.Env)
	RegisterFailHandler(Fail)
	RunSpecs(t, tree.Description)
}
