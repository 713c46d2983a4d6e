package selftest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"

	"outreach.example/conformance/faults"
	"outreach.example/conformance/judge"
	"outreach.example/conformance/reports"
	"outreach.example/conformance/spec"
	"outreach.example/conformance/suites"
)

// legalCase is a target that conforms: with a quirk, several, or none.
type legalCase struct {
	id, allowed, doc string
	lay              func(*faults.Around) faults.Transform
}

func caseOf(q faults.Quirk) legalCase { return legalCase{q.ID, q.Allowed, q.Doc, q.Lay} }

// combinationOf draws three to six quirks and lays them around one another.
func combinationOf(rng *rand.Rand, quirks []faults.Quirk) legalCase {
	chosen := draw(rng, quirks, 3+rng.IntN(4))
	var ids, docs []string
	for _, q := range chosen {
		ids, docs = append(ids, q.ID), append(docs, q.Doc)
	}
	return legalCase{id: strings.Join(ids, "+"), doc: strings.Join(docs, "; "), lay: func(a *faults.Around) faults.Transform {
		var transforms []faults.Transform
		for _, q := range chosen {
			transforms = append(transforms, q.Lay(a))
		}
		return faults.Chain(transforms...)
	}}
}

// tolerate runs every spec against the legal target.
func tolerate(ctx context.Context, source Source, rules *judge.Rules, seed uint64, l legalCase) (LegalResult, error) {
	r := LegalResult{ID: l.id, Allowed: l.allowed, Doc: l.doc}
	result, err := examine(ctx, source, rules, seed, suites.All(), l.lay)
	if err != nil {
		return r, fmt.Errorf("legal behaviour %s: %w", l.id, err)
	}
	for _, p := range spec.Pairs() {
		switch check := result.checks[p]; check.Outcome {
		case reports.Fail:
			v := check.Violations[0]
			r.Failed = append(r.Failed, fmt.Sprintf("%s at %q: expected %s, got %s", pairName(p), v.Pointer, v.Expected, v.Actual))
		case reports.Error:
			r.Troubled = append(r.Troubled, pairName(p))
		case reports.NotAssessed:
			r.NotAssessed++
		}
	}
	for _, t := range result.troubles {
		r.Troubled = append(r.Troubled, t.Where+": "+t.What)
	}
	return r, nil
}
