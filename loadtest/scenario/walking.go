package scenario

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"outreach.example/conformance/client"
	"outreach.example/conformance/judge"
	"outreach.example/conformance/loadtest/generate"
	"outreach.example/conformance/loadtest/measure"
	"outreach.example/conformance/reports"
	"outreach.example/conformance/reports/load"
	"outreach.example/conformance/spec"
	"outreach.example/conformance/walk"
)

// errNoPage ends a walk at an answer that is no page, errSpent one for which the
// budget does not suffice.
var (
	errNoPage = errors.New("not a page")
	errSpent  = errors.New("the budget is spent")
)

// pageOf is the page in an answer, of which only the rows' keys are kept.
func pageOf(ex client.Exchange, s judge.Sighting, limit int) (walk.Page, error) {
	if ex.Status != http.StatusOK || s.Err != nil {
		return walk.Page{}, fmt.Errorf("%w: the target answered %d", errNoPage, ex.Status)
	}
	page := walk.Page{Limit: limit}
	for _, row := range s.Rows {
		page.Rows = append(page.Rows, walk.Row{Key: rowKey(row)})
	}
	body, _ := s.Body.(map[string]any)
	page.Cursor, _ = body["next_starting_after"].(string)
	return page, nil
}

// rowKey recognises a row: by its id, or by all it says where it shows none.
func rowKey(row map[string]any) string {
	if id, ok := row["id"].(string); ok {
		return strings.ToLower(id)
	}
	encoded, err := json.Marshal(row)
	if err != nil {
		panic(fmt.Sprintf("scenario: a decoded row cannot be written: %v", err))
	}
	return string(encoded)
}

// Bounds of the walks: pages of one, and walks of one list that are compared.
const (
	mostPagesOfWalk = 100_000
	mostWalksKept   = 64
)

// walked is one walk that has ended.
type walked struct {
	op    spec.Operation
	began time.Time
	walk.Walk
	last client.Exchange // the answer that ended it
}

// walkers is the clients of a walk scenario at work.
type walkers struct {
	r    *runner
	plan measure.Plan

	mu       sync.Mutex
	recorder *measure.Recorder
	seq      uint64
	done     []walked
	out      load.Walks
	broke    bool // the budget
}

// walk lets many clients walk whole lists. Each page waits for the one before,
// so the loop is closed: the figures say what walkers experience, not what the
// target holds at a rate.
func (r *runner) walk() error {
	s := r.scenario
	api, err := r.env.Bare(s.Clients, "")
	if err != nil {
		return err
	}
	defer api.Close()
	var lists []spec.Operation
	for _, share := range s.operations() {
		if _, known := cursorParameter(r.env.Profile, share.op); !known {
			r.note("%s is left out: the profile does not name the parameter starting_after", share.op.ID)
			continue
		}
		lists = append(lists, share.op)
	}
	if len(lists) == 0 {
		return errors.New("there is no list to walk")
	}
	limits := s.Limits
	if len(limits) == 0 {
		limits = []int{0}
	}
	start := time.Now()
	plan := measure.Plan{Name: "walk", Duration: s.Duration, Start: start.Round(0), ClosedLoop: true}
	w := &walkers{r: r, plan: plan, recorder: measure.NewRecorder(plan), out: load.Walks{Clients: s.Clients}}
	r.announceStep(plan.Name)
	stop := r.showing(w.live)
	var clients sync.WaitGroup
	for c := range s.Clients {
		clients.Go(func() {
			// The clients share one sequence of walks, so that every list is soon
			// walked in pages of every size.
			for n := c; time.Since(start) < s.Duration && r.ctx.Err() == nil && w.maySend(0); n += s.Clients {
				w.one(api, lists[n%len(lists)], limits[n/len(lists)%len(limits)], start)
			}
		})
	}
	clients.Wait()
	stop()
	c := r.judged(w.recorder.Recording())
	r.keep(c)
	addTraffic(&r.traffic, c.recording)
	w.compare()
	r.out.Walks = &w.out
	if w.broke {
		r.void("the budget of %d requests does not suffice: the walks broke off (load.budget)", r.env.Budget)
	}
	return context.Cause(r.ctx)
}

