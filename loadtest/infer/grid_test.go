package infer

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"outreach.example/conformance/fixtures/refserver/limiter"
	"outreach.example/conformance/internal/testbed"
	"outreach.example/conformance/loadtest/infer/family"
	"outreach.example/conformance/reports/load"
)

// gridKinds are the limiters of the grid, as limiter.Parse reads them.
var gridKinds = []string{
	"token-bucket:%d/%s", "fixed-window:%d/%s", "fixed-window:%d/%s:from-first", "sliding-log:%d/%s", "sliding-counter:%d/%s",
	"token-bucket:%d/%s,count-refused", "sliding-log:%d/%s,count-refused", "sliding-counter:%d/%s,count-refused",
}

// gridCase is one limiter and one network.
type gridCase struct {
	kind   string
	limit  int
	window time.Duration
	trip   time.Duration
	seed   uint64
}

func (c gridCase) config(t testing.TB) limiter.Config {
	t.Helper()
	scopes := []limiter.Scope{limiter.PerWorkspace, limiter.PerKey, limiter.PerOperation, limiter.PerAddress}
	config, err := limiter.Parse(fmt.Sprintf(c.kind, c.limit, c.window) + ",headers,scope=" + string(scopes[c.seed%4]))
	if err != nil {
		t.Fatal(err)
	}
	return config
}

func (c gridCase) String() string {
	return fmt.Sprintf(c.kind+" at %s seed %d", c.limit, c.window, c.trip, c.seed)
}

// grid is every kind with limits, windows and round trips.
func grid(limits []int, windows, trips []time.Duration) []gridCase {
	var cases []gridCase
	for _, kind := range gridKinds {
		for _, limit := range limits {
			for _, window := range windows {
				for _, trip := range trips {
					cases = append(cases, gridCase{kind, limit, window, trip, uint64(len(cases))})
				}
			}
		}
	}
	return cases
}

// score is how a case went.
type score struct {
	gridCase
	right, limit, window, counting, scope bool // known and true
	wrong                                 []string
	requests, windows                     float64 // in limits and windows
	took                                  time.Duration
	result                                load.Limiter
}

// kindOf is what a layer is to be called.
func kindOf(l limiter.Layer) string {
	if l.FromFirst {
		return string(family.First)
	}
	return map[limiter.Kind]string{limiter.TokenBucket: string(family.Bucket), limiter.FixedWindow: string(family.Aligned), limiter.SlidingLog: string(family.Sliding), limiter.SlidingCounter: string(family.Counter)}[l.Kind]
}

// judge compares a result with the truth.
func judge(c gridCase, config limiter.Config, r load.Limiter) score {
	s := score{gridCase: c, result: r}
	if r.Verdict.Value != RateLimited || len(r.Layers) != 1 {
		if r.Verdict.Value != "" {
			s.wrong = append(s.wrong, "verdict "+r.Verdict.Value)
		}
		return s
	}
	layer := r.Layers[0]
	check := func(what string, known, true_ bool) bool {
		if known && !true_ {
			s.wrong = append(s.wrong, what)
		}
		return known && true_
	}
	kind := kindOf(config.Layers[0])
	s.right = check("kind "+layer.Kind.Value, layer.Kind.Value != "", layer.Kind.Value == kind)
	s.limit = check(fmt.Sprint("limit ", layer.Limit.Value), layer.Limit.Known, layer.Limit.Value == float64(c.limit))
	true_ := c.window.Seconds()
	check(fmt.Sprintf("window in %g..%g", layer.Window.Low, layer.Window.High), layer.Window.Known, layer.Window.Low <= true_ && true_ <= layer.Window.High)
	s.window = layer.Window.Known && math.Abs(layer.Window.Value/true_-1) <= 0.01
	counting := "no"
	if config.CountRefused {
		counting = "yes"
	}
	s.counting = check("counts refused "+layer.CountsRefused.Value, layer.CountsRefused.Value != "", layer.CountsRefused.Value == counting) || kind == string(family.Aligned) || kind == string(family.First)
	s.scope = check("scope "+r.Scope.Value, r.Scope.Value != "", r.Scope.Value == string(config.Scope))
	check("retry-after "+r.RetryAfter.Present.Value, r.RetryAfter.Present.Value != "", r.RetryAfter.Present.Value == "always")
	check("a kept promise is called a lie", r.RetryAfter.Honest.Known, r.RetryAfter.Honest.Value == 1)
	check("header limit", r.Headers.Limit.Value != "", r.Headers.Limit.Value == Agrees)
	check("header remaining", r.Headers.Remaining.Value != "", r.Headers.Remaining.Value == Agrees)
	check("header reset", r.Headers.Reset.Value != "", r.Headers.Reset.Value == Agrees)
	s.requests = float64(r.Inference.Requests) / float64(c.limit)
	s.windows = r.Inference.Seconds / true_
	return s
}

