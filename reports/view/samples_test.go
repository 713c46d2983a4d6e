package view_test

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"outreach.example/conformance/reports"
	"outreach.example/conformance/reports/diff"
	"outreach.example/conformance/reports/internal/sample"
	"outreach.example/conformance/reports/load"
	"outreach.example/conformance/spec"
)

// few returns the full sample without most of its passed checks.
func few() reports.Results {
	r, passed := sample.Full(), 0
	r.Checks = slices.DeleteFunc(r.Checks, func(c reports.Check) bool {
		if c.Outcome == reports.Pass {
			passed++
		}
		return c.Outcome == reports.Pass && passed > 5
	})
	return r
}

// odd returns a run with what the other samples lack.
func odd() reports.Results {
	violation := func(pointer, actual string) reports.Violation {
		return reports.Violation{Statement: "It has a name.", Section: "Fields", Pointer: pointer, Expected: "a string", Actual: actual, Count: 2, Curl: "curl -i x"}
	}
	failed := func(requirement spec.ID, operation string, all ...reports.Violation) reports.Check {
		return reports.Check{Requirement: string(requirement), Operation: operation, Group: "shape", Level: "stated", Outcome: reports.Fail,
			Violations: all, ViolationCount: 2 * len(all), Assessments: 9}
	}
	r := sample.Passed()
	passed := r.Checks[:3]
	r.Checks = []reports.Check{
		passed[0], passed[1], passed[2],
		// A line for each missing operation.
		failed(spec.Served, spec.MoveLead, violation("status", "404 <html>")), failed(spec.Served, spec.ListLeadLabels, violation("status", "405")),
		// Each kind of violation once, with all its operations.
		failed("SHAPE-NAME", spec.GetPlacementTest, violation("/items/0/name", "absent"), violation("/items/1/name", "absent"), violation("/name", "7")),
		failed("SHAPE-NAME", spec.ListPlacementTests, violation("/name", "8"), violation("/items/9/name", "absent"), violation("/name", "null"), violation("/name", "true"), violation("/name", "a list")),
		// A long text is cut in titles.
		failed("ERROR-BODY", spec.MoveLead, violation("header:Content-Type", strings.Repeat("long\n", 60))),
		failed("WITHOUT-A-VIOLATION", spec.MoveLead),
	}
	for _, flaky := range []bool{true, false} {
		c := failed("KNOWN", spec.MoveLead, violation("/name", "9"))
		c.Outcome, c.Waiver = reports.ExpectedFailure, &reports.Waiver{Reason: "a <b>known</b> | bug", Link: "https://bugs.example/7", Expires: "2999-12-31", Flaky: flaky}
		c.Requirement += fmt.Sprint("-", flaky)
		r.Checks = append(r.Checks, c)
	}
	r.Checks[7].Consequences = []reports.Consequence{{Requirement: "A", Operation: "b", Count: 3}, {Requirement: "B", Operation: "b", Count: 1}}
	for _, missing := range []string{"a revoked key", "a row", reports.NotReached, "a dog"} {
		r.Checks = append(r.Checks, reports.Check{Requirement: "LACKS", Operation: missing[2:5], Group: "keys", Outcome: reports.NotAssessed, Missing: []string{missing}})
	}
	r.Verdict, r.Reasons, r.ExpectedFailures = reports.Failed, []string{"some checks failed"}, 2
	// What newly fails has one annotation; lost coverage has one in the verdict's.
	r.Regressions = []string{diff.NewlyFailing + ", unlike in the baseline old.json: SHAPE-NAME on x", "no longer assessed, unlike in the baseline old.json: A on b"}
	r.Reasons = append(r.Reasons, r.Regressions...)
	r.StaleExpectations, r.Flaky = []string{"KNOWN on leads.get passes"}, &reports.Flaky{Passed: 1, Failed: 1}
	r.Troubles = []reports.Trouble{{Where: "leads.move", What: "no response\nat all"}, {Where: "leads.get", What: "no response\nat all"}, {Where: reports.Rollback, What: "the test x may be left"}}
	r.Traffic.Unjudged = 3
	r.Run.Seconds, r.Run.Time = 95.2, &reports.Time{Judging: 2.14, InFlight: 1.5, Throttled: 90, RateLimit: 3, Paced: 0.01}
	r.Run.Operations, r.Run.Omits, r.Run.Explored = []string{"leads.*"}, []string{"lead.company"}, &reports.Explored{Queries: 1, Sequences: 2, Changed: 3}
	r.Run.Parts = []reports.RunPart{{ID: "1"}, {ID: "2"}}
	return r
}

