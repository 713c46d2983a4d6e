package infer

import (
	"context"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/fixtures/refserver"
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
			result, err := Run(context.Background(), w.wire(Others()...), Options{MaxTime: 400 * c.window, MaxRequests: 20_000, Sustain: 4 * c.window, Seed: c.seed})
			if err != nil {
				t.Errorf("%s: %v", c, err)
			}
			scores[i] = judge(c, config, result)
		})
	}
	wait.Wait()
	return scores
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
// and what the slowest took.
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

func mustParse(t testing.TB, text string) limiter.Config {
	t.Helper()
	config, err := limiter.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return config
}

// layered is a limiter with two layers, and a network to it.
type layered struct {
	config limiter.Config
	trip   time.Duration
	seed   uint64
}

func (c layered) run(t *testing.T) load.Limiter {
	t.Helper()
	slow := c.config.Layers[1]
	w := newWorld(c.seed, c.config, c.trip)
	r, err := Run(context.Background(), w.wire(Others()...), Options{MaxTime: c.windows() * slow.Per, MaxRequests: 60_000, Sustain: 2 * slow.Per, Seed: c.seed})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// windows is how many windows of the slow layer the probing may last. Where
// refused requests count, much is computed and little told.
func (c layered) windows() time.Duration {
	if c.config.CountRefused {
		return 8
	}
	return 60
}

// judge tells whether both layers are told, and what is said that is not so.
func (c layered) judge(r load.Limiter) (told bool, wrong []string) {
	told = len(r.Layers) == 2
	for i, l := range r.Layers {
		is := c.config.Layers[i]
		kind, window := kindOf(is), is.Per.Seconds()
		told = told && l.Kind.Value != "" && l.Limit.Known && l.Window.Known && math.Abs(l.Window.Value/window-1) <= 0.01
		if l.Kind.Value != "" && l.Kind.Value != kind {
			wrong = append(wrong, fmt.Sprintf("layer %d is called %s", i, l.Kind.Value))
		}
		if l.Limit.Known && l.Limit.Value != float64(is.Limit) {
			wrong = append(wrong, fmt.Sprintf("the limit of layer %d is said to be %g", i, l.Limit.Value))
		}
		if l.Window.Known && (l.Window.Low > window || l.Window.High < window) {
			wrong = append(wrong, fmt.Sprintf("the window of layer %d is said to lie in %g to %g", i, l.Window.Low, l.Window.High))
		}
	}
	return told, wrong
}

// TestRandomLayers is what is promised of any two layers whose slow one lets half
// as many again pass as it takes to understand the fast one: both are told of nine in
// ten such pairs. Of none is anything said that is not so; but where refused requests count in both,
// and the slow one shuts too early, that is printed and not promised.
func TestRandomLayers(t *testing.T) {
	testbed.SkipUnlessSlow(t)
	type outcome struct {
		roomy, told bool
		wrong       []string
	}
	cases := randomLayers(t, 32, 2)
	outcomes := make([]outcome, len(cases))
	var wait sync.WaitGroup
	slots := make(chan struct{}, runtime.GOMAXPROCS(0))
	for i, c := range cases {
		wait.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			r := c.run(t)
			o := &outcomes[i]
			o.told, o.wrong = c.judge(r)
			slow := c.config.Layers[1]
			o.roomy = 2*slow.Limit >= 3*int(r.Inference.Requests)
		})
	}
	wait.Wait()
	roomy, told, wrong := 0, 0, 0
	for i, o := range outcomes {
		if len(o.wrong) > 0 {
			wrong++
			say := t.Errorf
			if cases[i].config.CountRefused && !o.roomy {
				say = t.Logf
			}
			say("%+v at %s: %q", cases[i].config, cases[i].trip, o.wrong)
		}
		if !o.roomy || cases[i].config.CountRefused {
			continue
		}
		roomy++
		if !o.told {
			t.Logf("%+v at %s: not told", cases[i].config, cases[i].trip)
			continue
		}
		told++
	}
	if roomy < 5 || float64(told+1) < 0.9*float64(roomy) { // of so few, chance may miss one more
		t.Errorf("both layers are told of %d of %d roomy ones", told, roomy)
	}
	t.Logf("of %d pairs of layers: %d wrong; both told of %d of %d roomy ones", len(cases), wrong, told, roomy)
}

// randomLayers are fast layers of 4 to 60 requests in 0.5 to 3 seconds, with slow
// ones of 20 to 120 such windows that let a tenth to seven tenths of it pass.
func randomLayers(t *testing.T, n int, seed uint64) []layered {
	random := rand.New(rand.NewPCG(seed, 0x6c6179))
	between := func(low, high float64) float64 { return low * math.Pow(high/low, random.Float64()) }
	kinds := gridKinds[:5]
	cases := make([]layered, n)
	for i := range cases {
		fast, limit := time.Duration(between(500, 3000))*time.Millisecond, int(between(4, 60))
		slow := time.Duration(between(20, 120) * float64(fast)).Round(10 * time.Millisecond)
		slowLimit := max(2*limit, int(float64(limit)*slow.Seconds()/fast.Seconds()*between(0.1, 0.7)))
		text := fmt.Sprintf(kinds[random.IntN(5)], limit, fast) + "," + fmt.Sprintf(kinds[random.IntN(5)], slowLimit, slow)
		if i%8 == 7 {
			text += ",count-refused"
		}
		cases[i] = layered{config: mustParse(t, text), trip: time.Duration(between(300, 5000)) * time.Microsecond, seed: uint64(i)}
	}
	return cases
}

