package loadtest_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"outreach.example/conformance/fixtures/refserver"
	"outreach.example/conformance/fixtures/refserver/shape"
	"outreach.example/conformance/loadtest/measure"
)

// boundCase is a server whose latencies are known, with the bounds that it meets and those
// that it misses in truth.
type boundCase struct {
	name, shape string
	rate        float64 // 0 is 500/s
	lasts       time.Duration
	timeout     time.Duration // of a request; 0 is 10 s
	met, missed string
	freezes     time.Duration // in a simulation, how long the generator does nothing, once each second
}

// A stall of a period that is as long as the phase comes once, whenever the server started.
var boundCases = []boundCase{
	{name: "honest", shape: "100%:400ms", lasts: 5 * time.Second, met: "p50<440ms p90<460ms p99<490ms max<800ms", missed: "p50<360ms p90<370ms p99<350ms max<385ms"},
	{name: "mix 98/2", shape: "98%:50ms,2%:600ms", lasts: 6 * time.Second, met: "p90<200ms p97<300ms p99<720ms max<1s", missed: "p99<560ms p98.5<540ms p99.5<510ms max<550ms p50<30ms"},
	{name: "mix 94/6", shape: "94%:30ms,6%:400ms", lasts: 6 * time.Second, met: "p90<200ms p99<490ms", missed: "p95<350ms p99<350ms max<370ms"},
	{name: "mix 99.6/0.4", shape: "99.6%:20ms,0.4%:500ms", lasts: 6 * time.Second, met: "p99<250ms p95<200ms max<900ms", missed: "p99.9<430ms max<450ms"},
	{name: "drift", shape: "100%:200ms,drift=20ms/1s", lasts: 6 * time.Second, met: "p99<500ms max<700ms p50<400ms", missed: "p50<185ms p90<180ms p99<190ms"},
	{name: "stall of 0.1 s once", shape: "100%:2ms,stall=100ms/5s", lasts: 5 * time.Second, met: "p99<250ms max<400ms p90<150ms", missed: "max<50ms p99.9<30ms"},
	{name: "stall of 0.5 s once", shape: "100%:2ms,stall=500ms/5s", lasts: 5 * time.Second, met: "p99<600ms max<900ms", missed: "p99<300ms p99.9<400ms max<350ms"},
	{name: "stall of 1 s once", shape: "100%:2ms,stall=1s/6s", lasts: 6 * time.Second, met: "p99<1200ms max<1500ms p50<1100ms", missed: "p99<500ms p99<800ms p95<400ms"},
	{name: "stall of 2 s once", shape: "100%:2ms,stall=2s/10s", lasts: 10 * time.Second, met: "p50<500ms max<2400ms p99<2300ms", missed: "p99<500ms p90<500ms p99.9<1s max<1600ms"},
	{name: "stall of 5 s once", shape: "100%:2ms,stall=5s/12s", rate: 100, lasts: 12 * time.Second, met: "p99<5800ms max<6s", missed: "p99<4s p90<2s p75<1s"},
	{name: "stall of 0.1 s often", shape: "100%:2ms,stall=100ms/500ms", lasts: 6 * time.Second, met: "p99<250ms p80<60ms max<350ms", missed: "p95<40ms p90<30ms p99<60ms max<60ms"},
	{name: "stall of 0.2 s often", shape: "100%:2ms,stall=200ms/2s", lasts: 6 * time.Second, met: "p99<240ms p50<50ms max<350ms", missed: "p99<100ms p99.9<170ms p95<50ms"},
	{name: "errors", shape: "100%:2ms,errors=5%", lasts: 5 * time.Second, met: "errors<6% errors<10%", missed: "errors<1% errors<4% errors=0"},
	{name: "no response", shape: "97%:2ms,3%:30s", lasts: 5 * time.Second, timeout: time.Second, met: "p50<50ms p90<100ms p95<200ms", missed: "p99<500ms p98<850ms max<850ms"},
	{name: "overload", shape: "capacity=400/1s", lasts: 5 * time.Second, met: "max<4s", missed: "p50<100ms p90<200ms p99<300ms"},
	{name: "honest, generator starved", shape: "100%:300ms", lasts: 5 * time.Second, freezes: 60 * time.Millisecond, met: "p50<340ms p90<450ms max<500ms", missed: "p50<260ms p99<250ms"},
	{name: "stall, generator starved", shape: "100%:2ms,stall=2s/10s", lasts: 10 * time.Second, freezes: 150 * time.Millisecond, met: "p50<600ms p99<3s", missed: "p99<500ms p90<500ms max<1500ms"},
	{name: "fast, generator starved", shape: "100%:2ms", lasts: 5 * time.Second, freezes: 100 * time.Millisecond, met: "p50<50ms p99<250ms max<300ms"},
}

// bounds returns the bounds, and whether each is met.
func (c boundCase) bounds(t *testing.T) (all []measure.Threshold, met map[string]bool) {
	t.Helper()
	all, err := measure.ParseThresholds(strings.Fields(c.met + " " + c.missed))
	if err != nil {
		t.Fatal(err)
	}
	met = map[string]bool{}
	for _, text := range strings.Fields(c.met) {
		met[text] = true
	}
	return all, met
}

// record is what the server did: how long the responses took, and how many failed.
type record struct {
	took        []refserver.Bucket // ascending
	all, failed int64
}

