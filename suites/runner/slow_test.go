package runner

import (
	"context"
	"net/http"
	"testing"
	"time"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/fixtures/refserver"
	"outreach.example/conformance/fixtures/target"
)

// roundTrip is how long an exchange with the slow target takes at least.
const roundTrip = 50 * time.Millisecond

// slow is a connection to a target that is far away.
type slow struct{ next http.RoundTripper }

func (s slow) RoundTrip(r *http.Request) (*http.Response, error) {
	timer := time.NewTimer(roundTrip)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-r.Context().Done():
		return nil, r.Context().Err()
	}
	return s.next.RoundTrip(r)
}

// BenchmarkSlowTarget runs the full profile on a target that is 50 ms away and
// reports how much longer that takes than if every request in flight were
// always used: ratio = seconds ÷ (requests × round trip ÷ concurrency).
func BenchmarkSlowTarget(b *testing.B) {
	for b.Loop() {
		t, err := target.Embedded(context.Background(), dataset.DefaultOptions(), refserver.Options{})
		if err != nil {
			b.Fatal(err)
		}
		results, err := Run(context.Background(), Config{Target: t, Seed: 1, Transport: slow{http.DefaultTransport}})
		if err != nil || results.Verdict != "pass" {
			b.Fatalf("%v: %s %v", err, results.Verdict, results.Reasons)
		}
		ideal := float64(results.Traffic.Requests) * roundTrip.Seconds() / float64(t.Profile.Pace.Concurrency)
		b.ReportMetric(results.Run.Seconds/ideal, "ratio")
		b.ReportMetric(float64(results.Traffic.Requests), "requests")
		if err := t.Close(context.Background()); err != nil {
			b.Fatal(err)
		}
	}
}
