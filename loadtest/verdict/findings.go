package verdict

import (
	"fmt"
	"slices"
	"strings"

	"outreach.example/conformance/internal/printable"
	"outreach.example/conformance/loadtest/inspect"
	"outreach.example/conformance/loadtest/measure"
	"outreach.example/conformance/loadtest/scenario"

	"outreach.example/conformance/reports/load"
	"outreach.example/conformance/spec"
)

// judgeFindings lists the violations and fails the scenario if there is one. It makes
// the scenario inconclusive if too little was checked.
func (d *Draft) judgeFindings(f inspect.Result) {
	o := &d.Result
	o.Coverage = coverage(f)
	d.uninspected(f)
	for _, t := range f.Troubles {
		d.Void("%s: %s", t.Where, t.What)
	}
	for _, c := range f.Checks {
		if c.ViolationCount > 0 {
			o.Violations = append(o.Violations, load.Violation{Requirement: c.Requirement, Operation: c.Operation,
				Count: int64(c.ViolationCount), Examples: c.Violations})
		}
	}
	if n := len(o.Violations); n > 0 {
		first := o.Violations[0]
		begin := fmt.Sprintf("%d requirements were violated under load, the first is", n)
		if n == 1 {
			begin = "a requirement was violated under load:"
		}
		d.fail("%s %s on %s (%s)%s", begin, first.Requirement, first.Operation, times(first.Count), d.allowed())
	}
	d.emptyLists(f.Rows)
}

// allowed returns a hint that a threshold on errors does not excuse a violation
// of STATUS-200, if there is such a threshold.
func (d *Draft) allowed() string {
	broken := slices.ContainsFunc(d.Result.Violations, func(v load.Violation) bool { return v.Requirement == "STATUS-200" })
	for _, t := range d.thresholds() {
		missed := slices.ContainsFunc(d.Result.Thresholds, func(held load.Threshold) bool { return held.Text == t.Text && held.Outcome == load.Missed })
		if broken && !missed && t.Metric == measure.Errors && t.Bound > 0 {
			return fmt.Sprintf("; %s tolerates failed requests, STATUS-200 does not", t.Text)
		}
	}
	return ""
}

// uninspected makes the scenario inconclusive if too few answers could be
// checked.
func (d *Draft) uninspected(f inspect.Result) {
	switch checked := f.Judged + f.Known; {
	case f.Answers == 0:
	case checked == 0:
		d.Void("none of %s responses could be checked%s", printable.Number(f.Answers), whyUnread(f.Unread))
	case f.Unread.All() > checked:
		d.Void("%s of %s responses could not be checked%s", printable.Number(f.Unread.All()), printable.Number(f.Answers), whyUnread(f.Unread))
	}
}

// coverage converts the counts of an inspection; nil if no response was to be checked.
func coverage(f inspect.Result) *load.Coverage {
	if f.Answers == 0 {
		return nil
	}
	return &load.Coverage{Answers: f.Answers, Checked: f.Judged, Memo: f.Known, Dropped: f.Dropped,
		LeftOut: f.Unsampled + f.Skipped + f.Unread.All(), Share: float64(f.Judged+f.Known) / float64(f.Answers)}
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
		{u.Lost, "were so large that the bodies in flight took too much memory (request smaller pages with --page-size)"},
	} {
		if reason.count > 0 {
			whys = append(whys, printable.Number(reason.count)+" "+reason.says)
		}
	}
	if len(whys) == 0 {
		return ""
	}
	return ": " + strings.Join(whys, "; ")
}

// emptyLists reports lists on which only empty pages were measured. Empty pages
// are legal but cost next to nothing, so their figures do not represent the
// list. Depth and Walk report this themselves, and shards leave it to Join.
func (d *Draft) emptyLists(rows map[string]bool) {
	if k := d.scenario.Kind; k == scenario.Depth || k == scenario.Walk || d.Sharded {
		return
	}
	asked := d.accepted()
	empty := slices.DeleteFunc(slices.Clone(asked), func(id string) bool {
		had, judged := rows[id]
		return had || !judged
	})
	switch {
	case len(empty) == 0:
	case len(empty) == len(asked):
		d.Void("no checked response has rows: only empty pages were measured (use a target whose lists have rows)")
	default:
		d.NoteFirst(fmt.Sprintf("no checked response of %s has rows: only empty pages were measured there", strings.Join(empty, ", ")))
	}
}

// accepted returns the operations with accepted requests that count, in the
// order of the catalogue.
func (d *Draft) accepted() (ids []string) {
	for _, op := range spec.Operations() {
		if slices.ContainsFunc(d.phases, func(p phase) bool { return p.Label(op.ID).Count(measure.Accepted) > 0 }) {
			ids = append(ids, op.ID)
		}
	}
	return ids
}