// meets reports whether the server met the bound in truth, and how near the figure is to it:
// the ratio of the two.
func (r record) meets(t measure.Threshold) (met bool, ratio float64) {
	if t.Metric == measure.Errors {
		share := float64(r.failed) / float64(r.all)
		return share < t.Bound || r.failed == 0, share / t.Bound
	}
	p := t.P
	if t.Metric == measure.Max {
		p = 1
	}
	var seen int64
	for _, b := range r.took {
		if seen += b.Count; float64(seen) >= p*float64(r.all)-1e-6 {
			value := float64(b.FromNS) / 1e9
			return value < t.Bound, value / t.Bound
		}
	}
	return false, 0
}

// tally counts verdicts.
type tally struct{ right, wrong, open, near int }

// judge compares the verdict on a bound with the truth, and prints a line of the table. said
// is what the case says beforehand.
func (n *tally) judge(t *testing.T, c boundCase, bound measure.Threshold, said bool, of record, outcome, why string) {
	t.Helper()
	met, ratio := of.meets(bound)
	if ratio >= 0.8 && ratio <= 1.2 {
		n.near++
	}
	word := map[bool]string{true: "met", false: "missed"}
	switch outcome {
	case string(measure.Inconclusive):
		n.open++
	case word[met]:
		n.right++
	default:
		n.wrong++
		t.Errorf("%s: %s is %s, but %s in truth: %s", c.name, bound.Text, outcome, word[met], why)
	}
	t.Logf("%-26s %-13s figure %4.0f %% of the bound  %-6s  %s: %s", c.name, bound.Text, 100*ratio, word[said], outcome, why)
}

// decided reports the counts, and the share of verdicts that are decided.
func (n *tally) decided(t *testing.T, how string) float64 {
	t.Helper()
	all := n.right + n.wrong + n.open
	share := float64(n.right+n.wrong) / float64(all)
	t.Logf("%s: %d cases, %d within 20 %% of the bound; %d verdicts right, %d wrong, %d inconclusive: %.0f %% decided", how, all, n.near, n.right, n.wrong, n.open, 100*share)
	return share
}

// What the table asks for.
const (
	leastCases   = 40
	leastNear    = 10
	leastDecided = 0.9
)

// TestTruthOfSimulatedVerdicts_long holds each bound of the table against a simulated run: the
// server's delays are real, and time is not.
func TestTruthOfSimulatedVerdicts_long(t *testing.T) {
	var n tally
	for _, c := range boundCases {
		rec, of := c.simulate(t)
		all, met := c.bounds(t)
		for _, bound := range all {
			if truly, _ := of.meets(bound); truly != met[bound.Text] {
				t.Errorf("%s: %s: the table says met %v", c.name, bound.Text, met[bound.Text])
			}
			result := bound.Hold(bound.Of(rec))
			n.judge(t, c, bound, met[bound.Text], of, string(result.Verdict), result.Sentence)
		}
	}
	share := n.decided(t, "simulated")
	if all := n.right + n.wrong + n.open; all < leastCases || n.near < leastNear || share < leastDecided {
		t.Errorf("want %d cases, %d near the bound, and %.0f %% decided", leastCases, leastNear, 100*leastDecided)
	}
}

// simulate runs the phase of a case with a clock of its own, and returns the recording and
// what the server did.
func (c boundCase) simulate(t *testing.T) (rec measure.Recording, of record) {
	t.Helper()
	config, err := shape.Parse(c.shape)
	if err != nil {
		t.Fatal(err)
	}
	around, err := shape.New(config, 1)
	if err != nil {
		t.Fatal(err)
	}
	server := around.Middleware(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	plan := measure.Constant(c.persecond(), c.lasts)
	recorder := measure.NewRecorder("steady", time.Time{}, measure.Constant(c.persecond(), c.lasts))
	timeout := c.timeout
	if timeout == 0 {
		timeout = 10 * time.Second
	}
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		// awake waits until the generator does something, and returns the time since the start.
		awake := func() time.Duration {
			if at := time.Since(start) % time.Second; at < c.freezes {
				time.Sleep(c.freezes - at)
			}
			return time.Since(start)
		}
		var lock sync.Mutex
		var all sync.WaitGroup
		for i := range uint64(plan.Planned()) {
			all.Go(func() {
				due := plan.Due(i)
				time.Sleep(due)
				sent := awake()
				ctx, cancel := context.WithTimeout(t.Context(), timeout)
				defer cancel()
				response := httptest.NewRecorder()
				server.ServeHTTP(response, httptest.NewRequestWithContext(ctx, http.MethodGet, "/", nil))
				took := time.Since(start) - sent
				s := measure.Sample{Seq: i, Label: "list", Due: due, Sent: sent, Done: awake(), Status: response.Code}
				lock.Lock()
				defer lock.Unlock()
				if of.all++; ctx.Err() != nil {
					s.Status, s.Failure = 0, measure.FailureTimeout
				}
				if s.Status >= 500 {
					of.failed++
				}
				recorder.Add(s)
				of.took = append(of.took, refserver.Bucket{FromNS: int64(took), Count: 1})
			})
		}
		all.Wait()
	})
	slices.SortFunc(of.took, func(a, b refserver.Bucket) int { return int(a.FromNS - b.FromNS) })
	return recorder.Recording(), of
}

func (c boundCase) persecond() float64 {
	if c.rate > 0 {
		return c.rate
	}
	return 500
}
