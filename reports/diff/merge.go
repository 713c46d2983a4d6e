package diff

// This file joins the results of several runs of one target, such as the jobs of a
// matrix that each judge some of the operations.
//
// The verdict follows by the rules of a run (internal/judge).

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"outreach.example/conformance/internal/judge"
	"outreach.example/conformance/reports"
	"outreach.example/conformance/reports/jsonfile"
	"outreach.example/conformance/reports/summary"
	"outreach.example/conformance/spec"
)

// MergePart is the results of one run, with the name of their file for messages.
type MergePart struct {
	File    string
	Results reports.Results
}

// maxViolations is the number of violations that a merged check keeps.
const maxViolations = 10

// Merge joins the parts. It returns an error if they are not of the same target, the
// same target profile and the same version of the harness. A check that several parts
// have fails if it fails in any. A check that passed in one part and failed in another is a
// reason too.
func Merge(parts []MergePart, least judge.Minimum) (merged reports.Results, err error) {
	if len(parts) == 0 {
		return merged, fmt.Errorf("no results to join")
	}
	for i, p := range parts {
		if why := differs(parts[0].Results, p.Results); why != "" {
			return merged, fmt.Errorf("%s and %s are not parts of one run: %s", parts[0].File, p.File, why)
		}
		if same := slices.IndexFunc(parts, func(o MergePart) bool { return o.Results.Run.ID == p.Results.Run.ID }); same < i {
			return merged, fmt.Errorf("%s and %s are the same run", parts[same].File, p.File)
		}
	}
	merged = about(parts)
	var stale, regressions []string
	for _, p := range parts {
		merged.Observations = add(merged.Observations, p.Results.Observations, addObservation)
		merged.Troubles = append(merged.Troubles, p.Results.Troubles...)
		addTraffic(&merged.Traffic, p.Results.Traffic)
		merged.Requests = add(merged.Requests, p.Results.Requests, addRequests)
		stale = add(stale, p.Results.StaleExpectations, addText)
		regressions = add(regressions, p.Results.Regressions, addText)
		if f := p.Results.Flaky; f != nil {
			if merged.Flaky == nil {
				merged.Flaky = &reports.Flaky{}
			}
			merged.Flaky.Passed += f.Passed
		}
	}
	var contradictions []string
	merged.Checks, contradictions = checks(parts)
	merged.Run.Profile, merged.Run.Selection = selection(merged.Checks, parts)
	if f := merged.Flaky; f != nil { // parts may have a check in common
		for _, c := range merged.Checks {
			if c.Waiver != nil && c.Waiver.Flaky {
				f.Failed++
			}
		}
		f.Passed = min(f.Passed, reports.Count(merged.Checks).Pass)
	}
	judge.Conclude(&merged, stale...)
	doubt(&merged, parts)
	least.Require(&merged)
	judge.Compared(&merged, regressions)
	merged.Levels = summary.Levels(merged.Checks)
	merged.Reasons = append(merged.Reasons, contradictions...)
	return reports.Shrink(merged, jsonfile.Fits), nil
}

// doubt takes a pass from results of which a part judged nothing, and no other part instead: its
// target was not reachable, for example.
func doubt(merged *reports.Results, parts []MergePart) {
	assessed := map[spec.Pair]bool{}
	for _, c := range merged.Checks {
		assessed[spec.Pair{Requirement: c.Requirement, Operation: c.Operation}] = c.Outcome != reports.NotAssessed
	}
	for _, p := range parts {
		judged := slices.ContainsFunc(p.Results.Checks, func(c reports.Check) bool {
			return assessed[spec.Pair{Requirement: c.Requirement, Operation: c.Operation}]
		})
		if !judged && merged.Verdict != reports.Failed {
			merged.Verdict = reports.Inconclusive
			merged.Reasons = append(merged.Reasons, p.File+": "+strings.Join(p.Results.Reasons, "; "))
		}
	}
}

// differs returns why two runs cannot be parts of one; empty if they can.
func differs(a, b reports.Results) string {
	for _, s := range []struct{ name, a, b string }{
		{"target", a.Target.Name, b.Target.Name},
		{"version of the target", a.Target.Version, b.Target.Version},
		{"vendor", a.Target.Vendor, b.Target.Vendor},
		{"kind of target", a.Target.Kind, b.Target.Kind},
		{"address", address(a.Target), address(b.Target)},
		{"version of the harness, and so of the specification", a.Tool.Version, b.Tool.Version},
		{"operations in the target profile", fmt.Sprint(a.Run.Operations), fmt.Sprint(b.Run.Operations)},
		{"omits in the target profile", fmt.Sprint(a.Run.Omits), fmt.Sprint(b.Run.Omits)},
	} {
		if s.a != s.b {
			return fmt.Sprintf("the %s is %q and %q", s.name, s.a, s.b)
		}
	}
	return ""
}

