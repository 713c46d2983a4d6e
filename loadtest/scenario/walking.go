package scenario

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"outreach.example/conformance/internal/client"
	"outreach.example/conformance/internal/judge"
	"outreach.example/conformance/internal/outage"
	"outreach.example/conformance/internal/paging"
	"outreach.example/conformance/loadtest/generate"
	"outreach.example/conformance/loadtest/measure"
	"outreach.example/conformance/reports/load"
	"outreach.example/conformance/spec"
)

// errNoPage ends a walk at an answer that is not a page.
var errNoPage = errors.New("not a page")

// errTooLong means that a 200 answer was truncated.
var errTooLong = errors.New(load.FailureInWords(measure.FailureTooLong))

// pageOf returns the page in an answer, with the keys of its rows only.
func pageOf(ex client.Exchange, s judge.Result, limit int) (paging.Page, error) {
	if ex.Truncated {
		return paging.Page{}, fmt.Errorf("%w: %w", errNoPage, errTooLong)
	}
	if ex.Status != http.StatusOK || s.Err != nil {
		return paging.Page{}, fmt.Errorf("%w: the target answered %d", errNoPage, ex.Status)
	}
	page := paging.Page{Limit: limit}
	for _, row := range s.Rows {
		page.Rows = append(page.Rows, paging.Row{Key: paging.KeyOf(row)})
	}
	body, _ := s.Body.(map[string]any)
	page.Cursor, _ = body["next_starting_after"].(string)
	return page, nil
}

// Limits of the walks: pages of one walk, and walks of one list that are
// compared.
const (
	mostPagesOfWalk = 100_000
	mostWalksKept   = 64
)

// retryPause is how long a client waits after a request without an answer
// before it begins a new walk: refused connections fail very fast.
const retryPause = 100 * time.Millisecond

// walked is one finished walk.
type walked struct {
	op           spec.Operation
	began, ended time.Time
	paging.Walk
	last client.Exchange // the last answer
}

// walkers is the state of the clients of a walk scenario.
type walkers struct {
	r     *runner
	plan  measure.Plan
	lists []spec.Operation

	mu       sync.Mutex
	recorder *measure.Recorder
	monitor  *outage.Monitor
	seq      uint64
	whole    map[string][]walked // by list, the first completed walks
	out      load.Walks
	over     error // why the walks were aborted
}

// walk runs clients that walk whole lists. The loop is closed: each page waits
// for the one before. So the figures show what clients experience, not what
// rate the target sustains.
func (r *runner) walk() error {
	s := r.scenario
	api, err := r.env.Bare(s.Clients, "")
	if err != nil {
		return err
	}
	defer api.Close()
	var lists []spec.Operation
	for _, share := range r.shares {
		if _, known := r.env.Profile.CursorParameter(share.op); !known {
			r.note("%s is skipped: the profile does not name the parameter starting_after", share.op.ID)
			continue
		}
		lists = append(lists, share.op)
	}
	if len(lists) == 0 {
		return errors.New("no list to walk")
	}
	limits := s.Limits
	if len(limits) == 0 {
		limits = []int{0}
	}
	start := time.Now()
	plan := measure.Plan{Name: "walk", Duration: s.Duration, Start: start.Round(0), ClosedLoop: true}
	w := &walkers{r: r, plan: plan, lists: lists, recorder: measure.NewRecorder(plan), monitor: r.env.Generator.OutageMonitor(),
		whole: map[string][]walked{}, out: load.Walks{Clients: s.Clients}}
	r.announceStep(plan.Name)
	stop := r.showing(w.live)
	var clients sync.WaitGroup
	for c := range s.Clients {
		clients.Go(func() {
			// The clients share one sequence of walks, so every list is soon
			// walked in pages of every size.
			for n := c; time.Since(start) < s.Duration && !w.isOver(); n += s.Clients {
				if !w.one(api, lists[n%len(lists)], limits[n/len(lists)%len(limits)], start) {
					_ = client.Sleep(r.ctx, retryPause)
				}
			}
		})
	}
	clients.Wait()
	stop()
	c := r.judged(w.recorder.Recording())
	addTraffic(&r.traffic, c.recording)
	r.foremost = r.outages(plan.Name, w.monitor.Outages())
	w.compare()
	r.out.Walks = &w.out
	if r.ctx.Err() != nil {
		w.over = fmt.Errorf("the walks were interrupted: %w", context.Cause(r.ctx))
	}
	if w.over != nil {
		r.keepCut(c, w.over)
		return w.over
	}
	if !w.anyWhole() && c.recording.Count(measure.Accepted) > 0 { // otherwise the lack of answers is the reason
		r.void("no walk completed and returned a row (%s)", endings(c.recording))
	}
	r.keep(c)
	return nil
}

