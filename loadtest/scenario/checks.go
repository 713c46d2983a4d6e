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

// checks closes the inspector and returns the findings of the inspector and the
// scenario. It records how many answers were checked.
func (r *runner) checks() []reports.Check {
	if r.inspector == nil { // joined from shards, or the scenario could not start
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

// uninspected makes the scenario inconclusive if too few answers could be
// checked.
func (r *runner) uninspected() {
	c := r.out.Coverage
	if c == nil || c.Answers == 0 {
		return
	}
	switch looked := c.Checked + c.Memo; {
	case looked == 0:
		r.void("none of %d answers could be checked%s", c.Answers, whyUnread(r.unread))
	case r.unread.All() > looked:
		r.void("%d of %d answers could not be checked%s", r.unread.All(), c.Answers, whyUnread(r.unread))
	}
}

// whyUnread returns the reasons why answers were not checked, with hints; empty
// if all were.
func whyUnread(u inspect.Unread) string {
	var whys []string
	for _, reason := range []struct {
		count int64
		says  string
	}{
		{u.Compressed, "were compressed despite Accept-Encoding: identity (turn compression off in the server or proxy)"},
		{u.Long, "had a " + load.FailureInWords(measure.FailureTooLong) + " (request smaller pages with --page-size)"},
		{u.Partial, "were incomplete or timed out"},
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

// assessed returns the checks with evidence.
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
