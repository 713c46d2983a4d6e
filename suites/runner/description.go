package runner

import (
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"time"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/fixtures/target"
	"outreach.example/conformance/internal/printable"
	"outreach.example/conformance/reports"
	"outreach.example/conformance/spec"
	"outreach.example/conformance/suites/api"
)

// Description is what is known of a run before its first spec. The announcement, the
// progress and the results take from it what the run is about.
type Description struct {
	About reports.Results // who judges what, and since when; nothing is judged yet
	Pairs []spec.Pair     // that are judged

	Specs     []api.Spec    // that run
	Requests  int           // expected, without those that exceed the rate limit
	Probes    int           // at most, to exceed the rate limit
	RoundTrip time.Duration // of the first request; 0 if none was answered
	Time      time.Duration // that the requests may take, unless the target answers 429
	Limited   time.Duration // that they may take if each key is limited as one is; 0 if unknown
	LeftOut   []string      // what the run leaves out because a list is too long, a line for each list

	Lacks map[spec.Pair]string // what the profile lacks for the pairs that cannot be judged

	selection Selection
	profile   *profile.Profile
	limit     profile.RateLimit // the zero value if no key has a limit
}

// describe says what a run judges. Its error means that nothing is selected.
func describe(config Config, id string, started time.Time) (Description, error) {
	t, p := config.Target, config.Target.Profile
	selection := config.Selection.For(p)
	pairs, err := selection.Pairs()
	d := Description{Pairs: pairs, selection: selection, profile: p, About: reports.Results{
		Version: reports.ModelVersion,
		Tool:    reports.Tool{Name: reports.ToolName, Version: config.Version, Go: runtime.Version(), Commit: config.Commit},
		Target:  reports.Target{Name: p.Name, Version: p.Version, Vendor: p.Vendor, BaseURL: t.BaseURL, Kind: t.Kind},
		Run: reports.Run{ID: id, Started: started.UTC().Truncate(time.Millisecond), Seed: int64(config.Seed),
			Profile: selection.profileName(), Selection: selection.String(), Operations: p.Operations, Omits: p.Omits},
	}}
	if p.RateLimit != nil {
		d.limit = *p.RateLimit
	}
	return d, err
}

// Requests that a spec sends on a server with lists of a few hundred rows: those that
// walk through pages, and the others. TestTheRunCostsWhatItSaid compares them with a run.
const (
	requestsOfAWalk = 25
	requestsOfASpec = 3
)

// What else an estimate of the time assumes. The checks of the rate limit run one after the
// other.
const (
	margin         = 1.3   // for the moments in which fewer requests are in flight than may be
	perRequest     = 0.001 // seconds of this machine, to judge a response
	probesTogether = 8     // in flight
)

// inGroup reports whether the spec judges a requirement of one of the groups.
func inGroup(s api.Spec, groups ...spec.Group) bool {
	return slices.ContainsFunc(s.Pairs, func(p spec.Pair) bool {
		r, _ := spec.FindRequirement(p.Requirement)
		return slices.Contains(groups, r.Group)
	})
}

// exceedsRateLimit reports whether the spec drives a key to its rate limit.
func exceedsRateLimit(s api.Spec) bool { return inGroup(s, spec.GroupRate) }

