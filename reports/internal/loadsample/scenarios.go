package loadsample

import (
	"fmt"
	"math"
	"math/rand/v2"

	"outreach.example/conformance/reports"
	"outreach.example/conformance/reports/load"
)

// stalling returns the latency of a fast server that stalls for 2 s in each 10 s.
func stalling(rate int) func(second, place int) float64 {
	random := rand.New(rand.NewPCG(3, 4))
	return func(second, place int) float64 {
		within := float64(second%10) + float64(place)/float64(rate)
		if within < 2 && second >= 10 {
			return 1000*(2-within) + 3
		}
		return 2 + 1.5*random.ExpFloat64()
	}
}

func throughput() load.Scenario {
	main := simulate("500/s", 500, 30, stalling(500))
	main.Labels = []load.Label{
		{Name: "campaigns.list limit=1", Accepted: 3750, Response: main.Response.Accepted},
		{Name: "campaigns.list limit=10", Accepted: 3750, Response: main.Response.Accepted},
		{Name: "webhook-events.list limit=100", Accepted: 7489, Limited: 0, Failed: 11, Response: main.Response.Accepted},
	}
	warm := simulate("warm-up", 100, 3, func(int, int) float64 { return 4 })
	warm.Warmup = true
	return load.Scenario{
		Name: "list-throughput", About: "Each list operation at a fixed rate and by limit.", Verdict: reports.Failed,
		Reasons: []string{"p99<250ms@500/s is missed: 1,902 ms"}, Started: started, Seconds: 33.2,
		Phases: []load.Phase{warm, main},
		Thresholds: []load.Threshold{
			{Text: "p99<250ms@500/s", Outcome: load.Missed, Phase: "500/s", Measured: &load.Estimate{Value: 1902, Low: 1861, High: 1940}, Unit: "ms"},
			{Text: "p50<20ms@500/s", Outcome: load.Met, Phase: "500/s", Measured: &load.Estimate{Value: 3.1, Low: 3.0, High: 3.3}, Unit: "ms"},
			{Text: "errors<0.1%", Outcome: load.Met, Measured: &load.Estimate{Value: 0, Low: 0, High: 0.02}, Unit: "%"},
		},
		Requests: &load.Requests{Total: 15_312, Counted: 15_000, WarmUp: 300, Beside: 12},
		Coverage: &load.Coverage{Answers: 15300, Checked: 1530, Memo: 13240, Dropped: 12, LeftOut: 518, Share: 0.9653},
	}
}

func sustained() load.Scenario {
	s := load.Sustained{RatePerSecond: 820, LowPerSecond: 810, HighPerSecond: 840, Confirmed: true, SaturationPerSecond: 838, Note: "held for 20 s after the search"}
	for _, rate := range []float64{100, 200, 400, 600, 800, 820, 840, 900, 1000, 1200} {
		k := load.KneePoint{AskedPerSecond: rate, AchievedPerSecond: math.Min(rate, 838), P50MS: 3 + rate/400, P99MS: 9 + rate/60, OK: rate <= 820}
		if !k.OK {
			k.P50MS, k.P99MS, k.ErrorShare = 300+rate/2, 1500+rate, 0.02
			k.QueueGrew = true
			k.Why = fmt.Sprintf("p99<250ms: p99 is %.0f ms, not below 250 ms; the queue grew: the target served 838 of %.0f requests/s", k.P99MS, rate)
		}
		s.Knee = append(s.Knee, k)
	}
	return load.Scenario{
		Name: "sustained-rate", About: "The highest rate that still meets the thresholds.", Verdict: reports.Passed, Started: started, Seconds: 58.1,
		Phases: []load.Phase{simulate("confirm 820/s", 820, 10, func(s, i int) float64 { return 4 + float64((s+i)%17) })}, Sustained: &s,
		Requests:   &load.Requests{Total: 15_900, Counted: 8_200, WarmUp: 100, Searched: 7_600},
		Thresholds: []load.Threshold{{Text: "sustained>=800/s", Outcome: load.Met, Measured: &load.Estimate{Value: 820, Low: 810, High: 840}, Unit: "/s"}},
	}
}