// runGrid runs the cases on all processors.
func runGrid(t *testing.T, cases []gridCase, change func(*world)) []score {
	t.Helper()
	scores := make([]score, len(cases))
	var wait sync.WaitGroup
	slots := make(chan struct{}, runtime.GOMAXPROCS(0))
	for i, c := range cases {
		config := c.config(t)
		wait.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			w := newWorld(c.seed, config, c.trip)
			if change != nil {
				change(w)
			}
			began := time.Now()
			result, err := Run(context.Background(), w.wire(Others()...), Options{MaxTime: 400 * c.window, MaxRequests: 20_000, Sustain: 4 * c.window, Seed: c.seed})
			if err != nil {
				t.Errorf("%s: %v", c, err)
			}
			scores[i] = judge(c, config, result)
			scores[i].took = time.Since(began)
		})
	}
	wait.Wait()
	return scores
}

// table prints the scores by round trip.
func table(t *testing.T, scores []score) {
	t.Helper()
	t.Logf("%-8s %-10s %5s %6s %6s %7s %9s %6s %6s %10s %10s", "trip", "kind", "cases", "right", "limit", "window", "counting", "scope", "wrong", "requests/L", "windows")
	t.Log("requests in limits and windows of probing: nine in ten took at most these; half of them the last figure")
	rows := map[string][]score{}
	var order []string
	for _, s := range scores {
		for _, row := range []string{fmt.Sprintf("%-8s %-10s", s.trip, "all"), fmt.Sprintf("%-8s %.24s", "all", s.kind+"                        "), fmt.Sprintf("%-8s %-10s", "all", "all")} {
			if rows[row] == nil {
				order = append(order, row)
			}
			rows[row] = append(rows[row], s)
		}
	}
	slices.Sort(order)
	for _, name := range order {
		row := rows[name]
		if len(row) < 8 {
			continue // a share of so few says nothing
		}
		n := func(f func(score) bool) (n int) {
			for _, s := range row {
				if f(s) {
					n++
				}
			}
			return n
		}
		t.Logf("%s %5d %6d %6d %7d %9d %6d %6d %10.1f %10.1f %6.1f", name, len(row),
			n(func(s score) bool { return s.right }), n(func(s score) bool { return s.limit }), n(func(s score) bool { return s.window }),
			n(func(s score) bool { return s.counting }), n(func(s score) bool { return s.scope }), n(func(s score) bool { return len(s.wrong) > 0 }),
			quantile(row, 0.9, func(s score) float64 { return s.requests }), quantile(row, 0.9, func(s score) float64 { return s.windows }), quantile(row, 0.5, func(s score) float64 { return s.windows }))
	}
}

func quantile(scores []score, q float64, of func(score) float64) float64 {
	var values []float64
	for _, s := range scores {
		values = append(values, of(s))
	}
	slices.Sort(values)
	return values[int(q*float64(len(values)-1))]
}

// goals are what a set of cases must reach, as shares.
type goals struct{ right, limit, window, counting, scope, wrong float64 }

func (g goals) check(t *testing.T, scores []score) {
	t.Helper()
	table(t, scores)
	got := map[string]int{}
	for _, s := range scores {
		for what, ok := range map[string]bool{"right": s.right, "limit": s.limit, "window": s.window, "counting": s.counting, "scope": s.scope, "wrong": len(s.wrong) > 0} {
			if ok {
				got[what]++
			}
		}
		if len(s.wrong) > 0 || !s.right || !s.limit {
			l := load.Layer{}
			if len(s.result.Layers) > 0 {
				l = s.result.Layers[0]
			}
			t.Logf("%s: wrong %v; kind %s%v limit %g..%g window %g..%g, %.1f L, %.1f windows %s", s, s.wrong, l.Kind.Value, l.Kind.OneOf,
				l.Limit.Low, l.Limit.High, l.Window.Low, l.Window.High, s.requests, s.windows, s.result.Inference.Stopped)
		}
	}
	share := func(what string) float64 { return float64(got[what]) / float64(len(scores)) }
	for what, least := range map[string]float64{"right": g.right, "limit": g.limit, "window": g.window, "counting": g.counting, "scope": g.scope} {
		if share(what) < least {
			t.Errorf("%s: %d of %d, want %g %%", what, got[what], len(scores), 100*least)
		}
	}
	if share("wrong") > g.wrong {
		t.Errorf("wrong: %d of %d, want at most %g %%", got["wrong"], len(scores), 100*g.wrong)
	}
}

