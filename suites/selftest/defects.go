package selftest

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"outreach.example/conformance/internal/judge"
	"outreach.example/conformance/reports"
	"outreach.example/conformance/reports/summary"
	"outreach.example/conformance/spec"
	"outreach.example/conformance/suites/selftest/faults"
	"outreach.example/conformance/suites/tree"
)

// Fate is what became of a defect.
type Fate string

// The fates of a defect. All but Killed fail a self-test.
const (
	killed      Fate = "killed"       // its requirement was found broken
	wrongReason Fate = "wrong reason" // something else was found broken, its requirement was not
	survived    Fate = "survived"     // nothing was found broken
)

// Kill is one defect and its fate.
type Kill struct {
	Defect faults.Defect
	Fate   Fate
	// Also lists the other pairs that the specs found broken.
	Also []spec.Pair
	// Causes are the probable causes of all that was found broken, if they are counted.
	Causes []summary.Cause
	Tries  int // on a whole subject; 0 if a short one showed the defect
	// Outcome is that of the defect's own pair, Detail what is known of it.
	Outcome reports.Outcome
	Detail  string
}

// attempts is how often a defect is tried whose check did not find it: a busy machine may be
// too slow to exceed a rate limit, and specs that change one list at the same time may meet.
// The matrix counts such defects.
const attempts = 3

// try runs the specs that judge the defect's requirement on its operation, or all specs to
// count causes. It does so on a subject that takes less time, if there is one, and on a
// whole one unless that shows the defect.
func (o Options) try(ctx context.Context, rules *judge.Rules, d faults.Defect) (Kill, error) {
	if o.Short != nil {
		if kill, err := o.tryOnce(ctx, o.Short, rules, d); err != nil || kill.Fate == killed {
			return kill, err
		}
	}
	for attempt := 1; ; attempt++ {
		kill, err := o.tryOnce(ctx, o.Source, rules, d)
		if err != nil || kill.Fate == killed || attempt == attempts {
			kill.Tries = attempt
			return kill, err
		}
	}
}

func (o Options) tryOnce(ctx context.Context, source Source, rules *judge.Rules, d faults.Defect) (Kill, error) {
	plan := tree.Judging(d.Breaks)
	if o.Causes {
		pairs, err := o.Selection.Pairs()
		if err != nil {
			return Kill{}, err
		}
		plan = o.Selection.Plan(pairs)
	}
	result, err := examine(ctx, source, rules, o.Seed, plan, d.Apply)
	if err != nil {
		return Kill{}, fmt.Errorf("defect %s: %w", d.ID, err)
	}
	kill := Kill{Defect: d, Fate: survived, Outcome: result.checks[d.Breaks].Outcome}
	if o.Causes {
		kill.Causes = result.causes
	}
	for pair, check := range result.checks {
		if check.Outcome == reports.Fail && pair != d.Breaks {
			kill.Also = append(kill.Also, pair)
		}
	}
	slices.SortFunc(kill.Also, comparePairs)
	switch {
	case kill.Outcome == reports.Fail:
		kill.Fate = killed
	case len(kill.Also) > 0:
		kill.Fate = wrongReason
	}
	own := result.checks[d.Breaks]
	kill.Detail = strings.Join(own.Missing, "; ")
	for _, t := range result.troubles {
		kill.Detail += " " + t.What
	}
	return kill, nil
}

func comparePairs(a, b spec.Pair) int {
	return strings.Compare(a.Operation+" "+a.Requirement, b.Operation+" "+b.Requirement)
}
