package tree_test

import (
	"context"
	"testing"

	"github.com/onsi/ginkgo/v2"
	"github.com/onsi/ginkgo/v2/types"
	"github.com/onsi/gomega"

	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/spec"
	"outreach.example/conformance/suites/api"
	"outreach.example/conformance/suites/tree"
)

// A body that runs before its node has the context of a spec, names steps that the report
// shows, and cleans up in reverse order.
func TestBodiesBeforeTheirNodes(t *testing.T) {
	g := gomega.NewWithT(t)
	var seen []string
	one := tree.Of(func() {
		ginkgo.Describe(spec.ListLeadLists, func() {
			ginkgo.It("takes steps", func(ctx ginkgo.SpecContext, body *api.API) {
				seen = append(seen, ctx.SpecReport().LeafNodeText)
				for _, what := range []string{"first", "second"} {
					body.Cleanup(func(context.Context) { seen = append(seen, what) })
				}
				body.By("the only step", func() { seen = append(seen, "in the step") })
			})
		})
	})
	outcome, err := one.Run(t.Context(), &api.Env{Profile: profile.Embedded()}, tree.Plan{})
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(seen).To(gomega.Equal([]string{"takes steps", "in the step", "second", "first"}))
	g.Expect(outcome.Report.SpecReports).To(gomega.ContainElement(gomega.And(
		gomega.HaveField("State", types.SpecStatePassed),
		gomega.HaveField("SpecEvents", gomega.ContainElement(gomega.HaveField("Message", "the only step"))))))
}
