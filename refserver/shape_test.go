package refserver

import (
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"outreach.example/conformance/refserver/shape"
	"outreach.example/conformance/refserver/truth"
)

// The truth knows a shaped server's latencies as they were: the middleware lies
// within what is measured.
func TestTruthOfAShapedServer(t *testing.T) {
	for text, want := range map[string]map[float64]time.Duration{
		"98%:2ms,2%:250ms": {0.01: 2 * time.Millisecond, 0.97: 2 * time.Millisecond, 0.985: 250 * time.Millisecond, 1: 250 * time.Millisecond},
		// 500 a second; in each 10 s the last 2 s are lost: of 5,000 requests 1,000
		// wait, evenly up to 2 s.
		"stall=2s/10s": {0.79: 0, 0.9: time.Second, 0.95: 1500 * time.Millisecond, 0.99: 1900 * time.Millisecond, 1: 2 * time.Second},
	} {
		synctest.Test(t, func(t *testing.T) {
			config, err := shape.Parse(text)
			if err != nil {
				t.Fatal(err)
			}
			shaped, err := shape.New(config, 1)
			if err != nil {
				t.Fatal(err)
			}
			s := start(t, Options{Middleware: []func(http.Handler) http.Handler{shaped.Middleware}})
			var requests sync.WaitGroup
			for range 5000 {
				requests.Go(func() {
					r := httptest.NewRequest("GET", BasePath+"/lead-lists?limit=1", nil)
					r.Header.Set("Authorization", "Bearer "+s.token("main"))
					send(s.api, r)
				})
				time.Sleep(2 * time.Millisecond)
			}
			requests.Wait()
			report := s.report()
			for p, want := range want {
				got, ok := report.Quantile(p, func(l truth.Latency) bool { return l.Status == 200 })
				if !ok || !got.Holds(want, 0.01, 3*time.Millisecond) {
					t.Errorf("%s: p%v lies in %+v, want %v", text, 100*p, got, want)
				}
			}
			if report.Total != 5000 || report.Arrivals.Busiest != 6 {
				t.Errorf("%s: %d requests, %d in the busiest 10 ms; want 5000 and 6", text, report.Total, report.Arrivals.Busiest)
			}
		})
	}
}
