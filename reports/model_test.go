package reports_test

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"outreach.example/conformance/reports"
	"outreach.example/conformance/reports/internal/sample"
	"outreach.example/conformance/reports/jsonfile"
	"outreach.example/conformance/reports/load"
)

// Results shrink step by step until they fit, and each failed check keeps a violation.
func TestShrink(t *testing.T) {
	g := NewWithT(t)
	v := reports.Violation{Statement: "s", Section: "s", Pointer: "status", Expected: "200", Actual: "500", Curl: "curl", Body: "{}", Exchange: &reports.Exchange{}}
	whole := reports.Results{Checks: []reports.Check{{Outcome: reports.Fail, ViolationCount: 9, Violations: slices.Repeat([]reports.Violation{v}, 3)}}}
	for refusals, want := range []string{
		"curl {}+ curl {}+ curl {}+", "curl {}+ curl + curl +", "curl {} curl  curl ", "curl  curl  curl ", "curl     ", "curl ", " ", " ",
	} {
		asked := 0
		shrunk := reports.Shrink(whole, func(reports.Results) bool {
			asked++
			return asked > refusals
		})
		var shown []string
		for _, v := range shrunk.Checks[0].Violations {
			exchange := ""
			if v.Exchange != nil {
				exchange = "+"
			}
			shown = append(shown, v.Curl+" "+v.Body+exchange)
		}
		g.Expect(strings.Join(shown, " ")).To(Equal(want), "refused %d times", refusals)
		g.Expect(shrunk.Checks[0].ViolationCount).To(Equal(9))
	}
	g.Expect(whole.Checks[0].Violations[2]).To(Equal(v), "the given results are not changed")
}

// The JSON form of what a run returns is bounded.
func TestResultsThatFit_long(t *testing.T) {
	g := NewWithT(t)
	v := reports.Violation{Statement: "s", Section: "s", Pointer: "status", Expected: "200", Actual: "500", Body: strings.Repeat("x", 1<<20)}
	for _, tc := range []struct {
		checks int
		fits   bool
	}{{1, true}, {9, true}, {10, false}} {
		var r reports.Results
		for i := range tc.checks {
			r.Checks = append(r.Checks, reports.Check{Requirement: fmt.Sprint(i), Violations: []reports.Violation{v}})
		}
		g.Expect(jsonfile.Fits(r)).To(Equal(tc.fits), "%d MiB of bodies", tc.checks)
		text, err := jsonfile.Run.Encode(reports.Shrink(r, jsonfile.Fits))
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(len(text)).To(BeNumerically("<=", reports.MaxWritten))
	}
	many := reports.Results{Observations: slices.Repeat([]reports.Observation{{Value: strings.Repeat("v", 400)}}, 30_000),
		Troubles: slices.Repeat([]reports.Trouble{{What: strings.Repeat("w", 4000)}}, 1000),
		Checks:   slices.Repeat([]reports.Check{{Missing: slices.Repeat([]string{strings.Repeat("m", 400)}, 10)}}, 2000)}
	text, err := jsonfile.Run.Encode(reports.Shrink(many, jsonfile.Fits))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(len(text)).To(And(BeNumerically("<=", reports.MaxWritten), BeNumerically(">", reports.MaxWritten/4)))
	g.Expect(many.Checks[0].Missing).To(HaveLen(10), "the given results are not changed")
}

func TestExitCodes(t *testing.T) {
	for _, c := range []struct {
		verdict     reports.Verdict
		interrupted bool
		want        int
	}{
		{reports.Passed, false, 0}, {reports.Failed, false, 1}, {reports.Inconclusive, false, 3}, {"something newer", false, 3},
		{reports.Inconclusive, true, 130}, {reports.Failed, true, 130},
	} {
		g, loaded := NewWithT(t), load.Results{Verdict: c.verdict, Run: load.Run{Interrupted: c.interrupted}}
		g.Expect(reports.Results{Verdict: c.verdict, Run: reports.Run{Interrupted: c.interrupted}}.ExitCode()).To(Equal(c.want))
		g.Expect(loaded.ExitCode()).To(Equal(c.want))
		loaded.Run.Shard = &load.Shard{Index: 1, Of: 2}
		g.Expect(loaded.ExitCode()).To(Equal(map[bool]int{true: 130}[c.interrupted]), "a shard has no verdict")
	}
}

// The most frequent kind of failure comes first. Warm-ups do not count. A response fails
// by its status or by the cause of its truncation.
func TestHowRequestsFailed(t *testing.T) {
	s := load.Scenario{Phases: []load.Phase{
		{Warmup: true, Statuses: map[string]int64{"500": 99}},
		{Statuses: map[string]int64{"200": 50, "201": 1, "429": 7, "503": 2, "none": 9}, Failures: map[string]int64{"refused": 8, "timeout": 1}},
		{Statuses: map[string]int64{"503": 3, "302": 1, "99": 1}, Failures: map[string]int64{"reset": 1}},
	}}
	want := []load.Ending{{How: "connection refused", Count: 8}, {How: "status 503", Count: 5}, {How: "connection broken", Count: 1},
		{How: "no response in time", Count: 1}, {How: "status 302", Count: 1}, {How: "status 99", Count: 1}}
	if got := s.Failed(); !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v", got)
	}
}

// Common removes a reason that many answers share. Other reasons and known answers stay.
func TestTheCommonReasonOfALimiter(t *testing.T) {
	const busy = "the key was in use"
	cannot, found := load.Answer{Why: busy}, load.Answer{Value: "always", Why: busy}
	l := load.Limiter{
		Verdict: cannot, Scope: cannot, Layers: []load.Layer{{Kind: cannot, Limit: load.Finding{Low: 5, Why: busy}, Window: load.Finding{Why: "no whole window was seen"}}},
		RetryAfter: load.RetryAfter{Present: found}, Sharing: []load.Sharing{{Subject: "other-key", Shared: cannot}},
	}
	why, rest := l.Common()
	want := load.Limiter{Layers: []load.Layer{{Limit: load.Finding{Low: 5}, Window: load.Finding{Why: "no whole window was seen"}}},
		RetryAfter: load.RetryAfter{Present: found}, Sharing: []load.Sharing{{Subject: "other-key"}}}
	if why != busy || !reflect.DeepEqual(rest, want) {
		t.Errorf("%q, %+v", why, rest)
	}
	if l.Layers[0].Kind.Why != busy || l.Sharing[0].Shared.Why != busy {
		t.Error("the results themselves were changed")
	}
	few := load.Limiter{Scope: cannot, Recovery: load.Finding{Why: busy}}
	if why, rest := few.Common(); why != "" || rest.Scope.Why != busy || rest.Recovery.Why != busy {
		t.Errorf("two are few: %q, %+v", why, rest)
	}
	r := sample.FullLoad()
	full := *r.Scenarios[len(r.Scenarios)-1].Limiter
	if why, rest := full.Common(); why != "" || !reflect.DeepEqual(rest, full) {
		t.Errorf("%q is said once of a limiter that was found out", why)
	}
}