// one walks a list once. It reports whether the last request was answered.
func (w *walkers) one(api *client.Client, op spec.Operation, limit int, start time.Time) bool {
	one := walked{op: op, began: time.Now()}
	one.Walk = paging.Run(w.r.ctx, func(ctx context.Context, cursor string, limit int) (paging.Page, error) {
		ex := api.Do(ctx, pageRequest(w.r.env.Profile, w.r.subjects.mainKey, op, cursor, limit))
		one.last = ex
		w.add(op, limit, ex, start)
		if ex.Err != nil {
			return paging.Page{}, ex.Err
		}
		asked := judge.Request{Operation: op, Valid: true, Owner: w.r.subjects.main.ID, Limit: limit}
		return pageOf(ex, w.r.looked(asked, ex), limit)
	}, paging.Fixed(limit), mostPagesOfWalk)
	one.ended = time.Now()
	w.ends(one)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.out.Pages += int64(len(one.Pages))
	for _, p := range one.Pages {
		w.out.Rows += int64(len(p.Rows))
	}
	if one.Complete() {
		w.out.Walks++
		if len(w.whole[op.ID]) < mostWalksKept {
			w.whole[op.ID] = append(w.whole[op.ID], one)
		}
	}
	return one.last.Status != 0
}

// isOver reports whether the walks are aborted.
func (w *walkers) isOver() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.over != nil || w.r.ctx.Err() != nil
}

// add records one page.
func (w *walkers) add(op spec.Operation, limit int, ex client.Exchange, start time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if errors.Is(ex.Err, ErrBudget) {
		w.over = fmt.Errorf("the walks were aborted: %w", ErrBudget)
	}
	if ex.Sent.IsZero() {
		return // the context or the budget ended before it was sent
	}
	sent := max(0, ex.Sent.Sub(start))
	w.recorder.Add(measure.Sample{Seq: w.seq, Label: label(op, limit), Due: sent, Sent: sent, Done: sent + ex.Took,
		Status: ex.Status, Bytes: int64(len(ex.Body)), Failure: failureOf(ex)})
	w.seq++
	if err := w.monitor.Observe(sent, sent+ex.Took, ex.Status != 0); err != nil && w.over == nil {
		w.over = fmt.Errorf("the walks were aborted: %w", err)
	}
}

// live returns the figures of the walks for a live view.
func (w *walkers) live() generate.Live {
	at := time.Since(w.plan.Start)
	w.mu.Lock()
	defer w.mu.Unlock()
	return generate.Live{Phase: w.plan.Name, At: at, Duration: w.plan.Duration, Live: w.recorder.Live(at)}
}

// failureOf classifies why there is no complete answer.
func failureOf(ex client.Exchange) string {
	switch {
	case ex.Err == nil && ex.Truncated:
		return measure.FailureTooLong
	case ex.Err == nil:
		return ""
	case errors.Is(ex.Err, client.ErrTimeout):
		return measure.FailureTimeout
	case errors.Is(ex.Err, client.ErrRefused):
		return measure.FailureRefused
	case errors.Is(ex.Err, client.ErrProtocol):
		return measure.FailureReset
	default:
		return measure.FailureOther
	}
}
