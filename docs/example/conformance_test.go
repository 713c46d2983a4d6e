// Package conformance is an example: a vendor's own repository that runs the
// conformance suites beside a spec of its own. Copy it, and point the replace in
// go.mod to your checkout: go mod edit -replace outreach.example/conformance=PATH.
//
//	go test -count=1 .
//	OUTREACH_TARGET=http://127.0.0.1:8025 OUTREACH_TARGET_PROFILE=server.yaml go test -count=1 .
//	ginkgo --label-filter='group:pages || vendor'
package conformance

import (
	"context"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"outreach.example/conformance/fixtures/dataset"
	_ "outreach.example/conformance/fixtures/target/container" // opens images and Dockerfiles
	"outreach.example/conformance/spec"
	"outreach.example/conformance/suites"
	. "outreach.example/conformance/suites/api"
	"outreach.example/conformance/suites/runner"
)

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
	ownSpecs()
	RegisterFailHandler(Fail)
	RunSpecs(t, "Conformance of our implementation")
}

// ownSpecs are promises of this vendor's that the specification does not make.
func ownSpecs() {
	Describe(spec.ListLeadLists, func() {
		It("fills the first page of a long list", Label("vendor"), func(api *API) {
			page := api.Do(api.Request().WithQuery("limit", "5"))
			Expect(page.Rows()).To(HaveLen(5))
		})
	})
	Describe(spec.CreatePlacementTest, func() {
		It("finds a new test within a second", Label("vendor"), func(ctx SpecContext, api *API) {
			api.By("creating a test, which the run deletes at the end")
			made := api.Do(api.Request())
			api.Cleanup(func(context.Context) { GinkgoWriter.Println("created", made.ID()) })

			api.By("searching for it")
			search := api.As(dataset.Main, spec.ListPlacementTests).WithQuery("search", made.Call.Members()["name"].(string))
			Eventually(func() int { return len(api.Do(search).Rows()) }).WithContext(ctx).WithTimeout(time.Second).Should(Equal(1))
		})
	})
}
