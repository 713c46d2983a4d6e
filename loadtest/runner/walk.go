package runner

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"outreach.example/conformance/internal/client"
	"outreach.example/conformance/internal/outage"
	"outreach.example/conformance/internal/paging"
	"outreach.example/conformance/internal/redact"
	"outreach.example/conformance/loadtest/generate"
	"outreach.example/conformance/loadtest/measure"
	"outreach.example/conformance/loadtest/prepare"
	"outreach.example/conformance/loadtest/scenario"
	"outreach.example/conformance/loadtest/schedule"
	"outreach.example/conformance/loadtest/verdict"
	"outreach.example/conformance/reports"
	"outreach.example/conformance/reports/load"
	"outreach.example/conformance/spec"
)

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

// walkPhase is the name of the only phase.
const walkPhase = "walk"

// walkers is the state of the clients of a walk scenario.
type walkers struct {
	r     *runner
	lists []spec.Operation
	start time.Time

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
	for _, op := range r.mix.Operations() {
		if _, known := r.env.Profile.CursorParameter(op); !known {
			r.draft.Note("%s is skipped: the profile does not name the parameter starting_after", op.ID)
			continue
		}
		lists = append(lists, op)
	}
	if len(lists) == 0 {
		return errors.New("no list to walk")
	}
	limits := s.Limits
	if len(limits) == 0 {
		limits = []int{0}
	}
	start := time.Now()
	w := &walkers{r: r, start: start, lists: lists, recorder: measure.NewRecorder(walkPhase, start.Round(0), schedule.Constant(0, s.Duration)), monitor: r.env.Generator.OutageMonitor(),
		whole: map[string][]walked{}, out: load.Walks{Clients: s.Clients}}
	r.announceStep(walkPhase)
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
	c := w.recorder.Recording()
	r.draft.Count(c)
	r.draft.NoteFirst(r.outages(walkPhase, w.monitor.Outages())...)
	w.compare()
	r.draft.Result.Walks = &w.out
	if r.ctx.Err() != nil {
		w.over = fmt.Errorf("the walks were interrupted: %w", context.Cause(r.ctx))
	}
	if w.over != nil {
		r.draft.Keep(c, w.over)
		return w.over
	}
	if !w.anyWhole() && c.Count(measure.Accepted) > 0 { // otherwise the lack of answers is the reason
		r.draft.Void("no walk completed and returned a row (%s)", verdict.Endings(c))
	}
	r.draft.Keep(c, nil)
	return nil
}

