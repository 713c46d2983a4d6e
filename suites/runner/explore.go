package runner

import (
	"context"
	"slices"
	"strings"

	"outreach.example/conformance/internal/judge"
	"outreach.example/conformance/reports"
	"outreach.example/conformance/suites/explore"
)

// mostWorkers is how many cases of an exploration are tried at the same time.
const mostWorkers = 4

// Explore explores the target: it tries random requests and compares the responses with
// predictions. It sets Env, Seed, Selects and Workers of x. The results hold the checks that
// it put to the test. Its error means that nothing was judged.
func Explore(ctx context.Context, config Config, x explore.Config) (results reports.Results, out explore.Outcome, err error) {
	results, err = execute(ctx, config, func(r *run) (err error) {
		r.ledger = judge.NewLedger(r.Pairs)
		x.Env, x.Seed, x.Selects = r.env, config.Seed, r.selection.Operation
		x.Workers = min(mostWorkers, max(1, r.profile.Pace.Concurrency))
		if out, err = explore.Run(r.ctx, x); err == nil {
			r.ledger.Add(out.Evidence)
		}
		return err
	})
	if err == nil {
		results = explored(results, out)
	}
	return results, out, err
}

// explored leaves out the checks that the exploration did not put to the test: it is no
// replacement for a run.
func explored(results reports.Results, out explore.Outcome) reports.Results {
	results.Checks = slices.DeleteFunc(results.Checks, func(c reports.Check) bool { return c.Outcome == reports.NotAssessed })
	results.Levels = nil
	results.Run.Explored = &reports.Explored{Queries: out.Queries, Sequences: out.Sequences, Changed: out.Changed}
	for _, f := range out.Found {
		i := slices.IndexFunc(results.Checks, func(c reports.Check) bool { return c.Requirement == f.Requirement && c.Operation == f.Operation })
		if i < 0 || len(results.Checks[i].Violations) == 0 {
			continue
		}
		check := &results.Checks[i]
		shortest, known := f.Violation, check.Violations[0]
		shortest.Statement, shortest.Section = known.Statement, known.Section
		shortest.Spec, shortest.Curl = "explore", strings.Join(f.Requests, "; ") // one line to paste
		listed := slices.Insert(slices.Clone(check.Violations), 0, shortest)
		check.Violations = listed[:min(len(listed), check.ViolationCount)] // the shortest one is counted, too
	}
	judge.Conclude(&results, results.StaleExpectations...)
	if results.Verdict == reports.Inconclusive && len(out.Lacked) > 0 {
		results.Reasons = append(results.Reasons, out.Lacked...)
	}
	if results.Verdict == reports.Passed && len(out.Untried) > 0 {
		results.Verdict, results.Reasons = reports.Inconclusive, slices.Concat(out.Untried, results.Reasons)
	}
	return results
}
