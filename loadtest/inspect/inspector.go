package inspect

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"net/http"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"outreach.example/conformance/internal/client"
	"outreach.example/conformance/internal/judge"
	"outreach.example/conformance/internal/redact"
	"outreach.example/conformance/reports"
	"outreach.example/conformance/spec"
)

// Options bound the inspection. Only Rules is required. Zero means the default.
type Options struct {
	Rules *judge.Rules
	// Ledger receives the findings; nil means one of the inspector's own. Others that
	// judge in the same scenario may share it.
	Ledger *judge.Ledger
	// Share is the share of the responses with status 200 that are inspected, above
	// 0 and at most 1, the default. All other responses are inspected: they are
	// few and cheap in a useful load, and matter most in a useless one.
	Share float64 `flag:"inspect-share" usage:"share of the responses with status 200 that are checked against the specification, above 0 to 1; all others always are"`

	// effort is the average number of processors that judging may use. One is enough for
	// some hundred different pages of 100 rows a second. Known responses do not count.
	effort float64
	// queue and queueBytes bound the responses, and the bytes of their bodies, that
	// wait for inspection.
	queue      int
	queueBytes int64
}

// Result is the result of an inspection. Once the inspector is closed, Answers is the
// sum of the seven counts below it.
type Result struct {
	Answers int64 // all that were taken

	Judged    int64 // decoded and judged
	Known     int64 // the same as one that was judged before; counted like it
	Unsampled int64 // skipped because of Options.Share
	Dropped   int64 // skipped because the queue was full
	Skipped   int64 // skipped because judging had used its time
	Unread    Unread
	Troubled  int64 // not judged because of an error in the rules

	// Rows are the list operations that were judged: whether an answer had rows.
	Rows map[string]bool

	// Checks are the requirements × operations that were assessed or violated, in the
	// catalogue's order.
	Checks   []reports.Check `json:"-"`
	Troubles []reports.Trouble
}

// Add returns the sum of two results, without Checks.
func (r Result) Add(other Result) Result {
	u, v := r.Unread, other.Unread
	rows := map[string]bool{}
	for _, one := range []map[string]bool{r.Rows, other.Rows} {
		for id, had := range one {
			rows[id] = rows[id] || had
		}
	}
	return Result{
		Answers: r.Answers + other.Answers, Judged: r.Judged + other.Judged, Known: r.Known + other.Known, Unsampled: r.Unsampled + other.Unsampled,
		Dropped: r.Dropped + other.Dropped, Skipped: r.Skipped + other.Skipped, Troubled: r.Troubled + other.Troubled,
		Unread:   Unread{u.Compressed + v.Compressed, u.Long + v.Long, u.Partial + v.Partial, u.Lost + v.Lost},
		Rows:     rows,
		Troubles: slices.Concat(r.Troubles, other.Troubles),
	}
}

// Unread counts the answers that could not be inspected, each once.
type Unread struct {
	Compressed int64 // although the request did not allow it
	Long       int64 // the body is larger than the bound
	Partial    int64 // incomplete, or too late
	Lost       int64 // the bodies in flight took too much memory
}

// All returns the number of unread answers.
func (u Unread) All() int64 { return u.Compressed + u.Long + u.Partial + u.Lost }

// Inspector judges answers. Its methods are safe for concurrent use. Close ends it.
type Inspector struct {
	opts    Options
	queue   chan Answer
	waiting atomic.Int64 // bytes of bodies in the queue
	workers sync.WaitGroup
	closing sync.RWMutex
	closed  bool

	memo   memo
	effort effort

	mu     sync.Mutex
	counts Result // its counters and Rows
	good   int64  // answers with status 200
}

// New starts an inspector. It returns an error if the options are wrong.
func New(opts Options) (*Inspector, error) { return start(opts, time.Now) }

func start(opts Options, now func() time.Time) (*Inspector, error) {
	if opts.Rules == nil {
		return nil, errors.New("inspect: no rules (make them with judge.NewRules)")
	}
	if !(opts.Share >= 0 && opts.Share <= 1) {
		return nil, fmt.Errorf("inspect: the share of responses is %v: want more than 0 and at most 1, or 0 for all", opts.Share)
	}
	if opts.Ledger == nil {
		opts.Ledger = judge.NewLedger(spec.Pairs())
	}
	opts.Share, opts.effort = cmp.Or(opts.Share, 1), cmp.Or(opts.effort, 0.25)
	opts.queue, opts.queueBytes = cmp.Or(opts.queue, 1024), cmp.Or(opts.queueBytes, 4<<20)
	in := &Inspector{
		opts:   opts,
		queue:  make(chan Answer, opts.queue),
		memo:   memo{ledger: opts.Ledger, proofs: map[question]*proof{}},
		effort: effort{share: opts.effort, now: now},
		counts: Result{Rows: map[string]bool{}},
	}
	for range int(math.Ceil(opts.effort)) {
		in.workers.Go(in.work)
	}
	return in, nil
}

// work judges the answers in the queue.
func (in *Inspector) work() {
	for a := range in.queue {
		in.waiting.Add(-int64(len(a.Body.Bytes())))
		in.look(a)
		a.Body.Release()
	}
}

// Take is the inspector's Func. Answers after Close count as dropped.
func (in *Inspector) Take(a Answer) {
	in.count(&in.counts.Answers)
	if without := in.left(a); without != nil {
		in.count(without)
		a.Body.Release()
	}
}

