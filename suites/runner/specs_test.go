package runner

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/onsi/gomega"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/fixtures/refserver"
	"outreach.example/conformance/internal/client"
	"outreach.example/conformance/suites"
	"outreach.example/conformance/suites/api"
	"outreach.example/conformance/suites/selftest/faults"
)

// Each need that a body takes is declared in its node, or implied by its operation.
func TestNeedsAreDeclared_long(t *testing.T) {
	g := gomega.NewWithT(t)
	loaded, err := refserver.Generate(dataset.Options{Seed: 1, Rows: *rows})
	g.Expect(err).NotTo(gomega.HaveOccurred())
	server, err := loaded.Server(refserver.Options{})
	g.Expect(err).NotTo(gomega.HaveOccurred())
	env := &api.Env{Profile: profile.FromDataset(loaded.Data()), Seed: 1}
	env.Rules, err = rules()
	g.Expect(err).NotTo(gomega.HaveOccurred())
	env.Client, err = client.New(client.Options{BaseURL: "http://subject.invalid", Observe: env.Observe, Transport: faults.RoundTripper(faults.Serving(server.Handler()), "")})
	g.Expect(err).NotTo(gomega.HaveOccurred())
	env.Begin()
	for _, s := range suites.Tree.Specs() {
		for _, need := range s.Undeclared(env.Profile, s.Execute(t.Context(), nil, env, api.Execution{})) {
			t.Errorf("%s (%s) does not declare: %s", s.Name(), s.Location, need)
		}
	}
	env.Sandbox().Close(context.WithoutCancel(t.Context()))
}

// BenchmarkSlowTarget runs the full profile on a target that is 50 ms away, and on one
// that is 1 s away. It reports how much longer that takes than if every request in flight
// were always used: ratio = seconds ÷ (requests × round trip ÷ concurrency). The second
// target is simulated at a twentieth of its times, among them the period of its limit.
func BenchmarkSlowTarget(b *testing.B) {
	const roundTrip = 50 * time.Millisecond
	for _, away := range []time.Duration{roundTrip, time.Second} {
		b.Run(away.String(), func(b *testing.B) {
			for b.Loop() {
				t, err := limitedPer(refserver.LimitedPer*roundTrip/away, dataset.DefaultOptions().Rows, refserver.Options{})
				if err != nil {
					b.Fatal(err)
				}
				results, err := Run(context.Background(), Config{Target: t, Seed: 1, Transport: roundTripper(func(r *http.Request) (*http.Response, error) {
					time.Sleep(roundTrip)
					return http.DefaultTransport.RoundTrip(r)
				})})
				if err != nil || results.ExitCode() != 0 {
					b.Fatalf("%v: %s %v", err, results.Verdict, results.Reasons)
				}
				ideal := float64(results.Traffic.Requests) * roundTrip.Seconds() / float64(t.Profile.Pace.Concurrency)
				b.ReportMetric(results.Run.Seconds/ideal, "ratio")
				b.ReportMetric(float64(results.Traffic.Requests), "requests")
				if err := t.Close(context.Background()); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