func depth() load.Scenario {
	d := load.Depth{Operation: "webhook-events.list", Ratio: 1.08}
	for _, page := range []int64{1, 10, 100, 1000, 10000} {
		d.Points = append(d.Points, load.DepthPoint{Page: page, Rows: 100 * (page - 1), Count: 30, P50MS: 2.1 + float64(page)/60000, P99MS: 5.4})
	}
	flat := load.Depth{Operation: "lead-lists.list", Ratio: 9.5, Points: []load.DepthPoint{{Page: 1, Count: 30, P50MS: 2, P99MS: 4}, {Page: 10, Rows: 900, Count: 30, P50MS: 19, P99MS: 28}}}
	return load.Scenario{
		Name: "page-depth", About: "What page 1, 10, 100, … cost.", Verdict: reports.Passed, Started: started, Seconds: 12,
		Phases: []load.Phase{simulate("pages", 20, 12, func(s, i int) float64 { return 2 + float64(i%3) })}, Depth: []load.Depth{d, flat},
	}
}

func walk() load.Scenario {
	phase := simulate("50 clients", 300, 8, func(s, i int) float64 { return 30 + float64((s*31+i*17)%90) })
	phase.ClosedLoop, phase.OtherLoad, phase.RatePerSecond = true, true, 0
	return load.Scenario{
		Name: "walk", About: "Many clients, each walking whole lists, every page checked.", Verdict: reports.Failed,
		Reasons: []string{"PAGE-WALK-01 is broken on campaigns.list"}, Started: started, Seconds: 8.4, Phases: []load.Phase{phase},
		Walks: &load.Walks{Clients: 50, Walks: 400, Pages: 2400, Rows: 238_113, Faults: 3},
		Notes: []string{"lead-lists.list has no second page and was left out"},
		Violations: []load.Violation{{
			Requirement: "PAGE-WALK-01", Operation: "campaigns.list", Count: 3,
			Examples: []reports.Violation{{
				Statement: "A page walk returns each row once.", Section: "Pagination", Pointer: "/items/0/id",
				Expected: "a row that was not returned before", Actual: `"0195a1c2-7f00-7c3d-8a11-2b4e5f6a7b8c", which page 3 ended with`,
				Curl: `curl -i -H "Authorization: Bearer $OUTREACH_KEY_MAIN" "$OUTREACH_URL/api/v2/campaigns?limit=100&starting_after=0195a1c2-7f00-7c3d-8a11-2b4e5f6a7b8c"`,
			}},
		}},
		Requests: &load.Requests{Total: 2400, Counted: 2400},
		Coverage: &load.Coverage{Answers: 2400, Checked: 2400, Share: 1},
	}
}

