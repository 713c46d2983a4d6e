package runner

import (
	"slices"
	"sync"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/fixtures/target"
	"outreach.example/conformance/spec"
	"outreach.example/conformance/suites"
	"outreach.example/conformance/suites/api"
)

// specsOf returns a spec that exceeds the rate limit, and another one.
func specsOf(t *testing.T) (probe, other api.Spec) {
	t.Helper()
	for _, s := range suites.Tree.Specs() {
		if exceedsRateLimit(s) {
			probe = s
		} else {
			other = s
		}
	}
	if probe.Operation == "" || other.Operation == "" {
		t.Fatal("both kinds must exist")
	}
	return probe, other
}

// The estimate of a run on the reference server is right within a factor of 2, and the
// run spends the time that it says.
func TestEstimate_long(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	var said Description
	results := judged(t, t.Context(), Config{Target: embedded(t), Selection: Selection{Groups: []string{"!rate", "!errors"}}, Begin: func(d Description) { said = d }})
	sent := results.Traffic.Requests
	g.Expect(said.Requests).To(And(BeNumerically(">", sent/2), BeNumerically("<", 2*sent)))
	g.Expect(said.Probes).To(BeZero())
	g.Expect(said.RoundTrip).To(BeNumerically(">", 0))
	spent := results.Run.Time
	g.Expect(spent.Judging + spent.RateLimit + spent.Throttled + spent.Paced + spent.Locked).To(BeNumerically("~", results.Run.Seconds, 0.1*results.Run.Seconds+0.1))
}

// A run announces that it exceeds the rate limit, with the key and the number of requests.
func TestTheRateLimitIsAnnounced(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var announced []string
	judged(t, t.Context(), Config{Target: embedded(t), Selection: Selection{Requirements: []string{string(spec.RateResumes)}},
		Waits: func(what string, atMost time.Duration) {
			mu.Lock()
			defer mu.Unlock()
			if atMost == 0 {
				announced = append(announced, what)
			}
		}})
	NewWithT(t).Expect(announced).To(Equal([]string{"exceeding the rate limit of the key limited, up to 200 requests"}))
}

func TestEstimateOfBoundedRuns(t *testing.T) {
	g := NewWithT(t)
	probe, other := specsOf(t)
	p := &profile.Profile{Pace: profile.Pace{Concurrency: 10}}
	estimated := func(roundTrip time.Duration, specs ...api.Spec) Description {
		d, err := describe(Config{Target: &target.Target{Kind: target.KindURL, Profile: p}}, "id", time.Now())
		g.Expect(err).NotTo(HaveOccurred())
		d.estimate(specs, roundTrip)
		return d
	}
	g.Expect(estimated(100*time.Millisecond, probe, other).Probes).To(BeZero(), "no key may be driven to its limit")

	p.RateLimit = &profile.RateLimit{Key: "limited", Budget: 500, Requests: 10, Per: 30 * time.Second}
	p.Pace.RequestsPerSecond = 2
	list := api.Spec{Operation: spec.ListLeadLists, Pairs: []spec.Pair{{Requirement: string(spec.Rate429), Operation: spec.ListLeadLists}}}
	d := estimated(100*time.Millisecond, list)
	g.Expect(d.Probes).To(Equal(500))
	g.Expect(d.Time).To(Equal(250*time.Second+time.Minute), "the pace, and until requests are served again")
	g.Expect(d.String()).To(Equal("1 spec, about 0 requests, up to 500 more to exceed the rate limit of the key limited; " +
		"about 6 min at 2 requests/s, longer if the target answers 429 or has long lists, or on a busy machine"))

	p.RateLimit.Requests, p.RateLimit.Per = 20, time.Second
	walk := api.Spec{Operation: spec.ListLeadLists, Pairs: []spec.Pair{{Requirement: string(spec.PageWalkEnds), Operation: spec.ListLeadLists}}}
	p.Pace.RequestsPerSecond = 0
	d = estimated(time.Millisecond, slices.Repeat([]api.Spec{walk}, 16)...)
	g.Expect(d.Limited).To(Equal(20 * time.Second))
	g.Expect(d.String()).To(ContainSubstring("(20 s if every key has the limit of the key limited)"))

	p.RateLimit.Requests, p.RateLimit.Per = 10, 30*time.Second
	p.Budget, p.Pace.RequestsPerSecond = 120, 0
	d = estimated(0, list)
	g.Expect(d.Probes).To(Equal(120))
	g.Expect(d.String()).To(ContainSubstring("at most 120 in all (budget); about 61 s at an unknown round trip"))
}
