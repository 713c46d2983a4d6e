// Package selftest proves the suites: it runs them against a target that
// conforms, against every quirk, which they must accept, and against every
// defect, which they must catch for the right reason, and draws the kill matrix:
// for each requirement × operation, the defects that show that its check can fail.
package selftest

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"sync"
	"time"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/fixtures/refserver"
	"outreach.example/conformance/fixtures/target"
	"outreach.example/conformance/internal/judge"
	"outreach.example/conformance/reports"
	"outreach.example/conformance/reports/summary"
	"outreach.example/conformance/spec"
	"outreach.example/conformance/suites"
	"outreach.example/conformance/suites/runner"
	"outreach.example/conformance/suites/selftest/faults"
	"outreach.example/conformance/suites/tree"
)

// subject is a conforming target around which one fault is laid.
type subject struct {
	handler faults.Handler
	profile *profile.Profile
	release func() // gives it back once the case has ended
}

// Source brings up a fresh conforming subject for each case.
type Source func(ctx context.Context) (subject, error)

// visibility is how long a case waits for a change to show. Late quirks take less, in
// proportion.
const visibility = 240 * time.Millisecond

// concurrency is how many requests a case sends at the same time. Subjects in this process
// answer at once: more requests would only take memory.
const concurrency = 4

// WholeLists is how many rows the lists have that a run of the embedded server judges.
var WholeLists = dataset.DefaultOptions().Rows

// ShortLists is a number of rows that takes less time and shows most defects: a little more
// than the largest page has.
const ShortLists = 107

// Embedded is a source of reference servers in this process with lists of that many rows,
// reached without a network. A server that a case has given back serves the next one, with
// its data reset: loading them again would cost more than most cases.
func Embedded(rows int) Source {
	var mu sync.Mutex
	var idle []*refserver.Server
	var known *profile.Profile // of all servers; complete once it is set
	fresh := func() (*refserver.Server, *profile.Profile, error) {
		mu.Lock()
		defer mu.Unlock()
		if n := len(idle); n > 0 {
			server := idle[n-1]
			idle = idle[:n-1]
			return server, known, nil
		}
		options := dataset.DefaultOptions()
		options.Rows = rows
		data, err := dataset.New(options)
		if err != nil {
			return nil, nil, err
		}
		p := profile.FromDataset(data)
		p.VisibleWithin, p.Pace.Concurrency = visibility, concurrency
		known = p
		server, err := refserver.New(data, refserver.Options{})
		return server, known, err
	}
	return func(context.Context) (subject, error) {
		server, known, err := fresh()
		if err != nil {
			return subject{}, err
		}
		return subject{faults.Serving(server.Handler()), known, func() {
			server.Reset()
			mu.Lock()
			defer mu.Unlock()
			idle = append(idle, server)
		}}, nil
	}
}

// At is a source that gives a vendor's own conforming server for every case.
func At(profile *profile.Profile, base *url.URL, transport http.RoundTripper) Source {
	return func(context.Context) (subject, error) {
		return subject{faults.Forwarding(base, transport), profile, func() {}}, nil
	}
}

// address stands in requests that never leave the process.
const address = "http://subject.invalid"

// judged is what the suites made of one subject.
type judged struct {
	checks   map[spec.Pair]reports.Check
	causes   []summary.Cause
	troubles []reports.Trouble
}

// examine applies a fault to a fresh subject and judges it as planned.
func examine(ctx context.Context, source Source, rules *judge.Rules, seed uint64, plan tree.Plan, apply func(*faults.Target) faults.Middleware) (judged, error) {
	s, err := source(ctx)
	if err != nil {
		return judged{}, err
	}
	defer s.release()
	s = s.with(apply, seed)
	return s.judge(ctx, address, faults.RoundTripper(s.handler, ""), rules, seed, plan)
}

// with lays a transform around the subject; nil changes nothing.
func (s subject) with(apply func(*faults.Target) faults.Middleware, seed uint64) subject {
	if apply != nil {
		s.handler = apply(&faults.Target{Profile: s.profile, Seed: seed})(s.handler)
	}
	return s
}

// judge has Ginkgo judge what is at the base address; a nil transport is the
// network.
func (s subject) judge(ctx context.Context, base string, transport http.RoundTripper, rules *judge.Rules, seed uint64, plan tree.Plan) (judged, error) {
	env, err := runner.NewEnv(runner.Config{Target: &target.Target{BaseURL: base, Profile: s.profile}, Seed: seed, Rules: rules, Transport: transport})
	if err != nil {
		return judged{}, err
	}
	defer env.Client.Close()
	env.Budget = 0 // the profile's is for one run, and this is one of many
	outcome, err := suites.Tree.Run(ctx, env, plan)
	if err != nil {
		return judged{}, err
	}
	ledger, err := outcome.Ledger(spec.Pairs())
	if err != nil {
		return judged{}, err
	}
	result := judged{checks: map[spec.Pair]reports.Check{}, troubles: ledger.Troubles()}
	if n := env.Unjudged(); n != 0 {
		result.troubles = append(result.troubles, reports.Trouble{Where: "the suites", What: fmt.Sprintf("responses without a verdict: %d", n)})
	}
	checks := ledger.Checks()
	result.causes = summary.Causes(checks)
	for _, c := range checks {
		result.checks[spec.Pair{Requirement: c.Requirement, Operation: c.Operation}] = c
	}
	return result, nil
}