// estimate adds the specs and what they may cost.
func (d *Description) estimate(specs []api.Spec, roundTrip time.Duration) {
	d.Specs, d.RoundTrip = specs, roundTrip
	for _, s := range specs {
		switch {
		case exceedsRateLimit(s) && !d.profile.Implements(s.Operation):
		case exceedsRateLimit(s) && spec.MustOperation(s.Operation).Unsafe():
			d.Probes += 3 * d.limit.Budget // it exceeds the limit with lists, up to 3 times
		case exceedsRateLimit(s):
			d.Probes += d.limit.Budget
		case inGroup(s, spec.GroupPages, spec.GroupFilters, spec.GroupShape):
			d.Requests += requestsOfAWalk
		default:
			d.Requests += requestsOfASpec
		}
	}
	if budget := d.profile.Budget; budget > 0 {
		d.Requests = min(d.Requests, budget)
		d.Probes = min(d.Probes, budget-d.Requests)
	}
	requests, probes, pace := float64(d.Requests), float64(d.Probes), d.profile.Pace
	seconds := (requests+probes)*perRequest + d.RoundTrip.Seconds()*(requests*margin/float64(max(1, pace.Concurrency))+probes/probesTogether)
	if pace.RequestsPerSecond > 0 {
		seconds = max(seconds, (requests+probes)/pace.RequestsPerSecond)
	}
	if probes > 0 {
		seconds += 2 * d.limit.Per.Seconds() // until requests are served again
	}
	if d.limit.Requests > 0 && d.About.Target.Kind != target.KindEmbedded { // its other keys have no limit
		limited := requests * d.limit.Per.Seconds() / float64(d.limit.Requests)
		if main, ok := d.profile.FullKey(dataset.Main); ok && d.limit.Key == main.Name {
			seconds = max(seconds, limited)
		}
		d.Limited = time.Duration(limited * float64(time.Second))
	}
	d.Time = time.Duration(seconds * float64(time.Second))
}

// String says in one line what the run may cost, and what it leaves out in more.
func (d Description) String() string {
	line := fmt.Sprintf("%s, about %s", printable.Counted(len(d.Specs), "spec"), printable.Counted(d.Requests, "request"))
	if d.Probes > 0 {
		line += fmt.Sprintf(", up to %s more to exceed the rate limit of the key %s", printable.Number(d.Probes), d.limit.Key)
	}
	if d.profile.Budget > 0 {
		line += fmt.Sprintf(", at most %s in all (budget)", printable.Number(d.profile.Budget))
	}
	line += fmt.Sprintf("; about %s at ", inWords(d.Time))
	switch pace := d.profile.Pace.RequestsPerSecond; {
	case pace > 0:
		line += fmt.Sprintf("%g requests/s", pace)
	case d.RoundTrip > 0:
		line += fmt.Sprintf("a round trip of %.1f ms", d.RoundTrip.Seconds()*1000)
	default:
		line += "an unknown round trip"
	}
	if d.Limited > d.Time {
		line += fmt.Sprintf(" (%s if every key has the limit of the key %s)", inWords(d.Limited), d.limit.Key)
	}
	line += ", longer if the target answers 429 or has long lists, or on a busy machine"
	return strings.Join(slices.Concat([]string{line}, d.lacking(), d.LeftOut), "\n")
}

// lacking says in one line how many checks lack an input of the profile; no line for none.
func (d Description) lacking() []string {
	if len(d.Lacks) == 0 {
		return nil
	}
	counts := map[string]int{}
	for _, input := range d.Lacks {
		counts[input]++
	}
	most := slices.MaxFunc(slices.Sorted(maps.Keys(counts)), func(a, b string) int { return counts[a] - counts[b] })
	return []string{fmt.Sprintf("not assessed: %s for lack of an input of the target profile, most often %s (`outreach-conformance target check` lists all)",
		printable.Counted(len(d.Lacks), "check"), most)}
}

// leaveOut adds which of the checks need a list that is too long, and why.
func (d *Description) leaveOut(tooLong map[string]string) {
	for _, list := range slices.Sorted(maps.Keys(tooLong)) {
		byOperation := map[string]string{}
		n := 0
		for _, p := range needsWholeList[list] {
			if slices.Contains(d.Pairs, p) {
				n++
				byOperation[p.Operation] += ", " + p.Requirement
			}
		}
		var names []string
		for _, operation := range slices.Sorted(maps.Keys(byOperation)) {
			names = append(names, operation+" "+byOperation[operation][len(", "):])
		}
		d.LeftOut = append(d.LeftOut, fmt.Sprintf("not assessed without %s: %s: %s", tooLong[list], printable.Counted(n, "check"), strings.Join(names, "; ")))
	}
}

// inWords rounds a duration up to what is worth saying.
func inWords(d time.Duration) string {
	seconds := max(1, int((d+time.Second-1)/time.Second))
	if seconds < 120 {
		return fmt.Sprintf("%d s", seconds)
	}
	return fmt.Sprintf("%d min", (seconds+59)/60)
}
