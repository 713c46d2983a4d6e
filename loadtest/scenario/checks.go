package scenario

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"outreach.example/conformance/internal/client"
	"outreach.example/conformance/internal/judge"
	"outreach.example/conformance/loadtest/inspect"
	"outreach.example/conformance/loadtest/measure"
	"outreach.example/conformance/reports"
	"outreach.example/conformance/reports/load"
	"outreach.example/conformance/spec"
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

// looked checks an answer at once and records the findings. It is for requests
// outside the generator, all of which are checked.
func (r *runner) looked(asked judge.Request, ex client.Exchange) judge.Result {
	return r.lookedAs(asked, ex, func(requirement string) string { return judge.Replay(requirement, ex) })
}

// lookedAs is looked with a custom command that reproduces a violation.
func (r *runner) lookedAs(asked judge.Request, ex client.Exchange, replay func(requirement string) string) judge.Result {
	if ex.Status == http.StatusTooManyRequests {
		asked.Valid = false // a 429 is always legal
	}
	s := r.env.Rules.Check(asked, ex)
	r.lookedAt.Add(1)
	for _, p := range s.Seen {
		r.ledger.Assessed(p, 1)
	}
	for _, f := range s.Findings {
		r.found(f.Pair, reports.Violation{Pointer: r.redact(f.Pointer), Expected: r.redact(f.Expected), Actual: r.redact(f.Actual), Curl: replay(f.Pair.Requirement)})
	}
	if s.Err != nil {
		r.ledger.Troubled("load: "+asked.Operation.ID, r.redact("the answer could not be checked: "+s.Err.Error()))
	}
	return s
}

// found records a violation.
func (r *runner) found(p spec.Pair, v reports.Violation) {
	r.ledger.Violated(p, v)
}

// redactAll returns the header with redacted values.
func (r *runner) redactAll(h http.Header) http.Header {
	shown := http.Header{}
	for name, values := range h {
		for _, value := range values {
			shown.Add(name, r.redact(value))
		}
	}
	return shown
}

func (r *runner) redact(s string) string { return r.env.Client.Redact(s) }

// emptyLists reports lists of which only empty pages were measured. Empty pages
// are legal but cost next to nothing, so their figures do not represent the
// list. Depth and Walk report this themselves, and shards leave it to the
// merge.
func (r *runner) emptyLists() {
	if k := r.scenario.Kind; k == Depth || k == Walk || r.env.Shard.Of > 1 {
		return
	}
	asked := r.accepted()
	empty := slices.DeleteFunc(slices.Clone(asked), func(id string) bool { return !slices.Contains(r.empty, id) })
	switch {
	case len(empty) == 0:
	case len(empty) == len(asked):
		r.void("no checked answer has rows: only empty pages were measured (use a target whose lists have rows)")
	default:
		r.foremost = append(r.foremost, fmt.Sprintf("no checked answer of %s has rows: only empty pages were measured there", strings.Join(empty, ", ")))
	}
}

// accepted returns the operations with accepted requests that count, in the
// order of the catalogue.
func (r *runner) accepted() (ids []string) {
	for _, op := range spec.Operations() {
		if slices.ContainsFunc(r.counted, func(c counted) bool { return c.recording.Label(op.ID).Count[measure.Accepted] > 0 }) {
			ids = append(ids, op.ID)
		}
	}
	return ids
}