// TestGrid holds the goals at round trips up to 5 ms.
func TestGrid(t *testing.T) {
	limits, windows, trips := []int{10, 37, 100}, []time.Duration{time.Second, time.Minute}, []time.Duration{300 * time.Microsecond, time.Millisecond, 5 * time.Millisecond}
	if !testbed.Slow() {
		limits, windows, trips = limits[:1], windows[:1], trips[:1]
	}
	scores := runGrid(t, grid(limits, windows, trips), nil)
	goals{right: 0.9, limit: 0.95, window: 0.95, counting: 0.9, scope: 0.9, wrong: 0.01}.check(t, scores)
	if within := shareWithin(scores); within < 0.9 {
		t.Errorf("%.1f %% of them within the budgets, want 90 %%", 100*within)
	}
}

// The budgets that nine of ten limiters are to be understood within: requests
// in limits, and windows.
const (
	mostLimits  = 25
	mostWindows = 10
)

// shareWithin is the share of those that are understood rightly within both budgets.
func shareWithin(scores []score) float64 {
	within := 0
	for _, s := range scores {
		if s.right && s.limit && s.window && s.counting && len(s.wrong) == 0 && s.requests <= mostLimits && s.windows <= mostWindows {
			within++
		}
	}
	return float64(within) / float64(len(scores))
}

// TestRandomLimiters is what is promised of any limiter, with limits and
// windows that no grid has. It prints how many of each kind were understood,
// and what the slowest took; the last such table is:
func TestRandomLimiters(t *testing.T) {
	testbed.SkipUnlessSlow(t)
	scores := runGrid(t, randomLimiters(200, 1), nil)
	goals{right: 0.9, limit: 0.95, window: 0.9, counting: 0.9, scope: 0, wrong: 0.01}.check(t, scores)
	t.Logf("%-44s %6s  %s", "understood within both budgets", "share", "requests in limits and windows: half and nine in ten took at most")
	for _, kind := range append(slices.Clone(gridKinds), "all") {
		row := slices.DeleteFunc(slices.Clone(scores), func(s score) bool { return kind != "all" && s.kind != kind })
		requests, windows := func(s score) float64 { return s.requests }, func(s score) float64 { return s.windows }
		t.Logf("%-44s %5.1f%%  %.1f %.1f  %.1f %.1f", kind, 100*shareWithin(row), quantile(row, 0.5, requests), quantile(row, 0.9, requests), quantile(row, 0.5, windows), quantile(row, 0.9, windows))
	}
	if within := shareWithin(scores); within < 0.9 {
		t.Errorf("%.1f %% of them within the budgets, want 90 %%", 100*within)
	}
}

// randomLimiters are limits of 5 to 200 in windows of 0.5 to 120 seconds at
// round trips of 0.3 to 5 ms, as many small ones as large ones.
func randomLimiters(n int, seed uint64) []gridCase {
	random := rand.New(rand.NewPCG(seed, 0x72616e64))
	between := func(low, high float64) float64 { return low * math.Pow(high/low, random.Float64()) }
	cases := make([]gridCase, n)
	for i := range cases {
		cases[i] = gridCase{
			kind: gridKinds[i%len(gridKinds)], limit: int(between(5, 201)), seed: random.Uint64(),
			window: time.Duration(between(500, 120_000)) * time.Millisecond,
			trip:   time.Duration(between(300, 5000)) * time.Microsecond,
		}
	}
	return cases
}

// TestGridFar: far away more cannot be told; it is not told wrong.
func TestGridFar(t *testing.T) {
	testbed.SkipUnlessSlow(t)
	scores := runGrid(t, grid([]int{10, 37}, []time.Duration{time.Second, time.Minute}, []time.Duration{20 * time.Millisecond, 100 * time.Millisecond}), nil)
	goals{right: 0.8, limit: 0.8, window: 0.7, counting: 0.8, scope: 0.8, wrong: 0.01}.check(t, scores)
}

// TestGridNoise: round trips that double by chance, and now and then take ten
// times as long, as on a busy machine.
func TestGridNoise(t *testing.T) {
	testbed.SkipUnlessSlow(t)
	scores := runGrid(t, grid([]int{10, 37}, []time.Duration{time.Second, 10 * time.Second}, []time.Duration{time.Millisecond}), func(w *world) {
		w.jitter, w.outlier = 1, 0.02
	})
	goals{right: 0.9, limit: 0.9, window: 0.9, counting: 0.9, scope: 0.9, wrong: 0.01}.check(t, scores)
}