// address returns the address of a server at an address. Each job of a matrix has a
// loopback network of its own, and containers get any port.
func address(t reports.Target) string {
	if t.Kind != "url" {
		return ""
	}
	if u, err := url.Parse(t.BaseURL); err == nil && slices.Contains([]string{"127.0.0.1", "::1", "localhost"}, u.Hostname()) {
		return "this machine"
	}
	return t.BaseURL
}

// about returns results that say who judged what and when, and nothing else.
func about(parts []MergePart) reports.Results {
	first := parts[0].Results
	merged := reports.Results{Version: reports.ModelVersion, Tool: first.Tool, Target: first.Target, Run: first.Run}
	run := &merged.Run
	run.ID, run.Seconds, run.Specs, run.Time, run.Explored = uuid.NewString(), 0, 0, nil, nil
	for _, p := range parts {
		r := p.Results.Run
		if r.Started.Before(run.Started) {
			run.Started = r.Started
		}
		run.Seconds, run.Specs, run.Interrupted = run.Seconds+r.Seconds, run.Specs+r.Specs, run.Interrupted || r.Interrupted
		run.Parts = append(run.Parts, reports.RunPart{ID: r.ID, Started: r.Started, Seconds: r.Seconds, Seed: r.Seed, Profile: r.Profile, Selection: r.Selection})
	}
	run.Started = run.Started.Truncate(time.Millisecond)
	return merged
}

// selection returns the profile and the selection of all parts: those of a full run if
// no check of the catalogue is left out.
func selection(all []reports.Check, parts []MergePart) (profile, selected string) {
	var profiles, selections []string
	for _, p := range parts {
		profiles = add(profiles, []string{p.Results.Run.Profile}, addText)
		selections = add(selections, []string{p.Results.Run.Selection}, addText)
	}
	whole := map[spec.Pair]bool{}
	for _, c := range all {
		whole[spec.Pair{Requirement: c.Requirement, Operation: c.Operation}] = true
	}
	missing := slices.ContainsFunc(spec.Pairs(), func(p spec.Pair) bool { return !whole[p] })
	if !missing || slices.Contains(selections, "") && slices.Contains(profiles, string(spec.ProfileFull)) {
		return string(spec.ProfileFull), ""
	}
	return strings.Join(profiles, ","), strings.Join(selections, " + ")
}

// add adds more entries to a list. One that the list has is joined.
func add[T any](all, more []T, join func(known *T, m T) bool) []T {
	for _, m := range more {
		joined := false
		for i := range all {
			joined = joined || join(&all[i], m)
		}
		if !joined {
			all = append(all, m)
		}
	}
	return all
}

func addObservation(known *reports.Observation, o reports.Observation) bool {
	same := known.OpenPoint == o.OpenPoint && known.Operation == o.Operation && known.Value == o.Value
	if same {
		known.Count += o.Count
	}
	return same
}

func addRequests(known *reports.Requests, n reports.Requests) bool {
	same := known.Operation == n.Operation && known.Allowed == n.Allowed
	if same {
		known.Sent, known.Accepted = known.Sent+n.Sent, known.Accepted+n.Accepted
	}
	return same
}

func addConsequence(known *reports.Consequence, c reports.Consequence) bool {
	same := known.Requirement == c.Requirement && known.Operation == c.Operation
	if same {
		known.Count += c.Count
	}
	return same
}

// addText keeps each text once.
func addText(known *string, s string) bool { return *known == s }

func addTraffic(all *reports.Traffic, more reports.Traffic) {
	if all.Statuses == nil {
		all.Statuses = map[string]int{}
	}
	for status, n := range more.Statuses {
		all.Statuses[status] += n
	}
	all.Requests += more.Requests
	all.BytesReceived += more.BytesReceived
	all.Throttled += more.Throttled
	all.Unjudged += more.Unjudged
}

// order is that in which an outcome of one part outweighs that of another: a failure
// comes first. An error of the harness comes before a pass, which it leaves in doubt.
var order = []reports.Outcome{reports.Fail, reports.ExpectedFailure, reports.Error, reports.Pass, reports.NotAssessed}

func compareOutcomes(a, b reports.Outcome) int {
	return cmp.Compare(slices.Index(order, a), slices.Index(order, b))
}