func soak() load.Scenario {
	memory := load.Memory{Of: "reference server"}
	own := load.Memory{Of: "generator"}
	for t := range 40 {
		memory.Points = append(memory.Points, load.MemoryPoint{Seconds: float64(t), HeapBytes: 60<<20 + int64(t)<<19, RSSBytes: 110<<20 + int64(t)<<19})
		own.Points = append(own.Points, load.MemoryPoint{Seconds: float64(t), HeapBytes: 12<<20 + int64(t%5)<<18})
	}
	phase := simulate("200/s", 200, 40, func(s, i int) float64 {
		if s%20 == 13 && i == 5 {
			return 20_000
		}
		return 3 + float64(s)/20 + float64(i%7)/5
	})
	phase.Late, phase.Planned, phase.Dropped = 21, phase.Planned+9, 9
	return load.Scenario{
		Name: "soak", About: "A mixture at a steady rate for long; does anything drift?", Verdict: reports.Inconclusive,
		Reasons: []string{"errors<0.1% is inconclusive: 8,000 responses are too few"}, Started: started, Seconds: 40.2,
		Phases: []load.Phase{phase},
		Thresholds: []load.Threshold{{
			Text: "errors<0.1%", Outcome: load.Inconclusive, Measured: &load.Estimate{Value: 0.025, Low: 0.003, High: 0.11}, Unit: "%",
			Why: "8,000 responses are too few; about 20,000 needed",
		}},
		Drift: []load.Drift{
			{Name: "response p50", Unit: "ms", PerMinute: load.Estimate{Value: 3, Low: 2.9, High: 3.1}, Verdict: load.Drifts},
			{Name: "failed", Unit: "%", PerMinute: load.Estimate{Value: 0, Low: -0.1, High: 0.1}, Verdict: load.Steady},
			{Name: "reference server heap", Unit: "MiB", PerMinute: load.Estimate{Value: 30, Low: -2, High: 62}, Verdict: load.TrendNotKnown, Why: "the interval holds zero and the bound"},
			{Name: "limited", Unit: "%", Verdict: load.TrendNotKnown, Why: "5 points are too few"},
		},
		Memory: []load.Memory{memory, own},
	}
}

func rateLimit() load.Scenario {
	known := func(unit string, value, low, high float64) load.Finding {
		return load.Finding{Known: true, Value: value, Low: low, High: high, Confidence: 0.95, Unit: unit}
	}
	sure := func(value string) load.Answer { return load.Answer{Value: value, Confidence: 0.98} }
	l := load.Limiter{
		Summary: "100 requests in any window of 1 s, aligned to the clock, and about 6,000 a minute, shared by all keys of a workspace",
		Verdict: sure("rate-limited"),
		Layers: []load.Layer{
			{Kind: sure("fixed-window"), Limit: known("requests", 100, 100, 100), Window: known("s", 1, 0.997, 1.004), Rate: known("requests/s", 100, 99.6, 100.3), CountsRefused: sure("no")},
			{Kind: load.Answer{OneOf: []string{"token-bucket", "sliding-log"}, Why: "the budget ended before the second refill"}, Limit: known("requests", 6000, 5900, 6100),
				Window: load.Finding{Unit: "s", Low: 55, Why: "no whole window was seen"}, Rate: known("requests/s", 100, 99, 101), CountsRefused: load.Answer{Why: "no request was sent while it was full"}},
		},
		Beyond: &load.Beyond{Burst: 6000, SustainedPerSecond: 100, Seconds: 61,
			Why: "no slower layer was met while 100 requests/s were sustained for 61 s; a limit that takes longer or more requests to meet is beyond what was looked at (--duration, --budget)"},
		Scope: sure("workspace"),
		Sharing: []load.Sharing{
			{Subject: "other-key", Shared: sure("shared"), Refused: 5, Sandwiches: 5},
			{Subject: "other-workspace", Shared: sure("separate"), Sandwiches: 5},
			{Subject: "other-address", Shared: load.Answer{Why: "this machine has one address"}},
			{Subject: "other-operation", Shared: sure("shared"), Refused: 5, Sandwiches: 5},
		},
		RetryAfter: load.RetryAfter{
			Present: sure("always"), Refused: 412, With: 412, Honest: known("", 1, 0.95, 1), Trials: 59,
			Shortest: known("s", 0.412, 0.398, 0.431), Promised: known("s", 1, 1, 1),
			Verdict: sure("honest"),
		},
		Headers: load.HeaderClaims{Present: sure("always"), Styles: []string{"RateLimit-Limit", "RateLimit-Remaining"}, Malformed: []string{"RateLimit-Reset: soon"},
			Limit: sure("agrees"), Window: load.Answer{Why: "no header states it"}, Remaining: sure("agrees"), Reset: sure("disagrees")},
		Recovery: known("s", 0.53, 0.02, 0.998), RoundTrip: known("s", 0.0021, 0.0018, 0.003),
		Inference: load.Spent{Requests: 900, Refused: 412, Seconds: 15}, Total: load.Spent{Requests: 1480, Refused: 530, Failed: 1, Seconds: 41, Stopped: "the budget of requests"},
		Notes: []string{"two bursts agree"},
	}
	phases := []string{"calibrate", "burst", "recovery", "saturate", "split probe"}
	for i := range 900 {
		t := float64(i) / 60
		phase := phases[min(i/180, len(phases)-1)]
		verdict := "accepted"
		if math.Mod(t, 1) > 0.55 && phase != "calibrate" {
			verdict = "limited"
		}
		l.Probes = append(l.Probes, load.Probe{Seconds: t, ReceivedSeconds: t + 0.002, Verdict: verdict, Phase: phase, Subject: "main"})
	}
	phase := simulate("above the limit", 150, 15, func(s, i int) float64 {
		if i >= 100 {
			return -0.7
		}
		return 2 + float64(i%5)/4
	})
	return load.Scenario{
		Name: "rate-limit", About: "Excess requests: how they are refused, and by which limiter.", Verdict: reports.Passed, Started: started, Seconds: 15,
		Phases: []load.Phase{phase}, Limiter: &l,
	}
}

