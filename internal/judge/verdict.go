package judge

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"outreach.example/conformance/reports"
	"outreach.example/conformance/spec"
)

func compareObservations(a, b reports.Observation) int {
	return cmp.Or(cmp.Compare(a.Silence, b.Silence), cmp.Compare(a.Operation, b.Operation), cmp.Compare(a.Value, b.Value))
}

// Conclude draws the verdict of a run from its checks and troubles, with the
// reasons for anything but a pass. A violation outweighs trouble: it was seen.
// Requirements that were not assessed do not fail a run, but a run that
// assessed nothing cannot tell. stale are the entries on expected failures that
// do not hold any more (Waive).
func Conclude(results *reports.Results, stale ...string) {
	count := map[reports.Outcome]int{}
	for _, c := range results.Checks {
		count[c.Outcome]++
	}
	results.Reasons = []string{}
	because := func(format string, args ...any) {
		results.Reasons = append(results.Reasons, fmt.Sprintf(format, args...))
	}
	if n := count[reports.Fail]; n > 0 {
		because("%d of %d checks failed", n, len(results.Checks))
	}
	results.Reasons = append(results.Reasons, stale...)
	if len(results.Reasons) > 0 {
		results.Verdict = reports.DoesNotConform
		return
	}
	if results.Run.Interrupted {
		because("the run was interrupted")
	}
	if n := count[reports.Error]; n > 0 {
		because("%d of %d checks ended in trouble of the harness or of the way to the target", n, len(results.Checks))
	}
	if len(results.Troubles) > 0 && count[reports.Error] == 0 {
		because("trouble beside the checks: %d", len(results.Troubles))
	}
	if count[reports.Pass] == 0 {
		because("not one requirement could be assessed")
	}
	if len(results.Reasons) > 0 {
		results.Verdict = reports.CouldNotTell
		return
	}
	if n := count[reports.ExpectedFailure]; n > 0 {
		because("%d of %d checks failed as expected", n, len(results.Checks))
		results.Verdict = reports.ConformsExcept
		return
	}
	results.Verdict = reports.Conforms
}

// Waiver is an expected failure: an entry that the target's owner has made.
type Waiver struct {
	Requirement string
	Operation   string // empty for every operation
	reports.Waiver
}

// Waive turns the failures that entries expect into expected ones, and returns
// what is wrong with the entries: one that has expired, that names what the
// catalogue does not have, or that was judged and no longer fails. Each fails a
// run, so that entries do not outlive their reason. It belongs before Conclude.
func Waive(results *reports.Results, entries []Waiver, now time.Time) (stale []string) {
	for _, e := range entries {
		switch {
		case e.expired(now):
			stale = append(stale, fmt.Sprintf("the expected failure of %s expired on %s: mend the target, or give the entry a new date and reason", e.name(), e.Expires))
			continue
		case !e.known():
			stale = append(stale, fmt.Sprintf("the expected failure of %s is none that can be: the catalogue has no such check; `outreach-conformance requirements` lists them", e.name()))
			continue
		}
		for i := range results.Checks {
			if check := &results.Checks[i]; e.Covers(*check) && check.Outcome == reports.Fail {
				check.Outcome = reports.ExpectedFailure
				waiver := e.Waiver
				check.Waiver = &waiver
			}
		}
		if e.Outlived(*results) {
			stale = append(stale, fmt.Sprintf("the expected failure of %s no longer fails: take the entry out", e.name()))
		}
	}
	return stale
}

// Covers reports whether the entry is about the check.
func (w Waiver) Covers(c reports.Check) bool {
	return c.Requirement == w.Requirement && (w.Operation == "" || c.Operation == w.Operation)
}

// Outlived reports whether the entry expects what cannot fail, or what was
// judged and does not fail any more.
func (w Waiver) Outlived(results reports.Results) bool {
	if !w.known() {
		return true
	}
	holds := false
	for _, c := range results.Checks {
		if !w.Covers(c) {
			continue
		}
		switch c.Outcome {
		case reports.Fail, reports.ExpectedFailure:
			return false
		case reports.Pass:
			holds = true
		}
	}
	return holds
}

// known reports whether the catalogue has what the entry names.
func (w Waiver) known() bool {
	r, ok := spec.FindRequirement(w.Requirement)
	return ok && (w.Operation == "" || slices.Contains(r.Operations, w.Operation))
}

// name is what the entry expects to fail, for people.
func (w Waiver) name() string {
	if w.Operation == "" {
		return w.Requirement
	}
	return w.Requirement + " on " + w.Operation
}

// expired reports whether the entry's last day, in UTC, is over.
func (w Waiver) expired(now time.Time) bool {
	last, err := time.Parse(time.DateOnly, w.Expires)
	return err != nil || !now.UTC().Before(last.AddDate(0, 0, 1))
}
