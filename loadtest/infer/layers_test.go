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
	"outreach.example/conformance/reports/load"
)

func mustParse(t testing.TB, text string) limiter.Config {
	t.Helper()
	config, err := limiter.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return config
}

// TestSeveralLayers_long: both layers are told, each with its own limit and window.
func TestSeveralLayers_long(t *testing.T) {
	for _, config := range []string{
		"token-bucket:20/1s,fixed-window:300/1m",
		"sliding-log:10/1s,fixed-window:200/1m:from-first",
		"fixed-window:10/1s,sliding-log:100/30s",
		"fixed-window:10/1s,sliding-counter:100/30s",
		"token-bucket:20/1s,token-bucket:200/1m",
		"sliding-log:20/1s,sliding-log:200/1m",
		"fixed-window:20/1s:from-first,fixed-window:200/1m",
		"token-bucket:50/1s,sliding-log:500/1m",
		"sliding-counter:20/1s,fixed-window:200/1m",
		"token-bucket:100/1s,fixed-window:1000/1m",
	} {
		t.Run(config, func(t *testing.T) {
			t.Parallel()
			c := layered{config: mustParse(t, config), trip: time.Millisecond, seed: 3}
			r := c.run(t)
			if told, wrong := c.judge(r); !told || len(wrong) > 0 {
				t.Errorf("wrong %q, layers %+v", wrong, r.Layers)
			}
		})
	}
}

// TestSlowLayerTooEarly_long: where the slow layer shuts before the fast one is
// understood, none of them is told, and it is said why.
func TestSlowLayerTooEarly_long(t *testing.T) {
	for _, config := range []string{"fixed-window:20/1s,fixed-window:60/10s", "fixed-window:20/1s,fixed-window:200/1m,count-refused"} {
		t.Run(config, func(t *testing.T) {
			c := layered{config: mustParse(t, config), trip: time.Millisecond, seed: 3}
			if r := c.run(t); len(r.Layers) != 1 || r.Layers[0].Kind.Value != "" || r.Layers[0].Limit.Known || r.Layers[0].Kind.Why == "" {
				t.Errorf("layers %+v, want one that is not told", r.Layers)
			}
		})
	}
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
// as many again pass as it takes to understand the fast one: both are told. Of
// none is anything said that is not so; but where refused requests count in both,
// and the slow one shuts too early, that is printed and not promised. So is what
// nine in ten took.
func TestRandomLayers(t *testing.T) {
	testbed.SkipUnlessSlow(t)
	type outcome struct {
		roomy, told       bool
		wrong             []string
		requests, windows float64
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
			o.requests, o.windows = float64(r.Total.Requests)/float64(slow.Limit), r.Total.Seconds/slow.Per.Seconds()
		})
	}
	wait.Wait()
	roomy, told, wrong := 0, 0, 0
	var requests, windows []float64
	for i, o := range outcomes {
		if len(o.wrong) > 0 {
			wrong++
			say := t.Errorf
			if cases[i].config.CountRefused && !o.roomy {
				say = t.Logf
			}
			say("%s at %s: %q", cases[i].config, cases[i].trip, o.wrong)
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
		requests, windows = append(requests, o.requests), append(windows, o.windows)
	}
	if roomy < 10 || float64(told) < 0.9*float64(roomy) {
		t.Errorf("both layers are told of %d of %d roomy ones", told, roomy)
		return
	}
	slices.Sort(requests)
	slices.Sort(windows)
	at := len(requests) * 9 / 10
	t.Logf("of %d pairs of layers: %d wrong; both told of %d of %d roomy ones, nine in ten within %.1f limits and %.1f windows of the slow one",
		len(cases), wrong, told, roomy, requests[at], windows[at])
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