// interrupted returns a run that ended before most of its checks, which lacked nothing.
func interrupted() reports.Results {
	r := sample.Passed()
	r.Run.Interrupted, r.Verdict, r.Reasons = true, reports.Inconclusive, []string{"the run was interrupted"}
	for i := range r.Checks[4:] {
		c := &r.Checks[4+i]
		c.Outcome, c.Assessments, c.Missing = reports.NotAssessed, 0, []string{reports.NotReachedInterrupted}
	}
	r.Checks[4].Missing = []string{"a key"}
	return r
}

// broken returns a run in which most checks fail.
func broken() reports.Results {
	r := sample.Full()
	letters := strings.NewReplacer("0", "a", "1", "b", "2", "c", "3", "d", "4", "e", "5", "f", "6", "g", "7", "h", "8", "i", "9", "j")
	for i := range r.Checks {
		if c := &r.Checks[i]; i%3 != 0 && c.Outcome == reports.Pass {
			c.Outcome, c.ViolationCount = reports.Fail, 7
			c.Violations = []reports.Violation{{Statement: "What is asked for is there.", Section: "Endpoints", Pointer: "status",
				Expected: "200", Actual: "500 in " + letters.Replace(c.Requirement), Curl: `curl -i "$OUTREACH_URL/api/v2/lead-lists"`}}
		}
	}
	for i := range 40 {
		r.Troubles = append(r.Troubles, reports.Trouble{Where: fmt.Sprintf("spec %d", i), What: "the connection was closed"},
			reports.Trouble{Where: "spec", What: fmt.Sprintf("the connection %d was closed", i)})
	}
	return r
}

// whole returns the full load run as one run, not as a shard.
func whole() load.Results {
	r := sample.FullLoad()
	r.Run.Shard = nil
	return r
}

