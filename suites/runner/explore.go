package runner

import (
	"context"
	"slices"
	"strings"

	"outreach.example/conformance/internal/judge"
	"outreach.example/conformance/reports"
	"outreach.example/conformance/spec"
	"outreach.example/conformance/suites/explore"
)

// mostWorkers is how many cases of an exploration are tried at the same time.
const mostWorkers = 4

// Explore explores the target: it tries random requests and compares the responses with
// predictions. It sets Env, Seed, Selects and Workers of x. The results hold the checks that
// it put to the test. Its error means that nothing was judged.
func Explore(ctx context.Context, config Config, x explore.Config) (reports.Results, explore.Outcome, error) {
	config.Selection = config.Selection.For(config.Target.Profile)
	selected, err := config.Selection.Pairs()
	if err != nil {
		return reports.Results{}, explore.Outcome{}, err
	}
	c, err := begin(ctx, config, selected)
	if err != nil {
		return reports.Results{}, explore.Outcome{}, err
	}
	defer c.end()
	keys := &keyCheck{ctx: ctx, send: c.env.Send, profile: c.env.Profile}
	doubt, none := keys.doubt()
	c.env.Spent(keys.asked)
	judged := judgement{ledger: judge.NewLedger(selected), doubt: doubt}
	var out explore.Outcome
	if !none {
		x.Env, x.Seed, x.Selects = c.env, config.Seed, config.Selection.Operation
		x.Workers = min(mostWorkers, max(1, c.env.Profile.Pace.Concurrency))
		if out, err = explore.Run(c.running, x); err == nil {
			judged.ledger.Add(out.Evidence)
		}
	}
	if err := c.finish(&judged, err); err != nil {
		return reports.Results{}, out, err
	}
	results, err := c.of(judged, ctx.Err() != nil)
	if err != nil {
		return reports.Results{}, out, err
	}
	return explored(results, out), out, nil
}

// explored leaves out the checks that the exploration did not put to the test: it is no
// replacement for a run.
func explored(results reports.Results, out explore.Outcome) reports.Results {
	results.Checks = slices.DeleteFunc(results.Checks, func(c reports.Check) bool { return c.Outcome == reports.NotAssessed })
	results.Levels = nil
	results.Run.Explored = &reports.Explored{Queries: out.Queries, Sequences: out.Sequences, Changed: out.Changed}
	results.Run.Specs = 0
	found := map[spec.Pair]explore.Found{}
	for _, f := range out.Found {
		found[f.Pair()] = f
	}
	for i, check := range results.Checks {
		f, ok := found[spec.Pair{Requirement: check.Requirement, Operation: check.Operation}]
		if !ok || len(check.Violations) == 0 {
			continue
		}
		shortest, known := f.Violation, check.Violations[0]
		shortest.Statement, shortest.Section = known.Statement, known.Section
		shortest.Spec, shortest.Curl = "explore", strings.Join(f.Requests, "; ") // one line to paste
		listed := slices.Insert(slices.Clone(check.Violations), 0, shortest)
		results.Checks[i].Violations = listed[:min(len(listed), check.ViolationCount)] // the shortest one is counted, too
	}
	judge.Conclude(&results, results.StaleExpectations...)
	if results.Verdict == reports.Inconclusive && len(out.Lacked) > 0 {
		results.Reasons = append(results.Reasons, out.Lacked...)
	}
	return results
}
