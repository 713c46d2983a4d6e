package main

import (
	"fmt"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"outreach.example/conformance/fixtures/standin"
	"outreach.example/conformance/fixtures/target"
	"outreach.example/conformance/fixtures/target/container"
	"outreach.example/conformance/internal/testbed"
	"outreach.example/conformance/reports"
	"outreach.example/conformance/spec"
)

// The results for the reference server are the same for each kind of target: embedded, at
// an address, from an image and from a Dockerfile.
func TestVerdictsAreTheSameHoweverTheTargetComesUp(t *testing.T) {
	t.Parallel()
	const seed = "7"
	full := func(t *testing.T, args ...string) (ended, reports.Results) {
		t.Helper()
		e := exitsWith(t, 0, nil, append([]string{runCommand, "--seed", seed}, args...)...)
		return e, e.results(t)
	}
	_, embedded := full(t)
	g := NewWithT(t)
	g.Expect(embedded.Target.Kind).To(Equal(target.KindEmbedded))
	g.Expect(embedded.Verdict).To(Equal(reports.Passed))
	g.Expect(embedded.Checks).To(HaveLen(len(spec.Pairs())))
	g.Expect(embedded.Observations).NotTo(BeEmpty())
	g.Expect(embedded.Checks).To(HaveEach(HaveField("Outcome", reports.Pass)))

	for _, tc := range []struct {
		kind   string
		target func(t *testing.T) string
	}{
		{target.KindURL, func(t *testing.T) string {
			base, _ := servingBuilt(t)
			return base
		}},
		{target.KindImage, func(t *testing.T) string {
			testbed.NeedDocker(t, container.Sweep)
			return target.ImagePrefix + testbed.Image(t)
		}},
		{target.KindDockerfile, func(t *testing.T) string {
			testbed.NeedDocker(t, container.Sweep)
			return target.DockerfilePrefix + filepath.Join(testbed.Built(t), "Dockerfile")
		}},
	} {
		t.Run(tc.kind, func(t *testing.T) {
			g := NewWithT(t)
			e, results := full(t, "--target", tc.target(t))
			g.Expect(results.Target.Kind).To(Equal(tc.kind))
			got, want := found(results), found(embedded)
			if tc.kind != target.KindURL && !testbed.Slow() {
				// On a busy machine requests may be too slow to reach a container's rate
				// limit. make nightly compares that.
				got, want = withoutLimits(got), withoutLimits(want)
			}
			g.Expect(got).To(Equal(want))
			g.Expect(observed(results)).To(Equal(observed(embedded)))
			if tc.kind != target.KindURL {
				g.Expect(contents(t, filepath.Join(e.dir, defaultOutput, containerLog))).To(ContainSubstring("target | API "))
			}
		})
	}
}

// found returns the verdict and the outcomes, without parts that differ between runs,
// such as times.
func found(results reports.Results) []string {
	all := []string{string(results.Verdict)}
	for _, c := range results.Checks {
		all = append(all, fmt.Sprint(c.Requirement, " on ", c.Operation, ": ", c.Outcome, c.Missing))
	}
	return all
}

// withoutLimits omits the checks that need a 429.
func withoutLimits(checks []string) []string {
	return slices.DeleteFunc(checks, func(check string) bool {
		return strings.HasPrefix(check, "RATE-") || strings.HasPrefix(check, "ERROR-429")
	})
}

// observed returns the observations without their counts, which depend on the number of
// requests until a 429.
func observed(results reports.Results) []string {
	var all []string
	for _, o := range results.Observations {
		all = append(all, fmt.Sprint(o.OpenPoint, " on ", o.Operation, ": ", o.Value))
	}
	return all
}

// A stateless mock from the OpenAPI document passes the requirement set shape.
func TestStatelessMock(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	handler, err := standin.New()
	g.Expect(err).NotTo(HaveOccurred())
	mock := httptest.NewServer(handler)
	t.Cleanup(mock.Close)
	results := exitsWith(t, 0, nil, runCommand, "--target", mock.URL, "--target-profile", "mock", "--profile", string(spec.ProfileShape)).results(t)
	g.Expect(results.Verdict).To(Equal(reports.Passed))
	for _, op := range spec.Operations() {
		g.Expect(results.Checks).To(ContainElement(And(HaveField("Operation", op.ID), HaveField("Outcome", reports.Pass))))
	}
}
