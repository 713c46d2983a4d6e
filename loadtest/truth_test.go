package loadtest_test

import (
	"flag"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"outreach.example/conformance/fixtures/refserver"
	"outreach.example/conformance/internal/testbed"
	"outreach.example/conformance/loadtest"
	"outreach.example/conformance/loadtest/measure"
	"outreach.example/conformance/loadtest/scenario"

	"outreach.example/conformance/loadtest/verdict"
	"outreach.example/conformance/reports"
	"outreach.example/conformance/reports/load"
	"outreach.example/conformance/spec"
)

var full = flag.Bool("truth", false, "compare percentiles and pacing with the server's own record, which takes a minute and a quiet machine")

// requireQuiet makes a machine that is too busy to compare percentiles a failure.
const requireQuiet = "OUTREACH_REQUIRE_QUIET"

// What a reported percentile may be off by: the larger one.
const (
	offShare = 0.02
	offTime  = time.Millisecond
	// offFlagged is how far the interval of a percentile that is flagged may lie
	// from the truth: what a machine adds to single answers the server cannot see.
	offFlagged = 5 * time.Millisecond
)

// truthCase is a server whose latencies are known, and how it is loaded.
type truthCase struct {
	name, limit, shape string
	rate               float64
	lasts              time.Duration
	workers            int
	timeout            time.Duration // of the run; 0 is the usual one
	void               bool          // the generator cannot keep up, and has to say so
	busiest            int           // most arrivals in 10 ms; 0 if they are not looked at
}

var truthCases = []truthCase{
	{name: "mix", shape: "98%:2ms,2%:250ms", rate: 500, lasts: 5 * time.Second},
	{name: "jump at p99", shape: "99%:2ms,1%:250ms", rate: 500, lasts: 3 * time.Second},
	{name: "stall", shape: "stall=2s/10s", rate: 500, lasts: 10500 * time.Millisecond},
	{name: "stall with 10 workers", shape: "stall=2s/10s", rate: 500, lasts: 10500 * time.Millisecond, workers: 10, void: true},
	{name: "no response", shape: "95%:2ms,5%:30s", rate: 200, lasts: 3 * time.Second, timeout: time.Second},
	{name: "errors", shape: "100%:2ms,errors=1%", rate: 500, lasts: 3 * time.Second},
	{name: "limit", limit: "fixed-window:100/1s", rate: 300, lasts: 3 * time.Second},
	{name: "pacing", rate: 1000, lasts: 3 * time.Second, busiest: 14}, // 1.3 × 11
}

// TestTruth compares what a run reports with what the server itself has counted:
// the counts exactly and always; with -truth, percentiles and pacing too.
func TestTruth(t *testing.T) {
	for _, tc := range truthCases {
		t.Run(tc.name, func(t *testing.T) {
			if !*full {
				t.Parallel()
			}
			if !*full && tc.limit == "" && tc.timeout == 0 && !strings.Contains(tc.shape, "errors") {
				t.Skip("its percentiles want a quiet machine: make nightly runs it")
			}
			const attempts = 3
			var wrong []string
			comparable := false // there was an attempt in which the machine was quiet
			for range attempts {
				r := runTruth(t, tc)
				r.compareCounts(t)
				if tc.void {
					r.expectVoid(t)
					return
				}
				if !*full {
					return // counts are all that a busy machine can compare
				}
				off := r.compareFigures(t)
				if len(off) == 0 {
					return // even of a run that does not trust itself
				}
				if r.recording.SentLate() != "" || r.phase.OtherLoad {
					wrong = append(wrong, strings.Join(r.results.Reasons, "; "))
					continue
				}
				wrong = append(wrong, off...)
				// Where 1 in 1,000 requests goes out more than 1 ms late, the machine
				// delays as many answers by as much.
				lag := r.recording.Lag.Value(0.999)
				if lag <= offTime {
					comparable = true
				}
				wrong = append(wrong, fmt.Sprintf("(1 in 1,000 requests went out more than %s late)", lag))
			}
			if !comparable && os.Getenv(requireQuiet) == "" {
				t.Skipf("the machine is too busy to compare percentiles; with %s=1 that is a failure:\n%s", requireQuiet, strings.Join(wrong, "\n"))
			}
			t.Errorf("in none of %d attempts the figures were right:\n%s", attempts, strings.Join(wrong, "\n"))
		})
	}
}

