package inspect

import (
	"sync"

	"outreach.example/conformance/internal/client"
	"outreach.example/conformance/internal/judge"
	"outreach.example/conformance/reports"
	"outreach.example/conformance/spec"
)

// Result is what the inspection came to. Answers is the sum of the seven counts
// below it, as soon as the inspector is closed.
type Result struct {
	Answers int64 // handed over

	Judged    int64 // decoded and judged
	Known     int64 // the same as one that was judged before, and counted like it
	Unsampled int64 // left out by Options.Share
	Dropped   int64 // left out because the queue was full
	Skipped   int64 // left out because judging took its share of time (Options.Effort)
	Unread    Unread
	Troubled  int64 // the rules' own trouble

	// Empty are the list operations of which no answer that was judged showed a row.
	Empty []string

	// Checks are the requirements × operations that were put to the test or seen
	// broken, in the catalogue's order.
	Checks   []reports.Check
	Troubles []reports.Trouble
}

// Unread are answers of which nothing can be said, each counted once.
type Unread struct {
	Compressed int64 `json:"compressed,omitempty"` // though nobody asked for it
	Long       int64 `json:"long,omitempty"`       // the body is larger than is read
	Partial    int64 `json:"partial,omitempty"`    // broken off, or not there in time
}

// Add counts both.
func (u Unread) Add(other Unread) Unread {
	return Unread{u.Compressed + other.Compressed, u.Long + other.Long, u.Partial + other.Partial}
}

// All is how many there are.
func (u Unread) All() int64 { return u.Compressed + u.Long + u.Partial }

// Coverage is the part of the answers that was judged, from 0 to 1; 0 of none.
func (r Result) Coverage() float64 {
	if r.Answers == 0 {
		return 0
	}
	return float64(r.Judged+r.Known) / float64(r.Answers)
}

// Violations counts all sightings of broken requirements.
func (r Result) Violations() int {
	n := 0
	for _, c := range r.Checks {
		n += c.ViolationCount
	}
	return n
}

// Result tells what was found so far.
func (in *Inspector) Result() Result {
	in.memo.settle()
	r := Result{
		Answers: in.answers.Load(), Judged: in.judged.Load(), Known: in.known.Load(), Unsampled: in.unsampled.Load(),
		Dropped: in.dropped.Load(), Skipped: in.skipped.Load(), Troubled: in.troubled.Load(),
		Unread:   Unread{Compressed: in.compressed.Load(), Long: in.long.Load(), Partial: in.partial.Load()},
		Troubles: in.ledger.Troubles(), Empty: in.lists.empty(),
	}
	for _, c := range in.ledger.Checks() {
		if c.Assessments > 0 || c.ViolationCount > 0 {
			r.Checks = append(r.Checks, c)
		}
	}
	return r
}

// keptInFull is how many violations of a pair are written out: as many as the
// ledger keeps, or more. Writing one out costs far more than counting it.
const keptInFull = 5

// shown counts the violations that were written out.
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

// enter writes down what the rules saw in an answer.
func (in *Inspector) enter(a Answer, ex client.Exchange, s judge.Sighting) *proof {
	p := &proof{seen: map[spec.Pair]int{}, broken: map[spec.Pair]int{}}
	for _, pair := range s.Seen {
		p.seen[pair]++
	}
	for pair, n := range p.seen {
		in.ledger.Assessed(pair, n)
	}
	for _, f := range s.Findings {
		p.broken[f.Pair]++
		if in.shown.room(f.Pair) {
			in.ledger.Violated(f.Pair, in.violation(a, ex, f))
		} else {
			in.ledger.ViolatedAgain(f.Pair, 1)
		}
	}
	return p
}

// enterAgain writes down what came again.
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

// violation is what a reader needs to understand the finding and to see it again.
func (in *Inspector) violation(a Answer, ex client.Exchange, f judge.Finding) reports.Violation {
	redact := in.redacting(a)
	return reports.Violation{
		Pointer:  redact(f.Pointer), // the target chooses the names of some members
		Expected: redact(f.Expected),
		Actual:   redact(f.Actual),
		Curl:     in.opts.Redact(judge.Replay(f.Pair.Requirement, ex)), // which knows the request's own key by its variable
	}
}

func (in *Inspector) trouble(a Answer, what string) {
	in.troubled.Add(1)
	in.ledger.Troubled("load: "+a.Asked.Operation.ID, in.redacting(a)(what))
}

// redacting takes out the secrets that the caller knows, and the request's own key.
func (in *Inspector) redacting(a Answer) func(string) string {
	own := client.Redacting(func() []string { return []string{a.Key.Token} })
	return func(s string) string { return own(in.opts.Redact(s)) }
}
