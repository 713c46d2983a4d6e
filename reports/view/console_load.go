package view

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"outreach.example/conformance/internal/printable"
	"outreach.example/conformance/reports"

	"outreach.example/conformance/reports/load"
	"outreach.example/conformance/reports/summary"
)

// effect returns an outcome in the colour of its meaning.
func (s *screen) effect(outcome any) string {
	word := fmt.Sprint(outcome)
	switch word {
	case string(load.NoDifference):
		return s.paint.green("no difference shown")
	case string(load.Met), string(load.Steady), string(load.Better):
		return s.paint.green(word)
	case string(load.Missed), string(load.Drifts), string(load.Worse):
		return s.paint.red(word)
	default:
		return s.paint.yellow(word)
	}
}

// at returns a quantile of the response time. It leaves out what the plan has too few requests for. Unless the
// quantile is chief, it also leaves out what too few independent requests measured: max says as much.
func (s *screen) at(p load.Phase, quantile float64, chief bool) string {
	if q := quantileAt(p, quantile); q != nil && p.Supports(quantile) && (chief || !q.Open) {
		return s.reliable(*q)
	}
	return s.paint.dim("–")
}

// quantileAt returns a quantile of the accepted responses of a phase; nil without one.
func quantileAt(p load.Phase, quantile float64) *load.Quantile {
	if d := p.Response.Accepted; d != nil {
		for i, q := range d.Quantiles {
			if q.P == quantile {
				return &d.Quantiles[i]
			}
		}
	}
	return nil
}

// reliable shows a quantile by one figure, or an unreliable one by its interval.
func (s *screen) reliable(q load.Quantile) string {
	if !q.Flagged {
		return printable.Figure(q.ValueMS)
	}
	s.marked = true
	between := printable.Figure(q.LowMS) + "–" + printable.Figure(q.HighMS)
	if q.Open {
		between = load.AtLeast(true, q.LowMS)
	}
	return s.paint.yellow(between)
}

// measured sums up the requests of the measured phases.
func measured(scenarios []load.Scenario) (t load.Traffic) {
	for _, s := range scenarios {
		for _, p := range counting(s.Phases) {
			t.Planned, t.Sent, t.Late, t.Dropped = t.Planned+p.Planned, t.Sent+p.Sent, t.Late+p.Late, t.Dropped+p.Dropped
		}
	}
	return t
}

// counting returns the measured phases, without warm-ups.
func counting(phases []load.Phase) []load.Phase {
	return slices.DeleteFunc(slices.Clone(phases), func(p load.Phase) bool { return p.Warmup })
}

// others returns the number of requests that failed in other ways than the first few.
func (s *screen) others(n int, all []load.Ending) (total int64) {
	for _, e := range all[len(all)-s.left(n, all):] {
		total += e.Count
	}
	return total
}

// endings returns why requests got no response, in words.
func endings(failures map[string]int64) (all []load.Ending) {
	for _, failure := range slices.Sorted(maps.Keys(failures)) {
		all = append(all, load.Ending{How: load.FailureInWords(failure), Count: failures[failure]})
	}
	return all
}

// tried are the rates with one outcome.
type tried struct {
	How   string
	Rates []string
}

// ratesTried returns the rates of a search by outcome. A rate tried twice is met if it was met both times.
func ratesTried(knee []load.KneePoint) []tried {
	all := []tried{{How: "met"}, {How: "not met"}, {How: "the queue grew"}}
	for i, k := range knee {
		if next := i + 1; next < len(knee) && knee[next].AskedPerSecond == k.AskedPerSecond {
			if !k.OK {
				knee[next] = k
			}
			continue
		}
		at := &all[1]
		switch {
		case k.OK:
			at = &all[0]
		case k.QueueGrew:
			at = &all[2]
		}
		at.Rates = append(at.Rates, printable.Figure(k.AskedPerSecond)+"/s")
	}
	return slices.DeleteFunc(all, func(t tried) bool { return t.Rates == nil })
}

