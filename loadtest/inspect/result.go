package inspect

import (
	"sync"

	"outreach.example/conformance/internal/client"
	"outreach.example/conformance/internal/judge"
	"outreach.example/conformance/internal/redact"
	"outreach.example/conformance/reports"
	"outreach.example/conformance/spec"
)

// Result is the result of an inspection. Once the inspector is closed, Answers is the
// sum of the seven counts below it.
type Result struct {
	Answers int64 // all that were taken

	Judged    int64 // decoded and judged
	Known     int64 // the same as one that was judged before; counted like it
	Unsampled int64 // skipped because of Options.Share
	Dropped   int64 // skipped because the queue was full
	Skipped   int64 // skipped because judging had used its time (Options.Effort)
	Unread    Unread
	Troubled  int64 // not judged because of an error in the rules

	// Empty are the list operations whose judged answers had no rows.
	Empty []string

	// Checks are the requirements × operations that were assessed or violated, in the
	// catalogue's order.
	Checks   []reports.Check
	Troubles []reports.Trouble
}

// Unread counts the answers that could not be inspected, each once.
type Unread struct {
	Compressed int64 // although the request did not allow it
	Long       int64 // the body is larger than the bound
	Partial    int64 // incomplete, or too late
	Lost       int64 // the bodies in flight took too much memory
}

// Add returns the sums.
func (u Unread) Add(other Unread) Unread {
	return Unread{u.Compressed + other.Compressed, u.Long + other.Long, u.Partial + other.Partial, u.Lost + other.Lost}
}

// All returns the number of unread answers.
func (u Unread) All() int64 { return u.Compressed + u.Long + u.Partial + u.Lost }

// Coverage returns the share of the answers that was judged, from 0 to 1. It is 0 if
// there were no answers.
func (r Result) Coverage() float64 {
	if r.Answers == 0 {
		return 0
	}
	return float64(r.Judged+r.Known) / float64(r.Answers)
}

// Violations returns the number of all violations.
func (r Result) Violations() int {
	n := 0
	for _, c := range r.Checks {
		n += c.ViolationCount
	}
	return n
}

// Result returns the result so far.
func (in *Inspector) Result() Result {
	in.memo.settle()
	r := Result{
		Answers: in.answers.Load(), Judged: in.judged.Load(), Known: in.known.Load(), Unsampled: in.unsampled.Load(),
		Dropped: in.dropped.Load(), Skipped: in.skipped.Load(), Troubled: in.troubled.Load(),
		Unread:   Unread{Compressed: in.compressed.Load(), Long: in.long.Load(), Partial: in.partial.Load(), Lost: in.lost.Load()},
		Troubles: in.ledger.Troubles(), Empty: in.lists.empty(),
	}
	for _, c := range in.ledger.Checks() {
		if c.Assessments > 0 || c.ViolationCount > 0 {
			r.Checks = append(r.Checks, c)
		}
	}
	return r
}

// keptInFull is the number of violations of a pair that are described, at least as
// many as the ledger keeps. Describing one costs far more than counting it.
const keptInFull = 5

// shown counts the violations that were described.
type shown struct {
	mu     sync.Mutex
	counts map[spec.Pair]int
}

func (s *shown) room(p spec.Pair) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.counts[p]++
	return s.counts[p] <= keptInFull
}

// enter puts the judgement of an answer into the ledger.
func (in *Inspector) enter(a Answer, ex client.Exchange, s judge.Result) *proof {
	p := &proof{seen: make(map[spec.Pair]int, len(s.Seen)), broken: map[spec.Pair]int{}}
	for _, seen := range s.Seen {
		p.seen[seen.Pair] += seen.Times
	}
	in.ledger.AssessedAll(s.Seen)
	for _, f := range s.Findings {
		p.broken[f.Pair]++
		if in.shown.room(f.Pair) {
			in.ledger.Violated(f.Pair, violation(ex, f))
		} else {
			in.ledger.ViolatedAgain(f.Pair, 1)
		}
	}
	for pair, n := range s.More {
		p.broken[pair] += n
		in.ledger.ViolatedAgain(pair, n)
	}
	return p
}

// enterAgain puts the repetitions of an answer into the ledger.
func (in *Inspector) enterAgain(p *proof) {
	if p.again == 0 {
		return
	}
	for pair, n := range p.seen {
		in.ledger.Assessed(pair, n*p.again)
	}
	for pair, n := range p.broken {
		in.ledger.ViolatedAgain(pair, n*p.again)
	}
}

// violation describes the finding, with a command that reproduces it.
func violation(ex client.Exchange, f judge.Finding) reports.Violation {
	show := redact.Process.Text
	return reports.Violation{
		Pointer:  show(judge.Short(f.Pointer)), // the target chooses some names
		Expected: show(judge.Short(f.Expected)),
		Actual:   show(judge.Short(f.Actual)),
		Curl:     judge.Replay(f.Pair.Requirement, ex),
	}
}

func (in *Inspector) trouble(a Answer, what string) {
	in.troubled.Add(1)
	in.ledger.Troubled("load: "+a.Asked.Operation.ID, redact.Process.Text(what))
}
