package selftest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http/httptest"
	"path"
	"slices"

	"outreach.example/conformance/internal/judge"
	"outreach.example/conformance/reports"
	"outreach.example/conformance/spec"
	"outreach.example/conformance/suites"
	"outreach.example/conformance/suites/runner"
	"outreach.example/conformance/suites/selftest/faults"
)

// legalCase is a target that conforms: with a quirk, several, or none.
type legalCase struct {
	id, allowed, doc string
	apply            func(*faults.Target) faults.Middleware
	unassessed       []string // patterns of requirements that nobody can assess on it
	onWire           bool     // shows only where requests cross a connection
}

func caseOf(q faults.Quirk) legalCase {
	return legalCase{q.ID, q.Allowed, q.Doc, q.Apply, q.Unassessed, q.OnWire}
}

// combinationOf draws a few quirks that go together and lays them around one another.
func combinationOf(rng *rand.Rand, quirks []faults.Quirk) legalCase {
	return caseOf(faults.Combine(faults.Draw(rng.Uint64(), quirks)...))
}

// tolerance is what all specs made of a target that conforms.
type tolerance struct {
	judged
	failed, errored, unassessed []spec.Pair
}

// tolerate runs every spec of the selected operations against the legal target.
func tolerate(ctx context.Context, source Source, rules *judge.Rules, seed uint64, selection runner.Selection, l legalCase) (LegalResult, error) {
	t, err := l.try(ctx, source, rules, seed, selection)
	r := LegalResult{ID: l.id, Allowed: l.allowed, Doc: l.doc, NotAssessed: len(t.unassessed)}
	for _, p := range t.failed {
		r.Failed = append(r.Failed, t.why(p))
	}
	for _, p := range t.errored {
		r.Troubled = append(r.Troubled, pairName(p))
	}
	for _, trouble := range t.troubles {
		r.Troubled = append(r.Troubled, trouble.Where+": "+trouble.What)
	}
	return r, err
}

// try runs every spec of the selected operations against the legal target and sorts
// the pairs by outcome.
func (l legalCase) try(ctx context.Context, source Source, rules *judge.Rules, seed uint64, selection runner.Selection) (tolerance, error) {
	examined := examine
	if l.onWire {
		examined = examineOnWire
	}
	result, err := examined(ctx, source, rules, seed, suites.Plan{LabelFilter: selection.LabelFilter()}, l.apply)
	if err != nil {
		return tolerance{}, fmt.Errorf("legal behaviour %s: %w", l.id, err)
	}
	t := tolerance{judged: result}
	for _, p := range spec.Pairs() {
		if !selection.Operation(p.Operation) {
			continue
		}
		switch result.checks[p].Outcome {
		case reports.Fail:
			t.failed = append(t.failed, p)
		case reports.Error:
			t.errored = append(t.errored, p)
		case reports.NotAssessed:
			t.unassessed = append(t.unassessed, p)
		}
	}
	return t, nil
}

// examineOnWire is examine over a loopback connection and the client's own transport.
func examineOnWire(ctx context.Context, source Source, rules *judge.Rules, seed uint64, plan suites.Plan, apply func(*faults.Target) faults.Middleware) (judged, error) {
	s, err := source(ctx)
	if err != nil {
		return judged{}, err
	}
	defer s.release()
	s = s.with(apply, seed)
	server := httptest.NewServer(faults.Listening(s.handler))
	defer server.Close()
	return s.judge(ctx, server.URL, nil, rules, seed, plan)
}

// why shows the first violation of a pair.
func (t tolerance) why(p spec.Pair) string {
	v := t.checks[p].Violations[0]
	return fmt.Sprintf("%s at %q: expected %s, got %s", pairName(p), v.Pointer, v.Expected, v.Actual)
}

// excuses reports whether nobody could assess the pair on the target.
func (l legalCase) excuses(p spec.Pair) bool {
	return slices.ContainsFunc(l.unassessed, func(pattern string) bool {
		requirement, _ := path.Match(pattern, p.Requirement) // a test reads the patterns
		pair, _ := path.Match(pattern, pairName(p))
		return requirement || pair
	})
}