// missedAt returns why the next higher rate failed.
func missedAt(s load.Sustained) string {
	for _, k := range s.Knee {
		if !k.OK && k.AskedPerSecond >= s.HighPerSecond-0.5 && k.AskedPerSecond <= s.HighPerSecond+0.5 {
			return k.Why
		}
	}
	return ""
}

// steady returns the names of the figures that are steady.
func steady(all []load.Drift) (names []string) {
	for _, d := range all {
		if d.Verdict == load.Steady {
			names = append(names, d.Name)
		}
	}
	return names
}

// thresholds groups thresholds by outcome, unless Verbose is set. The scenario's reasons say why one is not met.
func (s *screen) thresholds(all []load.Threshold) (groups [][]load.Threshold) {
	for _, t := range all {
		i := slices.IndexFunc(groups, func(g []load.Threshold) bool { return !s.Verbose && g[0].Text == t.Text && g[0].Outcome == t.Outcome })
		if i < 0 {
			i = len(groups)
			groups = append(groups, nil)
		}
		groups[i] = append(groups[i], t)
	}
	return groups
}

// loadKinds returns the kinds of a violation under load.
func loadKinds(v load.Violation) []summary.Kind {
	return summary.Failures(broken([]load.Scenario{{Violations: []load.Violation{v}}}))[0].Kinds
}

// limiter is a limiter without its most frequent reason, which is separate (Limiter.Common).
type limiter struct {
	load.Limiter
	Unknown string
}

// common leaves out what only Verbose shows.
func (s *screen) common(l load.Limiter) limiter {
	if !s.Verbose {
		l.Sharing, l.Headers = nil, load.HeaderClaims{}
	}
	why, rest := l.Common()
	if strings.Contains(l.Summary, why) {
		why = ""
	}
	return limiter{rest, why}
}

// joined joins the texts that are not empty.
func joined(separator string, texts ...string) string {
	return strings.Join(slices.DeleteFunc(texts, func(s string) bool { return s == "" }), separator)
}

// ownReasons returns the reasons of the run that are not those of a scenario.
func ownReasons(r load.Results) []string {
	return slices.DeleteFunc(slices.Clone(r.Reasons), func(reason string) bool {
		return slices.ContainsFunc(r.Scenarios, func(s load.Scenario) bool {
			return strings.HasPrefix(reason, s.Name+": ") && len(s.Reasons) > 0
		})
	})
}

// broken returns the requirements that operations broke under load, as failed checks.
// One that several scenarios broke is there once.
func broken(scenarios []load.Scenario) []reports.Check {
	var checks []reports.Check
	for _, s := range scenarios {
		for _, v := range s.Violations {
			same := func(c reports.Check) bool { return c.Requirement == v.Requirement && c.Operation == v.Operation }
			if !slices.ContainsFunc(checks, same) {
				checks = append(checks, reports.Check{Requirement: v.Requirement, Operation: v.Operation, Outcome: reports.Fail, Violations: v.Examples})
			}
		}
	}
	return checks
}

// notPassed returns a scenario's verdict and first reason on one line.
func (s *screen) notPassed(of load.Scenario) string {
	head := s.mark(of.Verdict, of.Verdict.Word()) + "  " + s.paint.bold(Cut(of.Name, s.width/2))
	if len(of.Reasons) == 0 {
		return head
	}
	more := ""
	if n := len(of.Reasons) - 1; n > 0 {
		more = fmt.Sprintf(" (and %s more)", printable.Number(n))
	}
	return head + "  " + Cut(of.Reasons[0], max(s.width-Width(head)-2-Width(more), 1)) + more
}

// statusCounts returns the numbers of responses by status.
func statusCounts[N int | int64](n map[string]N) string {
	var all []string
	for _, status := range slices.Sorted(maps.Keys(n)) {
		all = append(all, cmp.Or(map[string]string{"none": "no response"}[status], status)+": "+printable.Number(int(n[status])))
	}
	return strings.Join(all, " · ")
}