// oddLoad returns a load run whose scenarios have what the other samples lack.
func oddLoad() load.Results {
	r, template := sample.PassedLoad(), sample.PassedLoad().Scenarios[0]
	r.Scenarios = nil
	scenario := func(name string, change func(s *load.Scenario, p *load.Phase)) {
		s, phase := template, template.Phases[0]
		s.Name, s.Phases, s.Thresholds = name, []load.Phase{phase}, nil
		change(&s, &s.Phases[0])
		r.Scenarios = append(r.Scenarios, s)
	}
	// A spike has three parts. The last second of a phase may be cut short.
	spike := func(name string, seconds float64, asked ...int64) {
		scenario(name, func(_ *load.Scenario, p *load.Phase) {
			p.Name, p.RatePerSecond, p.Seconds, p.Series = "spike", 0, seconds, nil
			for i, n := range asked {
				at := float64(n*10) - float64(i)
				p.Series = append(p.Series, load.Interval{T: int64(i), Asked: n, Sent: n, Done: n, Accepted: n, Response: &load.Brief{P50MS: 2, P90MS: 3, P99MS: at, MaxMS: at}})
			}
		})
	}
	spike("spike", 6.5, 10, 10, 100, 100, 10, 10, 5)
	spike("one rate is no spike", 3, 10, 10, 10)
	spike("two bursts are no spike", 5, 10, 100, 10, 100, 10)
	spike("a burst without an end is no spike", 2, 10, 100)

	// A percentile needs enough planned requests.
	for _, planned := range []int64{10_000, 800, 80} {
		scenario(fmt.Sprint("planned ", planned), func(_ *load.Scenario, p *load.Phase) {
			p.Planned = planned
			p.Response.Accepted = &load.Distribution{Count: planned, MaxMS: 9, Open: true, MeanOpen: true, Quantiles: []load.Quantile{
				{P: 0.5, ValueMS: 2, LowMS: 1, HighMS: 3}, {P: 0.95, ValueMS: 4, LowMS: 3, HighMS: 5},
				{P: 0.99, ValueMS: 6, LowMS: 5, HighMS: 7}, {P: 0.999, ValueMS: 8, LowMS: 7, HighMS: 9, Open: true, Flagged: true, Why: "too few"}}}
		})
	}
	// Page sizes share a chart; so do other phases.
	for _, form := range []string{"limit=%d", "A%d"} {
		scenario("phases "+form, func(s *load.Scenario, p *load.Phase) {
			s.Phases = nil
			for i, size := range []int{1, 25, 100} {
				of := *p
				of.Name, of.Planned, of.AchievedPerSecond = fmt.Sprintf(form, size), 10_000, 50+float64(i*(len(form)-2)%6)
				of.Response.Accepted = &load.Distribution{Count: 10_000, MaxMS: 50, Quantiles: []load.Quantile{{P: 0.5, ValueMS: float64(2 + i)}, {P: 0.99, ValueMS: float64(10 + i)}}}
				s.Phases = append(s.Phases, of)
			}
		})
	}
	// The headline names the figure that became worse by most.
	measured := func(phase string, value, low, high float64) load.Threshold {
		return load.Threshold{Text: "worse<10%", Outcome: load.Met, Phase: phase, Measured: &load.Estimate{Value: value, Low: low, High: high}, Unit: "%"}
	}
	for name, all := range map[string][]load.Threshold{
		"1 worse than the baseline": {measured("500/s p50", -2, -3, -1), measured("500/s p99", 4, 1, 7)}, "2 better than the baseline": {measured("500/s p50", -2, -3, -1)},
		"3 not compared with the baseline": {{Text: "worse<10% vs last.json", Outcome: load.Inconclusive, Why: "another rate"}},
	} {
		scenario(name, func(s *load.Scenario, _ *load.Phase) { s.Thresholds = all })
	}
	slices.SortFunc(r.Scenarios[len(r.Scenarios)-3:], func(a, b load.Scenario) int { return strings.Compare(a.Name, b.Name) })

	// Reasons are given once, and not for what is left out.
	const why = "the key was in use by others"
	cannot := load.Answer{Why: why}
	for _, l := range []load.Limiter{
		{Summary: "cannot tell: " + why, Verdict: cannot, Scope: cannot, RetryAfter: load.RetryAfter{Present: cannot}, Recovery: load.Finding{Why: why}},
		{Summary: "cannot tell", Verdict: cannot, Scope: cannot, RetryAfter: load.RetryAfter{Present: cannot}, Recovery: load.Finding{Why: why}},
		{Summary: "20 requests in 1 s", Sharing: []load.Sharing{{Subject: "other-key", Shared: cannot}, {Subject: "other-key", Shared: cannot}, {Subject: "other-key", Shared: cannot}},
			RetryAfter: load.RetryAfter{Present: load.Answer{Value: "always"}, Refused: 229, With: 229, Unreadable: 229, Example: "\"<b>\u202e\"", Verdict: load.Answer{Why: "what it says cannot be read"}}},
	} {
		scenario("a limiter", func(s *load.Scenario, _ *load.Phase) { s.Limiter = &l })
	}
	// Kinds of failures, lower bounds, and a scenario that only probed.
	scenario("failures and bounds", func(s *load.Scenario, p *load.Phase) {
		p.Failures = map[string]int64{"refused": 40, "reset": 30}
		p.Statuses = map[string]int64{"200": 1, "none": 70, "500": 20, "502": 10, "503": 5, "504": 4}
		s.Depth = []load.Depth{{Operation: "lead-lists.list", Ratio: 50, Open: true, Points: []load.DepthPoint{{Page: 1, P50MS: 20}, {Page: 100, P50MS: 1000, MedianOpen: true}}}}
		s.Sustained = &load.Sustained{RatePerSecond: 5, Knee: []load.KneePoint{{AskedPerSecond: 5, P50MS: 7, P99MS: 1001, Open: true}}}
	})
	scenario("only probes", func(s *load.Scenario, _ *load.Phase) {
		s.Phases, s.Requests, s.Missing = nil, &load.Requests{Total: 1234, Beside: 1234}, []string{"a key"}
		s.Verdict, s.Reasons = reports.Inconclusive, []string{"it lacks a key"}
	})
	r.Comparison = &load.Comparison{}
	for _, open := range []bool{true, false} {
		r.Comparison.Figures = append(r.Comparison.Figures, load.ComparedFigure{Name: "response p99", Unit: "ms", A: new(100.0), B: new(300.0), AOpen: !open, BOpen: open, Verdict: load.Worse,
			Difference: &load.Estimate{Value: 200, Low: 190, High: 210}, Ratio: 3, RatioLow: 2.9, RatioHigh: 3.1})
	}
	return r
}

