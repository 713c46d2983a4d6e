package runner

import (
	"context"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/fixtures/refserver"
	"outreach.example/conformance/fixtures/target"
	"outreach.example/conformance/internal/client"
	"outreach.example/conformance/reports"
	"outreach.example/conformance/spec"
	"outreach.example/conformance/suites/api"
	"outreach.example/conformance/suites/tree"
)

// after returns a transport to a target that is this far away.
func after(roundTrip time.Duration) roundTripper {
	return func(r *http.Request) (*http.Response, error) {
		if err := client.Sleep(r.Context(), roundTrip); err != nil {
			return nil, err
		}
		return http.DefaultTransport.RoundTrip(r)
	}
}

// BenchmarkSlowTarget runs the full profile on a target that is 50 ms away, and on one
// that is 1 s away. It reports how much longer that takes than if every request in flight
// were always used: ratio = seconds ÷ (requests × round trip ÷ concurrency). The second
// target is simulated at a twentieth of its times, among them the period of its limit.
func BenchmarkSlowTarget(b *testing.B) {
	const roundTrip = 50 * time.Millisecond
	for _, away := range []time.Duration{roundTrip, time.Second} {
		b.Run(away.String(), func(b *testing.B) {
			per := refserver.LimitedPer * roundTrip / away
			for b.Loop() {
				t, err := limitedPer(per, dataset.DefaultOptions().Rows)
				if err != nil {
					b.Fatal(err)
				}
				results, err := Run(context.Background(), Config{Target: t, Seed: 1, Transport: after(roundTrip)})
				if err != nil || results.Verdict != reports.Passed {
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

// A spec ends when the time of the profile is over, and the results name that setting.
func TestProfileBoundsTheTimeOfASpec(t *testing.T) {
	g := NewWithT(t)
	server := embedded(t)
	slow := *server.Profile
	slow.Pace.SpecTimeout = 50 * time.Millisecond
	var began atomic.Bool // earlier requests belong to no spec
	results := judged(t, t.Context(), Config{
		Target:    &target.Target{BaseURL: server.BaseURL, Kind: server.Kind, Profile: &slow},
		Selection: Selection{Operations: []string{spec.ListPhoneNumbers}, Requirements: []string{string(spec.AuthHeaderMissing)}},
		Progress:  tree.Progress{Begin: func(api.Spec, int) { began.Store(true) }},
		Transport: roundTripper(func(r *http.Request) (*http.Response, error) {
			if began.Load() {
				<-r.Context().Done()
				return nil, r.Context().Err()
			}
			return http.DefaultTransport.RoundTrip(r)
		})})
	g.Expect(results.Verdict).To(Equal(reports.Inconclusive))
	g.Expect(results.Troubles).To(ContainElement(HaveField("What", ContainSubstring("took longer than 50ms (see pace.spec_timeout)"))))
}
