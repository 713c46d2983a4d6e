package scenario

import (
	"fmt"
	"strings"

	"outreach.example/conformance/internal/judge"
	"outreach.example/conformance/loadtest/inspect"
	"outreach.example/conformance/loadtest/measure"
	"outreach.example/conformance/reports"
	"outreach.example/conformance/reports/load"
)

// checks closes the inspector and returns what it and the scenario itself found,
// and notes how much of what came was looked at.
func (r *runner) checks() []reports.Check {
	if r.inspector == nil { // joined from shards, or it could not begin
		r.uninspected()
		return assessed(r.ledger)
	}
	r.inspector.Close()
	result := r.inspector.Result()
	r.empty, r.unread = result.Empty, result.Unread
	inline := r.lookedAt.Load()
	if answers := result.Answers + inline; answers > 0 {
		c := &load.Coverage{Answers: answers, Checked: result.Judged + inline, Memo: result.Known, Dropped: result.Dropped,
			LeftOut: result.Unsampled + result.Skipped + result.Unread.All()}
		c.Share = float64(c.Checked+c.Memo) / float64(c.Answers)
		r.out.Coverage = c
	}
	r.uninspected()
	for _, t := range result.Troubles {
		r.void("%s: %s", t.Where, t.What)
	}
	return result.Checks
}

// uninspected gives it as a reason where too few answers could be judged.
func (r *runner) uninspected() {
	c := r.out.Coverage
	if c == nil || c.Answers == 0 {
		return
	}
	switch looked := c.Checked + c.Memo; {
	case looked == 0:
		r.void("of %d answers not one could be held against the specification%s", c.Answers, whyUnread(r.unread))
	case r.unread.All() > looked:
		r.void("%d of %d answers could not be held against the specification%s", r.unread.All(), c.Answers, whyUnread(r.unread))
	}
}

// whyUnread says after a sentence of answers that were not judged why they could
// not be, and what to do about it; of none it says nothing.
func whyUnread(u inspect.Unread) string {
	var whys []string
	for _, reason := range []struct {
		count int64
		says  string
	}{
		{u.Compressed, "came compressed (Content-Encoding) though requests ask for Accept-Encoding: identity: let the server, or what stands before it, send them as they are"},
		{u.Long, "had a " + load.FailureInWords(measure.FailureTooLong) + ": ask for smaller pages with --limit"},
		{u.Partial, "broke off or were not there in time"},
	} {
		if reason.count > 0 {
			whys = append(whys, fmt.Sprintf("%d %s", reason.count, reason.says))
		}
	}
	if len(whys) == 0 {
		return ""
	}
	return ": " + strings.Join(whys, "; ")
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