// different returns a comparison with every kind of list.
func different() diff.Difference {
	p := diff.Runs("old.json", sample.Passed(), "new.json", few())
	p.Observations = []diff.Observation{{OpenPoint: "SILENT-DIRECTION", Operation: "leads.move", Was: []string{"asc"}, Is: []string{strings.Repeat("long", 60)}}}
	p.Figures = []diff.Figure{{Scenario: "mixed", Phase: "steady", Name: "response p99", Unit: "ms", Old: &load.Estimate{Value: 10, Low: 9, High: 11},
		New: &load.Estimate{Value: 20, Low: 19, High: 21}, Worse: &load.Estimate{Value: 100, Low: 72, High: 133}, Verdict: load.Worse}}
	p.Thresholds = []diff.Threshold{{Scenario: "mixed", Phase: "steady", Text: "worse<5%", Outcome: load.Missed, Why: "the change is 100 %"}}
	return diff.Join(reports.Tool{Name: "t"}, p)
}

// same returns a comparison without a difference.
func same() diff.Difference {
	return diff.Join(reports.Tool{Name: "t"}, diff.Runs("a", sample.Passed(), "b", sample.Passed()))
}

// attacks are texts that a hostile target sends.
var attacks = []string{"", "\n::error::forged", "%0A::x", "|", "</details><script>alert(1)</script>", `"><img src=//evil.example onerror=evil()>`, "`*[x](y)",
	"[click](https://evil.example)", "](1)", "\x1b[31m", "\u202e\u2066abc\u200b\x00\xff", "&lt;]]><!--&#0;\u2028", "javascript:alert(1)//</style>{{.}}", strings.Repeat("unbroken", 75)}

// written are the fields of results whose texts a target or a user writes.
const written = ` Name Version Vendor Selection Note About Notes Reasons Text Why Unit Phase Failures Statement Section Expected Actual Curl Of OneOf Summary
 Styles Malformed Subject Stopped Spec Body RequestBody Line Headers Value Where What Missing Reason Link Was Is Example `

// attack writes the text into each such field, a password into addresses, and the figure or 0
// into measured figures.
func attack[T any](results T, text string, figure float64) T {
	n := 0
	var walk func(v reflect.Value, field string)
	walk = func(v reflect.Value, field string) {
		free := strings.Contains(written, " "+field+" ")
		switch v.Kind() {
		case reflect.String:
			if free && v.String() != "" {
				v.SetString(v.String() + text)
			} else if field == "BaseURL" {
				v.SetString("https://user:secret@evil.example/" + text)
			}
		case reflect.Float64:
			if n++; field != "P" && field != "Confidence" && field != "Share" && figure > 0 {
				v.SetFloat(figure * float64(n%3))
			}
		case reflect.Map:
			if free && v.Len() > 0 {
				v.Set(reflect.ValueOf(map[string]int64{text: 1}))
			}
		case reflect.Pointer:
			if !v.IsNil() {
				walk(v.Elem(), field)
			}
		case reflect.Slice:
			for i := range v.Len() {
				walk(v.Index(i), field)
			}
		case reflect.Struct:
			for i := range v.NumField() {
				if v.Type() != reflect.TypeFor[time.Time]() {
					walk(v.Field(i), v.Type().Field(i).Name)
				}
			}
		}
	}
	walk(reflect.ValueOf(&results).Elem(), "")
	return results
}