// Hostile returns Full with every string that a target or a user can influence
// replaced with one that attacks the view.
func Hostile() load.Results {
	r := Full()
	const attack = "</style><script>alert(1)</script>\"'><img src=https://evil.test/x onerror=alert(1)>\u202e\x1b[31m\xff{{.}}\x00"
	long := ""
	for i := range 60 {
		long += fmt.Sprintf("unbroken%d", i)
	}
	r.Target.Name, r.Target.Version, r.Target.Vendor, r.Target.BaseURL = attack, long, attack, "javascript:alert(1)//"+attack
	r.Run.Selection, r.Run.ID = attack+long, attack
	r.Reasons = []string{attack, long}
	r.Calibration.Note = attack
	for i := range r.Scenarios {
		s := &r.Scenarios[i]
		s.About, s.Notes = attack, []string{attack}
		for j := range s.Reasons {
			s.Reasons[j] = attack + long
		}
		for j := range s.Phases {
			p := &s.Phases[j]
			p.Name = attack + long
			p.Failures = map[string]int64{attack: 1}
			for k := range p.Labels {
				p.Labels[k].Name = attack + long
			}
		}
		for j := range s.Thresholds {
			s.Thresholds[j].Text, s.Thresholds[j].Why, s.Thresholds[j].Unit, s.Thresholds[j].Phase = attack, long, attack, attack
		}
		for j := range s.Violations {
			for k := range s.Violations[j].Examples {
				e := &s.Violations[j].Examples[k]
				e.Statement, e.Section, e.Expected, e.Actual, e.Curl = attack, attack, long, attack, "curl "+attack+long
			}
		}
		for j := range s.Drift {
			s.Drift[j].Name, s.Drift[j].Unit, s.Drift[j].Why = attack, attack, attack
		}
		for j := range s.Memory {
			s.Memory[j].Of = attack
		}
		if s.Limiter != nil {
			s.Limiter.Summary, s.Limiter.Notes = attack, []string{attack}
			s.Limiter.Headers.Styles, s.Limiter.Headers.Malformed = []string{attack}, []string{attack + long}
			s.Limiter.Layers[0].Kind, s.Limiter.Sharing[0].Subject = load.Answer{OneOf: []string{attack, long}, Why: attack}, attack
			s.Limiter.Scope, s.Limiter.Total.Stopped = load.Answer{Why: attack}, attack
			for j := range s.Limiter.Probes {
				s.Limiter.Probes[j].Phase = attack
			}
		}
		if s.Sustained != nil {
			s.Sustained.Note = attack
		}
	}
	r.Comparison.A.Name, r.Comparison.Figures[0].Name, r.Comparison.Figures[0].Unit = attack, attack, attack
	return r
}