// real is a wire to a reference server over loopback.
func real(t *testing.T, config limiter.Config) Wire {
	t.Helper()
	data, err := dataset.New(dataset.Options{Seed: 1, Rows: 3})
	if err != nil {
		t.Fatal(err)
	}
	server, err := refserver.New(data, refserver.Options{Limiters: map[string]limiter.Config{refserver.AnyRole: config}})
	if err != nil {
		t.Fatal(err)
	}
	front := httptest.NewServer(server.Handler())
	t.Cleanup(front.Close)
	tokens := map[string]string{}
	for _, key := range data.Keys {
		tokens[key.Name] = key.Token
	}
	usual, other := clientFrom(t, ""), clientFrom(t, "127.0.0.2")
	send := func(ctx context.Context, s Subject) Observation {
		client, key, path := usual, dataset.Main, "/lead-labels?limit=1"
		switch s {
		case OtherKey:
			key = dataset.Main + "-2"
		case OtherWorkspace:
			key = dataset.Second
		case OtherOperation:
			path = "/lead-lists?limit=1"
		case OtherAddress:
			client = other
		}
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, front.URL+refserver.BasePath+path, nil)
		if err != nil {
			return Observation{Subject: s, Failure: err.Error()}
		}
		request.Header.Set("Authorization", "Bearer "+tokens[key])
		o := Observation{Subject: s, Sent: time.Now()}
		response, err := client.Do(request)
		o.Received = time.Now()
		if err != nil {
			o.Failure = "no answer"
			return o
		}
		_, _ = io.Copy(io.Discard, response.Body)
		_ = response.Body.Close()
		o.Status, o.Header = response.StatusCode, response.Header
		return o
	}
	return Wire{
		Now: time.Now, Subjects: []Subject{OtherKey, OtherWorkspace, OtherOperation, OtherAddress},
		Sleep: func(ctx context.Context, d time.Duration) error {
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-time.After(d):
				return nil
			}
		},
		Send: func(ctx context.Context, subjects []Subject) []Observation {
			seen := make([]Observation, len(subjects))
			var wait sync.WaitGroup
			for i, subject := range subjects {
				wait.Go(func() { seen[i] = send(ctx, subject) })
			}
			wait.Wait()
			return seen
		},
	}
}

// clientFrom sends from a local address.
func clientFrom(t *testing.T, address string) *http.Client {
	dialer := &net.Dialer{}
	if address != "" {
		dialer.LocalAddr = &net.TCPAddr{IP: net.ParseIP(address)}
	}
	transport := &http.Transport{DialContext: dialer.DialContext, MaxIdleConnsPerHost: 100}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}

// TestReal infers limiters of the reference server on the wall clock. On a busy
// machine the answer may be "cannot tell"; it must not be wrong.
func TestReal(t *testing.T) {
	testbed.SkipUnlessSlow(t)
	for i, tc := range []gridCase{
		{kind: "token-bucket:%d/%s", limit: 15, window: 200 * time.Millisecond},
		{kind: "fixed-window:%d/%s", limit: 12, window: 200 * time.Millisecond},
		{kind: "sliding-log:%d/%s", limit: 10, window: 200 * time.Millisecond},
		{kind: "fixed-window:%d/%s:from-first", limit: 20, window: 200 * time.Millisecond},
	} {
		tc.seed = uint64(i)
		t.Run(tc.String(), func(t *testing.T) {
			t.Parallel()
			config := tc.config(t)
			r, err := Run(t.Context(), real(t, config), Options{MaxTime: 12 * time.Second, Sustain: 500 * time.Millisecond, Seed: tc.seed})
			if err != nil {
				t.Fatal(err)
			}
			s := judge(tc, config, r)
			l := r.Layers[0]
			t.Logf("kind %s%v limit %g..%g window %g..%g counts %q scope %q (%s) recovery %g honest %g; %d requests, %.1f windows; round trip %g s", l.Kind.Value, l.Kind.OneOf, l.Limit.Low, l.Limit.High,
				l.Window.Low, l.Window.High, l.CountsRefused.Value, r.Scope.Value, r.Scope.Why, r.Recovery.Value, r.RetryAfter.Honest.Value, r.Inference.Requests, s.windows, r.RoundTrip.Value)
			if len(s.wrong) > 0 {
				t.Errorf("wrong: %v", s.wrong)
			}
		})
	}
}
