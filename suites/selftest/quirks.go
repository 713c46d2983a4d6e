package selftest

import (
	"context"
	"fmt"
	"net/http/httptest"
	"path"
	"slices"

	"outreach.example/conformance/internal/judge"
	"outreach.example/conformance/reports"
	"outreach.example/conformance/spec"
	"outreach.example/conformance/suites/runner"
	"outreach.example/conformance/suites/selftest/faults"
	"outreach.example/conformance/suites/tree"
)

// legalCase is a target that conforms: with quirks at the same time, or with none.
type legalCase struct {
	faults.Quirk
	parts []faults.Quirk // what it is combined of; one or none if it is not combined
}

func caseOf(quirks ...faults.Quirk) legalCase { return legalCase{faults.Combine(quirks...), quirks} }

// honestCase is the target without any fault.
var honestCase = legalCase{Quirk: faults.Quirk{ID: honest, Doc: "behaves as the reference server does"}}

// tolerance is what all specs made of a target that conforms.
type tolerance struct {
	judged
	failed, errored, unassessed []spec.Pair
}

// tolerate runs every spec of the selected operations against the legal target. If one fails
// it, each quirk is tried by itself, so that the results name the one to blame. If none is,
// only all together are.
func tolerate(ctx context.Context, source Source, rules *judge.Rules, seed uint64, selection runner.Selection, l legalCase) ([]LegalResult, error) {
	t, err := l.try(ctx, source, rules, seed, selection)
	if err != nil {
		return nil, err
	}
	all := l.result(t)
	if len(l.parts) < 2 {
		return []LegalResult{all}, nil
	}
	results := make([]LegalResult, len(l.parts))
	if all.OK() {
		for i, q := range l.parts {
			results[i] = LegalResult{ID: q.ID, Allowed: q.Allowed, Doc: q.Doc, With: l.without(i), NotAssessed: all.NotAssessed}
		}
		return results, nil
	}
	for i, q := range l.parts {
		alone, err := tolerate(ctx, source, rules, seed, selection, caseOf(q))
		if err != nil {
			return nil, err
		}
		results[i] = alone[0]
	}
	if !slices.ContainsFunc(results, func(r LegalResult) bool { return !r.OK() }) {
		results = append(results, all)
	}
	return results, nil
}

// without returns the ids of the quirks but for one.
func (l legalCase) without(i int) []string {
	var ids []string
	for j, q := range l.parts {
		if j != i {
			ids = append(ids, q.ID)
		}
	}
	return ids
}

func (l legalCase) result(t tolerance) LegalResult {
	r := LegalResult{ID: l.ID, Allowed: l.Allowed, Doc: l.Doc}
	for _, p := range t.unassessed {
		if !l.excuses(p) {
			r.NotAssessed++
		}
	}
	for _, p := range t.failed {
		r.Failed = append(r.Failed, t.why(p))
	}
	for _, p := range t.errored {
		r.Troubled = append(r.Troubled, pairName(p))
	}
	for _, trouble := range t.troubles {
		r.Troubled = append(r.Troubled, trouble.Where+": "+trouble.What)
	}
	return r
}

// try runs every spec of the selected operations against the legal target and sorts
// the pairs by outcome.
func (l legalCase) try(ctx context.Context, source Source, rules *judge.Rules, seed uint64, selection runner.Selection) (tolerance, error) {
	examined := examine
	if l.OnWire {
		examined = examineOnWire
	}
	pairs, err := selection.Pairs()
	if err != nil {
		return tolerance{}, err
	}
	result, err := examined(ctx, source, rules, seed, selection.Plan(pairs), l.Apply)
	if err != nil {
		return tolerance{}, fmt.Errorf("legal behaviour %s: %w", l.ID, err)
	}
	t := tolerance{judged: result}
	for _, p := range pairs {
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
func examineOnWire(ctx context.Context, source Source, rules *judge.Rules, seed uint64, plan tree.Plan, apply func(*faults.Target) faults.Middleware) (judged, error) {
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

// excuses reports whether the pair cannot be assessed on the target.
func (l legalCase) excuses(p spec.Pair) bool {
	return slices.ContainsFunc(l.Unassessed, func(pattern string) bool {
		requirement, _ := path.Match(pattern, p.Requirement) // a test reads the patterns
		pair, _ := path.Match(pattern, pairName(p))
		return requirement || pair
	})
}