// one walks a list once.
func (w *walkers) one(api *client.Client, op spec.Operation, limit int, start time.Time) {
	began := walked{op: op, began: time.Now()}
	began.Walk = walk.Run(w.r.ctx, func(ctx context.Context, cursor string, limit int) (walk.Page, error) {
		request := w.r.pageRequest(op, cursor, limit)
		if !w.maySend(1) {
			return walk.Page{}, errSpent
		}
		ex := api.Do(ctx, request)
		began.last = ex
		w.add(op, limit, ex, start)
		if ex.Err != nil {
			return walk.Page{}, ex.Err
		}
		asked := judge.Asked{Operation: op, Valid: true, Owner: w.r.subjects.main.ID}
		return pageOf(ex, w.r.looked(asked, ex), limit)
	}, walk.Fixed(limit), mostPagesOfWalk)
	w.mu.Lock()
	defer w.mu.Unlock()
	if began.Complete() {
		w.out.Walks++
	}
	w.out.Pages += int64(len(began.Pages))
	for _, p := range began.Pages {
		w.out.Rows += int64(len(p.Rows))
	}
	w.done = append(w.done, began)
}

// maySend takes so many requests from the budget, if it still holds any.
func (w *walkers) maySend(requests int64) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.r.env.left() == 0 {
		w.broke = true
		return false
	}
	w.r.env.spent += requests
	return true
}

// add records one page.
func (w *walkers) add(op spec.Operation, limit int, ex client.Exchange, start time.Time) {
	if ex.Sent.IsZero() {
		return // the context ended before it was sent
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.r.env.spent += int64(ex.Throttled)
	sent := max(0, ex.Sent.Sub(start))
	w.recorder.Add(measure.Sample{Seq: w.seq, Label: fmt.Sprintf("%s limit=%d", op.ID, limit), Due: sent, Sent: sent, Done: sent + ex.Took,
		Status: ex.Status, Bytes: int64(len(ex.Body)), Failure: failureOf(ex)})
	w.seq++
}

// live is what there is to show of the walks.
func (w *walkers) live() generate.Live {
	at := time.Since(w.plan.Start)
	w.mu.Lock()
	defer w.mu.Unlock()
	return generate.Live{Phase: w.plan.Name, At: at, Duration: w.plan.Duration, Live: w.recorder.Live(at)}
}

// failureOf names why there is no whole answer.
func failureOf(ex client.Exchange) string {
	switch {
	case ex.Err == nil && !ex.Truncated:
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

// compare holds the walks against each other: what a single page cannot show.
func (w *walkers) compare() {
	byList := map[string][]walked{}
	for _, one := range w.done {
		byList[one.op.ID] = append(byList[one.op.ID], one)
	}
	for _, walks := range byList {
		slices.SortFunc(walks, func(a, b walked) int { return a.began.Compare(b.began) })
		whole := slices.DeleteFunc(slices.Clone(walks), func(one walked) bool { return !one.Complete() })
		for _, one := range walks {
			w.ends(one)
		}
		whole = whole[:min(len(whole), mostWalksKept)]
		plain := make([]walk.Walk, len(whole))
		for i, one := range whole {
			plain[i] = one.Walk
		}
		for i, one := range whole {
			if missing := walk.Missing(plain, i); len(missing) > 0 {
				w.fault("PAGE-WALK-COMPLETE", one, fmt.Sprintf("the row %s, which walks before and after it show", missing[0].Key), "no such row")
			}
			if i > 0 && spec.Has(spec.Pair{Requirement: "PAGE-WALK-SEQUENCE", Operation: one.op.ID}) {
				if swap, differs := walk.Disorder(plain[0], one.Walk); differs {
					w.fault("PAGE-WALK-SEQUENCE", one, fmt.Sprintf("the row %s at %s, as an earlier walk shows it", swap.Want, swap.Actual), "another row")
				}
			}
		}
	}
}

// ends judges a walk by itself.
func (w *walkers) ends(one walked) {
	switch one.End {
	case walk.CursorRepeated, walk.NoNewRows, walk.Capped:
		w.fault("PAGE-WALK-ENDS", one, "a walk that ends", string(one.End))
	}
	if repeats := one.Repeats(); len(repeats) > 0 {
		w.fault("PAGE-WALK-ONCE", one, "each row once", fmt.Sprintf("%d rows more than once, the first at %s and %s", len(repeats), repeats[0].First, repeats[0].Again))
	}
}

// fault enters a violation that only whole walks show.
func (w *walkers) fault(requirement string, one walked, expected, actual string) {
	w.out.Faults++
	w.r.found(spec.Pair{Requirement: requirement, Operation: one.op.ID}, reports.Violation{
		Pointer: "/items", Expected: w.r.redact(expected), Actual: w.r.redact(actual), Curl: one.last.Curl()})
}
