package runner

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"outreach.example/conformance/internal/client"
	"outreach.example/conformance/internal/paging"
	"outreach.example/conformance/internal/redact"
	"outreach.example/conformance/loadtest/measure"
	"outreach.example/conformance/loadtest/prepare"
	"outreach.example/conformance/loadtest/scenario"
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

// walkGrace is how long after the duration walks may still go on. A list of a million rows
// would keep the scenario busy for much longer.
const walkGrace = 45 * time.Second

// errLate ends a walk that we do not read to its end.
var errLate = errors.New("the time is up")

// retryPause is how long a client waits after a request without an answer
// before it begins a new walk: refused connections fail very fast.
const retryPause = 100 * time.Millisecond

// walked is one finished walk.
type walked struct {
	op           spec.Operation
	began, ended time.Time
	paging.Walk
	last client.Exchange // the last answer, without its body
}

// walkers is the state of the clients of a walk scenario.
type walkers struct {
	*direct
	r     *runner
	lists []spec.Operation
	ctx   context.Context // ends with the run's context, or when the walks are aborted
	abort context.CancelCauseFunc

	mu    sync.Mutex
	whole map[string][]walked // by list, the first completed walks
	out   load.Walks
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
	w := &walkers{r: r, whole: map[string][]walked{}, out: load.Walks{Clients: s.Clients}}
	for _, op := range r.mix.Operations() {
		if _, known := r.env.Profile.CursorParameter(op); !known {
			r.draft.Note("%s is skipped: the profile does not name the parameter starting_after", op.ID)
			continue
		}
		w.lists = append(w.lists, op)
	}
	if len(w.lists) == 0 {
		return errors.New("no list to walk")
	}
	w.ctx, w.abort = context.WithCancelCause(r.ctx)
	defer w.abort(nil)
	w.direct = r.direct("walk", time.Now())
	stop := w.feed(r.env.Live)
	limits := s.PageSizes()
	var clients sync.WaitGroup
	for c := range s.Clients {
		clients.Go(func() {
			// The clients share one sequence of walks, so every list is soon
			// walked in pages of every size.
			for n := c; time.Since(w.start) < s.Duration && w.ctx.Err() == nil; n += s.Clients {
				if !w.one(api, w.lists[n%len(w.lists)], limits[n/len(w.lists)%len(limits)]) {
					_ = client.Sleep(w.ctx, retryPause)
				}
			}
		})
	}
	clients.Wait()
	stop()
	c := w.recorder.Recording()
	r.draft.Count(c)
	r.draft.NoteFirst(r.outages(c.Name, w.monitor.Outages())...)
	w.compare()
	r.draft.Result.Walks = &w.out
	if w.ctx.Err() != nil {
		how := "aborted"
		if r.ctx.Err() != nil {
			how = "interrupted"
		}
		err := fmt.Errorf("the walks were %s: %w", how, context.Cause(w.ctx))
		r.draft.Keep(c, err)
		return err
	}
	shown := slices.Concat(slices.Collect(maps.Values(w.whole))...)
	if !slices.ContainsFunc(shown, walked.showsRows) && c.Count(measure.Accepted) > 0 { // otherwise the lack of answers is the reason
		r.draft.Void("no walk completed and returned a row (%s)", cmp.Or(verdict.Endings(c), "lists are empty, or so long that walks need a longer --duration"))
	}
	r.draft.Keep(c, nil)
	return nil
}

// one walks a list once. It reports whether the last request was answered.
func (w *walkers) one(api *client.Client, op spec.Operation, limit int) bool {
	one := walked{op: op, began: time.Now()}
	one.Walk = paging.Run(w.r.ctx, func(ctx context.Context, cursor string, limit int) (paging.Page, error) {
		if time.Since(w.start) > w.r.scenario.Duration+walkGrace {
			return paging.Page{}, errLate
		}
		page, ex, err := w.r.page(ctx, api, op, cursor, limit)
		one.last = ex
		one.last.Body = nil // many walks are kept
		if dead := w.record(scenario.Label(op, limit), ex.Status, ex); dead != nil {
			w.abort(dead)
		}
		if errors.Is(ex.Err, prepare.ErrBudget) {
			w.abort(prepare.ErrBudget)
		}
		return page, err
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

// compare compares the walks with each other and finds what a single page
// cannot show.
func (w *walkers) compare() {
	for _, op := range w.lists {
		list, whole := op.ID, w.whole[op.ID]
		if len(whole) == 0 {
			w.r.draft.Note("no walk of %s completed: the list was not checked for completeness (if it is long, run longer: --duration)", list)
			continue
		}
		if !slices.ContainsFunc(whole, walked.showsRows) {
			w.r.draft.Note("%s has no rows to walk", list)
			continue
		}
		slices.SortFunc(whole, func(a, b walked) int { return a.began.Compare(b.began) })
		shown, all, compared := map[string]span{}, span{}, false
		for _, one := range whole {
			all = all.with(one)
			for _, row := range one.Rows() {
				shown[row.Key] = shown[row.Key].with(one)
			}
		}
		for i, one := range whole {
			if all.around(one) {
				compared = true
				here, missing := one.Keys(), ""
				for key, of := range shown {
					if here[key] == 0 && of.around(one) && (missing == "" || key < missing) {
						missing = key
					}
				}
				if missing != "" {
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

func (one walked) showsRows() bool { return len(one.Rows()) > 0 }

// span is when the first of some walks ended and when the last one began. What they all
// show was there all the time between, whatever others do to the list.
type span struct{ firstEnded, lastBegan time.Time }

// with returns the span with one walk more.
func (s span) with(one walked) span {
	if s.firstEnded.IsZero() || one.ended.Before(s.firstEnded) {
		s.firstEnded = one.ended
	}
	if one.began.After(s.lastBegan) {
		s.lastBegan = one.began
	}
	return s
}

// around reports whether one of the walks ended before this one began, and another began
// after it ended.
func (s span) around(one walked) bool {
	return !s.firstEnded.After(one.began) && !s.lastBegan.Before(one.ended)
}

// ends checks a single walk.
func (w *walkers) ends(one walked) {
	switch one.End {
	case paging.CursorRepeated, paging.NoNewRows: // one that is capped was only not read to its end
		w.fault("PAGE-WALK-ENDS", one, "a walk that ends", string(one.End))
	}
	nameless := func(r paging.Repeat) bool { return !one.Pages[r.Again.Page].Rows[r.Again.Item].ByID } // such rows may be alike
	if repeats := slices.DeleteFunc(one.Repeats(), nameless); len(repeats) > 0 {
		w.fault("PAGE-WALK-ONCE", one, "each row once", fmt.Sprintf("%d rows more than once, the first at %s and %s", len(repeats), repeats[0].First, repeats[0].Again))
	}
}

// fault records a violation that only whole walks show.
func (w *walkers) fault(requirement string, one walked, expected, actual string) {
	w.mu.Lock()
	w.out.Faults++
	w.mu.Unlock()
	w.r.ledger.Violated(spec.Pair{Requirement: requirement, Operation: one.op.ID}, reports.Violation{
		Pointer: "/items", Expected: redact.Process.Text(expected), Actual: redact.Process.Text(actual), Curl: one.last.Curl()})
}