// truthRun is one run and what the server knows of it.
type truthRun struct {
	truthCase
	results   load.Results
	phase     load.Phase
	recording measure.Recording
	record    refserver.TruthReport
	shapeFrom time.Time // when the first request came: the shape counts from then
}

func runTruth(t *testing.T, tc truthCase) truthRun {
	t.Helper()
	server := within(t, tc.timeout, served(t, tc.limit, tc.shape))
	r := truthRun{truthCase: tc}
	s := scenario.Scenario{Name: "truth", About: "A list whose latencies are known.", Kind: scenario.Steady,
		Mix: map[string]int{spec.ListLeadLists: 1}, Limits: []int{1}, Rate: tc.rate, Duration: tc.lasts}
	tolerated, calibrate := time.Hour, calibrated // an hour leaves nothing to the machine
	if *full {
		tolerated, calibrate = 0, nil
	}
	o, err := loadtest.Run(t.Context(), loadtest.Config{
		Terms: verdict.Terms{LagLimit: tolerated}, Calibrate: calibrate,
		Target: server, Scenarios: []scenario.Scenario{s}, ByName: true, Seed: 1, Workers: tc.workers, Calibrator: testbed.Again(t, nullServer),
		Watch: func(string, string) {
			if first := truthOf(t, server).Arrivals.First; first != nil && r.shapeFrom.IsZero() {
				r.shapeFrom = *first
			}
			forget(t, server)
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	r.results, r.phase, r.recording = o.Results, o.Results.Scenarios[0].Phases[0], o.Parts[0].Recordings[0]
	r.record = truthOf(t, server)
	return r
}

// compareCounts holds every count against the server's.
func (r truthRun) compareCounts(t *testing.T) {
	t.Helper()
	statuses := map[string]int64{}
	for _, c := range r.record.Requests {
		name := fmt.Sprint(c.Status)
		if c.Status == 0 {
			name = "none" // it has seen the client go
		}
		statuses[name] += c.Count
	}
	if r.phase.Sent != r.record.Total {
		t.Errorf("sent %d, the server has seen %d", r.phase.Sent, r.record.Total)
	}
	if fmt.Sprint(r.phase.Statuses) != fmt.Sprint(statuses) {
		t.Errorf("statuses %v, the server has answered %v", r.phase.Statuses, statuses)
	}
	if planned := int64(math.Ceil(r.rate * r.lasts.Seconds())); r.phase.Planned != planned || r.phase.Planned != r.phase.Sent+r.phase.Dropped {
		t.Errorf("planned %d = sent %d + dropped %d, want %d planned", r.phase.Planned, r.phase.Sent, r.phase.Dropped, planned)
	}
	for name, share := range map[string]int64{"429": r.recording.Count(measure.Limited), "500": r.recording.Count(measure.Failed) - r.recording.Statuses[0]} {
		if share != statuses[name] {
			t.Errorf("%d requests count as answered %s, the server has answered %d", share, name, statuses[name])
		}
	}
	if (r.shape == "100%:2ms,errors=1%" && statuses["500"] == 0) || (r.timeout != 0 && statuses["none"] == 0) || (r.limit != "" && statuses["429"] == 0) {
		t.Errorf("the server did not do what it was told: it has answered %v", statuses)
	}
}

// expectVoid: a generator that cannot keep up tells so, and by how much.
func (r truthRun) expectVoid(t *testing.T) {
	t.Helper()
	if r.results.Verdict != reports.Inconclusive {
		t.Errorf("%s with %d workers: %q", r.results.Verdict, r.workers, r.results.Reasons)
	}
	// 2 s of 500/s wait for 10 workers, and may not be caught up with at once.
	if held := int64(2*r.rate) - 2*int64(r.workers); r.phase.Late+r.phase.Dropped < held*9/10 {
		t.Errorf("%d late and %d dropped, of %d that were held up", r.phase.Late, r.phase.Dropped, held)
	}
	t.Logf("%s: %q; planned %d, sent %d, late %d, dropped %d", r.results.Verdict, r.results.Reasons, r.phase.Planned, r.phase.Sent, r.phase.Late, r.phase.Dropped)
}

// compareFigures says which percentiles are further from the server's record,
// and from what the schedule and the shape make of it, than they may be.
func (r truthRun) compareFigures(t *testing.T) (wrong []string) {
	t.Helper()
	for _, class := range []struct {
		name              string
		response, service *load.Distribution
		holds             func(status int) bool
	}{
		{"accepted", r.phase.Response.Accepted, r.phase.Service.Accepted, func(s int) bool { return s == 0 || s >= 200 && s < 300 }},
		{"limited", r.phase.Response.Limited, r.phase.Service.Limited, func(s int) bool { return s == 429 }},
		{"failed", r.phase.Response.Failed, r.phase.Service.Failed, func(s int) bool { return s == 0 || s >= 500 }},
	} {
		if class.response == nil {
			continue
		}
		for i := range class.response.Quantiles {
			p := class.response.Quantiles[i].P
			record, _ := r.record.Quantile(p, func(l refserver.Latency) bool { return class.holds(l.Status) })
			truths := map[string]refserver.Bucket{"record": record}
			if strings.Contains(r.shape, "stall") {
				truths["shape"] = r.expected(p)
			}
			for name, reported := range map[string]load.Quantile{"response": class.response.Quantiles[i], "service": class.service.Quantiles[i]} {
				for by, want := range truths {
					line := fmt.Sprintf("%-9s %-8s p%-5g %9.3f ms [%.3f, %.3f] flagged %-5v; by the %s %.3f ms", class.name, name, 100*p,
						reported.ValueMS, reported.LowMS, reported.HighMS, reported.Flagged, by, float64(want.FromNS)/1e6)
					t.Log(line)
					if !agrees(reported, want) {
						wrong = append(wrong, line)
					}
				}
			}
		}
	}
	if r.busiest > 0 {
		t.Logf("most arrivals in 10 ms: %d", r.record.Arrivals.Busiest)
		if r.record.Arrivals.Busiest > r.busiest {
			wrong = append(wrong, fmt.Sprintf("%d arrivals in 10 ms, want at most %d", r.record.Arrivals.Busiest, r.busiest))
		}
	}
	return wrong
}

// agrees: the value differs from the truth by at most offShare or offTime, whichever is larger,
// or it is flagged and its interval holds the truth.
func agrees(q load.Quantile, want refserver.Bucket) bool {
	off := func(ns int64) time.Duration { return max(time.Duration(offShare*float64(ns)), offTime) }
	if got := ofMS(q.ValueMS); got >= time.Duration(want.FromNS)-off(want.FromNS) && got <= time.Duration(want.ToNS)+off(want.ToNS) {
		return true
	}
	slack := max(time.Duration(offShare*float64(want.ToNS)), offFlagged)
	return q.Flagged && ofMS(q.LowMS)-slack <= time.Duration(want.ToNS) && time.Duration(want.FromNS) <= ofMS(q.HighMS)+slack
}

func ofMS(ms float64) time.Duration { return time.Duration(ms * float64(time.Millisecond)) }

// expected is the p-quantile of the response times that follow from when each
// request was due and when the server was awake, with its usual latency added.
func (r truthRun) expected(p float64) refserver.Bucket {
	const stall, every = 2 * time.Second, 10 * time.Second
	usual, _ := r.record.Quantile(0.5, func(refserver.Latency) bool { return true })
	plan := measure.Constant(r.rate, r.lasts)
	var times []time.Duration
	for i := range uint64(plan.Planned()) {
		at := r.recording.Start.Add(plan.Due(i)).Sub(r.shapeFrom) % every
		wait := time.Duration(usual.FromNS)
		if left := every - at; left <= stall {
			wait += left
		}
		times = append(times, wait)
	}
	slices.Sort(times)
	at := int64(times[int(math.Ceil(p*float64(len(times))))-1])
	return refserver.Bucket{FromNS: at, ToNS: at}
}
