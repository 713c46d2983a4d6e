package selftest

import (
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	. "github.com/onsi/gomega"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/fixtures/target"
	"outreach.example/conformance/internal/judge"
	"outreach.example/conformance/spec"
	"outreach.example/conformance/suites/api"
	"outreach.example/conformance/suites/runner"
	"outreach.example/conformance/suites/selftest/faults"
)

// slowRefusals is a target that needs a while to say that it does not know a test.
type slowRefusals struct {
	http.RoundTripper
	after time.Duration
}

func (s slowRefusals) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := s.RoundTripper.RoundTrip(r)
	if err == nil && response.StatusCode == http.StatusNotFound {
		time.Sleep(s.after)
	}
	return response, err
}

// What counts for a test that shows late is when the request for it was sent: the response
// may come much later.
func TestLateTestsWithSlowResponses(t *testing.T) {
	rules, err := judge.NewRules()
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	for _, quirk := range []string{"late/deletable", "late/created-in-get"} {
		t.Run(quirk, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := NewWithT(t)
				s, err := Embedded(ShortLists)(t.Context())
				g.Expect(err).NotTo(HaveOccurred())
				s = s.with(quirkNamed(t, quirk).Apply, 1)
				env, err := runner.NewEnv(runner.Config{Target: &target.Target{BaseURL: address, Profile: s.profile}, Seed: 1, Rules: rules,
					Transport: slowRefusals{faults.RoundTripper(s.handler, ""), 2 * visibility}})
				g.Expect(err).NotTo(HaveOccurred())
				trial := api.Try(t.Context(), env, "late", 1, func(body *api.API) {
					for _, operation := range []string{spec.GetPlacementTest, spec.DeletePlacementTest} { // finding out takes long
						g.Expect(body.Serves(operation)).To(BeTrue())
					}
					made := api.NewTest(body)
					g.Expect(body.Do(body.As(dataset.Main, spec.GetPlacementTest).WithID(made.ID())).ID()).To(Equal(made.ID()))
					body.Do(body.As(dataset.Main, spec.DeletePlacementTest).WithID(made.ID()))
				})
				g.Expect(trial.Lacked).To(BeEmpty())
				g.Expect(trial.Broken).To(BeEmpty())
				env.EndTrials(t.Context())
			})
		})
	}
}
