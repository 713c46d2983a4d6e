package scenario

import (
	"outreach.example/conformance/judge"
	"outreach.example/conformance/reports"
	"outreach.example/conformance/reports/load"
)

// checks closes the inspector and returns what it and the scenario itself found,
// and notes how much of what came was looked at.
func (r *runner) checks() []reports.Check {
	if r.inspector == nil { // joined from shards, or it could not begin
		return assessed(r.ledger)
	}
	r.inspector.Close()
	result := r.inspector.Result()
	r.empty = result.Empty
	inline := r.lookedAt.Load()
	if answers := result.Answers + inline; answers > 0 {
		c := &load.Coverage{Answers: answers, Checked: result.Judged + inline, Memo: result.Known, Dropped: result.Dropped,
			LeftOut: result.Unsampled + result.Skipped + result.Unread}
		c.Share = float64(c.Checked+c.Memo) / float64(c.Answers)
		r.out.Coverage = c
		switch looked := c.Checked + c.Memo; {
		case looked == 0:
			r.void("of %d answers not one could be held against the specification", answers)
		case result.Unread > looked:
			r.void("%d of %d answers could not be held against the specification: they came compressed though nobody asked for it, or were not all there", result.Unread, answers)
		}
	}
	for _, t := range result.Troubles {
		r.void("%s: %s", t.Where, t.What)
	}
	return result.Checks
}

// assessed are the checks of which there is evidence.
func assessed(l *judge.Ledger) []reports.Check {
	var checks []reports.Check
	if l == nil {
		return nil
	}
	for _, c := range l.Checks() {
		if c.Assessments > 0 || c.ViolationCount > 0 {
			checks = append(checks, c)
		}
	}
	return checks
}