func (in *Inspector) count(n *int64) {
	in.mu.Lock()
	defer in.mu.Unlock()
	*n++
}

// left queues the answer, or returns the count of those that are left out for its reason.
func (in *Inspector) left(a Answer) *int64 {
	switch unread := &in.counts.Unread; {
	case len(a.Body.Bytes()) > 0 && client.Undecodable(a.Header) != "": // although the request asked for none
		return &unread.Compressed
	case a.Long:
		return &unread.Long
	case a.Body.Lost():
		return &unread.Lost
	case a.Cut || a.Status == 0:
		return &unread.Partial
	case a.Status == http.StatusOK && !in.sampled():
		return &in.counts.Unsampled
	}
	in.closing.RLock()
	defer in.closing.RUnlock()
	size := int64(len(a.Body.Bytes()))
	// An answer that is larger than queueBytes may wait alone.
	if before := in.waiting.Add(size) - size; in.closed || before > 0 && before+size > in.opts.queueBytes {
		in.waiting.Add(-size)
		return &in.counts.Dropped
	}
	select {
	case in.queue <- a:
	default:
		in.waiting.Add(-size)
		return &in.counts.Dropped
	}
	return nil
}

// sampled reports whether the next answer is part of the share, which is spread
// evenly.
func (in *Inspector) sampled() bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.good++
	n := float64(in.good)
	return math.Floor(n*in.opts.Share) > math.Floor((n-1)*in.opts.Share)
}

// Close judges the rest of the queue and ends the inspector. Result stays valid.
func (in *Inspector) Close() {
	in.closing.Lock()
	if !in.closed {
		in.closed = true
		close(in.queue)
	}
	in.closing.Unlock()
	in.workers.Wait()
}

// look judges one answer. A panic of the rules is an error of the harness and must
// not end the load.
func (in *Inspector) look(a Answer) {
	asked := a.judged()
	defer func() {
		if cause := recover(); cause != nil {
			in.count(&in.counts.Troubled)
			in.trouble(a, fmt.Sprintf("panic: %v\n%s", cause, debug.Stack()))
		}
	}()
	q := questionOf(a, asked)
	if in.memo.repeat(q) {
		in.count(&in.counts.Known)
		return
	}
	if !in.effort.allows() {
		in.count(&in.counts.Skipped)
		return
	}
	began := in.effort.now()
	defer func() { in.effort.took(in.effort.now().Sub(began)) }()
	ex := a.exchange()
	checked := in.opts.Rules.Check(asked, ex)
	if checked.Err != nil {
		in.count(&in.counts.Troubled)
		in.trouble(a, fmt.Sprintf("cannot judge the response: %v", checked.Err))
		return
	}
	if a.Status == http.StatusOK && asked.Operation.Answer != spec.One {
		in.mu.Lock() // an answer with a violation may have rows in the wrong place
		rows := in.counts.Rows
		rows[asked.Operation.ID] = rows[asked.Operation.ID] || len(checked.Rows)+len(checked.Findings) > 0
		in.mu.Unlock()
	}
	Enter(in.opts.Ledger, checked, func(requirement string) string { return judge.Replay(requirement, ex) })
	in.memo.keep(q, checked)
	in.count(&in.counts.Judged)
}

func (in *Inspector) trouble(a Answer, what string) {
	in.opts.Ledger.Troubled("load: "+a.Asked.Operation.ID, redact.Process.Text(what))
}

// Enter puts a judgement into the ledger. replay returns the command that reproduces a
// violation of the requirement.
func Enter(ledger *judge.Ledger, checked judge.Result, replay func(requirement string) string) {
	show := redact.Process.Text // the target chooses some names
	ledger.AssessedAll(checked.Seen)
	for _, f := range checked.Findings {
		ledger.ViolatedAs(f.Pair, reports.Violation{Pointer: f.Pointer, Expected: f.Expected, Actual: f.Actual}, func(v reports.Violation) reports.Violation {
			v.Pointer, v.Expected, v.Actual, v.Curl = show(v.Pointer), show(v.Expected), show(v.Actual), replay(f.Pair.Requirement)
			return v
		})
	}
	for pair, n := range checked.More {
		ledger.ViolatedAgain(pair, n)
	}
}

// Result returns the result so far.
func (in *Inspector) Result() Result {
	in.memo.settle()
	in.mu.Lock()
	defer in.mu.Unlock()
	r := in.counts
	r.Troubles = in.opts.Ledger.Troubles()
	r.Rows = maps.Clone(in.counts.Rows)
	r.Checks = slices.DeleteFunc(in.opts.Ledger.Checks(), func(c reports.Check) bool { return c.Assessments+c.ViolationCount == 0 })
	return r
}

// head is how far judging may be ahead of its share, so that a short run is covered
// completely.
const head = time.Second

// effort bounds the time for judging to a share of the elapsed time.
type effort struct {
	share float64 // processors
	now   func() time.Time

	mu    sync.Mutex
	began time.Time
	spent time.Duration
}

// allows reports whether there is time for one more judgement.
func (e *effort) allows() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	now := e.now()
	if e.began.IsZero() {
		e.began = now
	}
	return e.spent < head+time.Duration(e.share*float64(now.Sub(e.began)))
}

func (e *effort) took(d time.Duration) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.spent += d
}
