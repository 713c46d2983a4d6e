package inspect

import (
	"errors"
	"fmt"
	"math"
	"net/http"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"outreach.example/conformance/internal/client"
	"outreach.example/conformance/internal/judge"
	"outreach.example/conformance/spec"
)

// Defaults of Options.
const (
	DefaultEffort     = 0.25
	DefaultQueue      = 1024
	DefaultQueueBytes = 4 << 20
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
	Share float64
	// Effort is the average number of processors that judging may use, at most 64.
	// One is enough for some hundred different pages of 100 rows a second. Known
	// responses do not count.
	Effort float64
	// Queue and QueueBytes bound the responses, and the bytes of their bodies, that
	// wait for inspection.
	Queue      int
	QueueBytes int64
}

func (o Options) withDefaults() (Options, error) {
	var wrong []error
	if o.Rules == nil {
		wrong = append(wrong, errors.New("inspect: no rules (make them with judge.NewRules)"))
	}
	if !(o.Share >= 0 && o.Share <= 1) {
		wrong = append(wrong, fmt.Errorf("inspect: the share of responses is %v: want more than 0 and at most 1, or 0 for all", o.Share))
	}
	if !(o.Effort >= 0 && o.Effort <= 64) {
		wrong = append(wrong, fmt.Errorf("inspect: the effort is %v processors: want more than 0 and at most 64, or 0 for the default", o.Effort))
	}
	if o.Queue < 0 || o.QueueBytes < 0 {
		wrong = append(wrong, fmt.Errorf("inspect: the queue is %d responses, %d bytes: want positive numbers, or 0 for the defaults", o.Queue, o.QueueBytes))
	}
	if o.Ledger == nil {
		o.Ledger = judge.NewLedger(spec.Pairs())
	}
	if o.Share == 0 {
		o.Share = 1
	}
	if o.Effort == 0 {
		o.Effort = DefaultEffort
	}
	if o.Queue == 0 {
		o.Queue = DefaultQueue
	}
	if o.QueueBytes == 0 {
		o.QueueBytes = DefaultQueueBytes
	}
	return o, errors.Join(wrong...)
}

// Inspector judges answers. Its methods are safe for concurrent use. Close ends it.
type Inspector struct {
	opts    Options
	queue   chan Answer
	wake    chan struct{}
	waiting atomic.Int64 // bytes of bodies in the queue
	workers sync.WaitGroup
	closing sync.RWMutex
	closed  bool

	ledger *judge.Ledger
	memo   memo
	effort effort
	shown  shown
	lists  lists

	answers, judged, known, unsampled, dropped, skipped, troubled atomic.Int64
	compressed, long, partial, lost                               atomic.Int64
	good                                                          atomic.Uint64 // answers with status 200
}

// New starts an inspector. It returns an error if the options are wrong.
func New(opts Options) (*Inspector, error) { return start(opts, time.Now) }

func start(opts Options, now func() time.Time) (*Inspector, error) {
	opts, err := opts.withDefaults()
	if err != nil {
		return nil, err
	}
	in := &Inspector{
		opts:   opts,
		queue:  make(chan Answer, opts.Queue),
		wake:   make(chan struct{}, 1),
		ledger: opts.Ledger,
		effort: effort{share: opts.Effort, now: now},
		shown:  shown{counts: map[spec.Pair]int{}},
		lists:  lists{rows: map[string]bool{}},
	}
	in.memo = memo{proofs: map[question]*proof{}, enter: in.enterAgain}
	for range int(math.Ceil(opts.Effort)) {
		in.workers.Go(in.work)
	}
	return in, nil
}

// Workers wake up for several answers at a time: waking a goroutine for each answer
// would cost more than looking at most of them.
const (
	batchSize = 16
	batchWait = 10 * time.Millisecond // for fewer
)

func (in *Inspector) work() {
	clock := time.NewTicker(batchWait)
	defer clock.Stop()
	for {
		select {
		case <-in.wake:
		case <-clock.C:
		}
		if !in.lookAtAll() {
			return
		}
	}
}

// lookAtAll judges the answers in the queue. It reports whether more can come.
func (in *Inspector) lookAtAll() bool {
	for {
		select {
		case a, more := <-in.queue:
			if !more {
				return false
			}
			in.waiting.Add(-int64(len(a.Body.Bytes())))
			in.look(a)
			a.Body.Release()
		default:
			return true
		}
	}
}

// wakeOne wakes a worker if one sleeps.
func (in *Inspector) wakeOne() {
	select {
	case in.wake <- struct{}{}:
	default:
	}
}

// Take is the inspector's Func. Answers after Close count as dropped.
func (in *Inspector) Take(a Answer) {
	in.answers.Add(1)
	if !in.queued(a) {
		a.Body.Release()
	}
}

func (in *Inspector) queued(a Answer) bool {
	switch {
	case len(a.Body.Bytes()) > 0 && client.Undecodable(a.Header) != "": // although the request asked for none
		in.compressed.Add(1)
		in.trouble(a, fmt.Sprintf("the response was not judged: Content-Encoding %q was not offered (turn it off in the server or proxy)",
			judge.Clip(client.Undecodable(a.Header))))
		return false
	case a.Long:
		in.long.Add(1)
		return false
	case a.Body.Lost():
		in.lost.Add(1)
		return false
	case a.Cut || a.Status == 0:
		in.partial.Add(1)
		return false
	}
	if a.Status == http.StatusOK && !in.sampled() {
		in.unsampled.Add(1)
		return false
	}
	in.closing.RLock()
	defer in.closing.RUnlock()
	size := int64(len(a.Body.Bytes()))
	// An answer that is larger than QueueBytes may wait alone.
	if before := in.waiting.Add(size) - size; in.closed || before > 0 && before+size > in.opts.QueueBytes {
		in.waiting.Add(-size)
		in.dropped.Add(1)
		return false
	}
	select {
	case in.queue <- a:
		if len(in.queue) >= min(batchSize, in.opts.Queue) || in.waiting.Load() > in.opts.QueueBytes/2 {
			in.wakeOne()
		}
		return true
	default:
		in.waiting.Add(-size)
		in.dropped.Add(1)
		return false
	}
}

// sampled reports whether the next answer is part of the share, which is spread
// evenly.
func (in *Inspector) sampled() bool {
	n := float64(in.good.Add(1))
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
			in.trouble(a, fmt.Sprintf("panic: %v\n%s", cause, debug.Stack()))
		}
	}()
	q := questionOf(a, asked)
	if in.memo.repeat(q) {
		in.known.Add(1)
		return
	}
	if !in.effort.allows() {
		in.skipped.Add(1)
		return
	}
	began := in.effort.now()
	defer func() { in.effort.took(in.effort.now().Sub(began)) }()
	ex := a.exchange()
	checked := in.opts.Rules.Check(asked, ex)
	if checked.Err != nil {
		in.trouble(a, fmt.Sprintf("cannot judge the response: %v", checked.Err))
		return
	}
	in.lists.saw(a, checked)
	in.memo.keep(q, in.enter(a, ex, checked))
	in.judged.Add(1)
}
