package runner

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/reports"
	"outreach.example/conformance/spec"
	"outreach.example/conformance/suites"
)

// Estimate is what a run may cost, as far as that is known before its first spec.
type Estimate struct {
	Specs     int
	Requests  int           // expected, without those that exceed the rate limit
	Probes    int           // at most, to exceed the rate limit
	Key       string        // whose limit is exceeded
	Budget    int           // of all requests; 0 for none
	PerSecond float64       // the pace of the profile; 0 for none
	RoundTrip time.Duration // of the first request; 0 if none was answered
	Time      time.Duration // that the requests may take, unless the target answers 429
	LeftOut   []string      // what the run leaves out because a list is too long, a line for each list
	Limited   time.Duration // that they may take if each key has the limit of Key; 0 if unknown
}

// Requests that a spec sends on a server with lists of a few hundred rows: those that
// walk through pages, and the others. TestEstimate_long compares them with a run.
const (
	requestsOfAWalk = 25
	requestsOfASpec = 3
)

// walks reports whether the spec walks through pages.
func walks(s suites.Spec) bool {
	return slices.ContainsFunc(s.Pairs, func(p spec.Pair) bool {
		r, _ := spec.FindRequirement(p.Requirement)
		return r.Group == spec.GroupPages || r.Group == spec.GroupFilters || r.Group == spec.GroupShape
	})
}

// estimate returns what a run of the specs may cost.
func estimate(p *profile.Profile, specs []suites.Spec, roundTrip time.Duration) Estimate {
	e := Estimate{Specs: len(specs), Budget: p.Budget, PerSecond: p.Pace.RequestsPerSecond, RoundTrip: roundTrip}
	for _, s := range specs {
		switch {
		case exceedsRateLimit(s):
			e.Probes += probes(p, s)
		case walks(s):
			e.Requests += requestsOfAWalk
		default:
			e.Requests += requestsOfASpec
		}
	}
	if p.RateLimit != nil {
		e.Key = p.RateLimit.Key
	}
	if e.Budget > 0 {
		e.Requests = min(e.Requests, e.Budget)
		e.Probes = min(e.Probes, e.Budget-e.Requests)
	}
	e.Time = e.duration(p)
	if l := p.RateLimit; l != nil && l.Requests > 0 {
		e.Limited = time.Duration(float64(e.Requests) * float64(l.Per) / float64(l.Requests))
	}
	return e
}

// probes returns how many requests the spec sends at most to exceed the rate limit. For
// an operation that changes something it exceeds the limit with lists, up to 3 times.
func probes(p *profile.Profile, s suites.Spec) int {
	switch {
	case p.RateLimit == nil || !p.Implements(s.Operation):
		return 0
	case spec.MustOperation(s.Operation).Unsafe():
		return 3 * p.RateLimit.Budget
	}
	return p.RateLimit.Budget
}

// duration returns how long the requests may take. The checks of the rate limit run one
// after the other, with 8 requests in flight.
func (e Estimate) duration(p *profile.Profile) time.Duration {
	const (
		margin     = 1.3              // for the moments in which less is in flight
		perRequest = time.Millisecond // of this machine, to judge a response
		together   = 8
	)
	all := float64(e.Requests + e.Probes)
	seconds := float64(e.Requests)*e.RoundTrip.Seconds()*margin/float64(max(1, p.Pace.Concurrency)) +
		float64(e.Probes)*e.RoundTrip.Seconds()/together + all*perRequest.Seconds()
	if e.PerSecond > 0 {
		seconds = max(seconds, all/e.PerSecond)
	}
	if l := p.RateLimit; l != nil && e.Probes > 0 {
		seconds += 2 * l.Per.Seconds() // until requests are served again
	}
	if main, ok := p.FullKey(dataset.Main); ok && p.RateLimit != nil && p.RateLimit.Key == main.Name && p.RateLimit.Requests > 0 {
		seconds = max(seconds, all*p.RateLimit.Per.Seconds()/float64(p.RateLimit.Requests))
	}
	return time.Duration(seconds * float64(time.Second))
}

// String says it in one line, and what the run leaves out in more.
func (e Estimate) String() string {
	parts := []string{fmt.Sprintf("%s, about %s", counted(e.Specs, "spec"), counted(e.Requests, "request"))}
	if e.Probes > 0 {
		parts = append(parts, fmt.Sprintf("up to %s more to exceed the rate limit of the key %s", reports.Number(e.Probes), e.Key))
	}
	if e.Budget > 0 {
		parts = append(parts, fmt.Sprintf("at most %s in all (budget)", reports.Number(e.Budget)))
	}
	basis := "at an unknown round trip"
	switch {
	case e.PerSecond > 0:
		basis = fmt.Sprintf("at %g requests/s", e.PerSecond)
	case e.RoundTrip > 0:
		basis = fmt.Sprintf("at a round trip of %.1f ms", e.RoundTrip.Seconds()*1000)
	}
	if e.Limited > e.Time {
		basis += fmt.Sprintf(" (%s if every key has the limit of the key %s)", inWords(e.Limited), e.Key)
	}
	line := fmt.Sprintf("%s; about %s %s, longer if the target answers 429 or has long lists, or on a busy machine", strings.Join(parts, ", "), inWords(e.Time), basis)
	return strings.Join(append([]string{line}, e.LeftOut...), "\n")
}

// leftOut says which of the selected checks need a list that is too long, and why.
func leftOut(tooLong map[string]string, selected func(spec.Pair) bool) []string {
	var lines []string
	for _, list := range slices.Sorted(maps.Keys(tooLong)) {
		byOperation := map[string][]string{}
		n := 0
		for _, p := range needsWholeList[list] {
			if selected == nil || selected(p) {
				n++
				byOperation[p.Operation] = append(byOperation[p.Operation], p.Requirement)
			}
		}
		var names []string
		for _, operation := range slices.Sorted(maps.Keys(byOperation)) {
			names = append(names, operation+" "+strings.Join(byOperation[operation], ", "))
		}
		lines = append(lines, fmt.Sprintf("not assessed without %s: %s: %s", tooLong[list], counted(n, "check"), strings.Join(names, "; ")))
	}
	return lines
}

// counted returns the number and the noun.
func counted(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return reports.Number(n) + " " + noun
}

// inWords rounds a duration up to what is worth saying.
func inWords(d time.Duration) string {
	seconds := max(1, int((d+time.Second-1)/time.Second))
	if seconds < 120 {
		return fmt.Sprintf("%d s", seconds)
	}
	return fmt.Sprintf("%d min", (seconds+59)/60)
}