// one walks a list once. It reports whether the last request was answered.
func (w *walkers) one(api *client.Client, op spec.Operation, limit int, start time.Time) bool {
	one := walked{op: op, began: time.Now()}
	one.Walk = paging.Run(w.r.ctx, func(ctx context.Context, cursor string, limit int) (paging.Page, error) {
		request, asked := w.r.subjects.Page(op, cursor, limit)
		ex := api.Do(ctx, request)
		one.last = ex
		w.add(op, limit, ex, start)
		if ex.Err != nil {
			return paging.Page{}, ex.Err
		}
		return prepare.PageOf(ex, w.r.check(asked, ex), limit)
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
	if errors.Is(ex.Err, prepare.ErrBudget) {
		w.over = fmt.Errorf("the walks were aborted: %w", prepare.ErrBudget)
	}
	if ex.Sent.IsZero() {
		return // the context or the budget ended before it was sent
	}
	sent := max(0, ex.Sent.Sub(start))
	w.recorder.Add(measure.Sample{Seq: w.seq, Label: scenario.Label(op, limit), Due: sent, Sent: sent, Done: sent + ex.Took,
		Status: ex.Status, Bytes: int64(len(ex.Body)), Failure: failureOf(ex)})
	w.seq++
	if err := w.monitor.Observe(sent, sent+ex.Took, ex.Status != 0); err != nil && w.over == nil {
		w.over = fmt.Errorf("the walks were aborted: %w", err)
	}
}

// live returns the figures of the walks for a live view.
func (w *walkers) live() generate.Live {
	at := time.Since(w.start)
	w.mu.Lock()
	defer w.mu.Unlock()
	return generate.Live{Phase: walkPhase, At: at, Duration: w.r.scenario.Duration, Live: w.recorder.Live(at)}
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

// compare compares the walks with each other and finds what a single page
// cannot show.
func (w *walkers) compare() {
	for _, op := range w.lists {
		list, whole := op.ID, w.whole[op.ID]
		if len(whole) == 0 {
			w.r.draft.Note("no walk of %s completed: the list was not checked for completeness", list)
			continue
		}
		if !slices.ContainsFunc(whole, walked.showsRows) {
			w.r.draft.Note("%s has no rows to walk", list)
			continue
		}
		slices.SortFunc(whole, func(a, b walked) int { return a.began.Compare(b.began) })
		shown := shownBy(whole)
		compared := false
		for i, one := range whole {
			if slices.ContainsFunc(whole, one.after) && slices.ContainsFunc(whole, one.before) {
				compared = true
				if missing, leftOut := shown.missingFrom(one); leftOut {
					w.fault("PAGE-WALK-COMPLETE", one, fmt.Sprintf("the row %s, which an earlier and a later walk returned", missing), "the row is missing")
				}
			}
			if i > 0 && spec.Has(spec.Pair{Requirement: "PAGE-WALK-SEQUENCE", Operation: one.op.ID}) {
				if swap, differs := paging.Disorder(whole[0].Walk, one.Walk); differs {
					w.fault("PAGE-WALK-SEQUENCE", one, fmt.Sprintf("the row %s at %s, as in an earlier walk", swap.Want, swap.Actual), "another row")
				}
			}
		}
		if !compared {
			w.r.draft.Note("walks of %s were not checked for missing rows: none of the %d completed walks had one before and one after it (run longer: --duration)", list, len(whole))
		}
	}
}

// anyWhole reports whether any walk completed and returned a row.
func (w *walkers) anyWhole() bool {
	for _, whole := range w.whole {
		if slices.ContainsFunc(whole, walked.showsRows) {
			return true
		}
	}
	return false
}

func (one walked) showsRows() bool { return len(one.Rows()) > 0 }

// after and before report whether the walk began after the other ended, or
// ended before the other began. A row in both was there all the time between,
// whatever others do to the list.
func (one walked) after(other walked) bool  { return !other.ended.After(one.began) }
func (one walked) before(other walked) bool { return !other.began.Before(one.ended) }

// shownRows holds the rows of all walks of a list. Comparing every pair of
// walks would take quadratic time.
type shownRows struct {
	rows []string // in the order of first appearance
	seen map[string]seenBetween
}

// seenBetween holds when the first walk with a row ended and when the last one
// began.
type seenBetween struct{ firstEnded, lastBegan time.Time }

func shownBy(walks []walked) shownRows {
	s := shownRows{seen: map[string]seenBetween{}}
	for _, one := range walks {
		for _, page := range one.Pages {
			for _, row := range page.Rows {
				span, known := s.seen[row.Key]
				if !known {
					s.rows = append(s.rows, row.Key)
					span = seenBetween{one.ended, one.began}
				}
				if one.ended.Before(span.firstEnded) {
					span.firstEnded = one.ended
				}
				if one.began.After(span.lastBegan) {
					span.lastBegan = one.began
				}
				s.seen[row.Key] = span
			}
		}
	}
	return s
}

// missingFrom returns the first row that an earlier and a later walk returned
// and this one did not.
func (s shownRows) missingFrom(one walked) (row string, leftOut bool) {
	here := one.Keys()
	for _, row := range s.rows {
		if span := s.seen[row]; here[row] == 0 && !span.firstEnded.After(one.began) && !span.lastBegan.Before(one.ended) {
			return row, true
		}
	}
	return "", false
}

// ends checks a single walk.
func (w *walkers) ends(one walked) {
	switch one.End {
	case paging.CursorRepeated, paging.NoNewRows, paging.Capped:
		w.fault("PAGE-WALK-ENDS", one, "a walk that ends", string(one.End))
	}
	if repeats := one.Repeats(); len(repeats) > 0 {
		w.fault("PAGE-WALK-ONCE", one, "each row once", fmt.Sprintf("%d rows more than once, the first at %s and %s", len(repeats), repeats[0].First, repeats[0].Again))
	}
}

// fault records a violation that only whole walks show.
func (w *walkers) fault(requirement string, one walked, expected, actual string) {
	w.mu.Lock()
	w.out.Faults++
	w.mu.Unlock()
	w.r.found(spec.Pair{Requirement: requirement, Operation: one.op.ID}, reports.Violation{
		Pointer: "/items", Expected: redact.Process.Text(expected), Actual: redact.Process.Text(actual), Curl: one.last.Curl()})
}
