package infer

import (
	"context"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"outreach.example/conformance/fixtures/refserver/limiter"
	"outreach.example/conformance/loadtest/infer/family"
	"outreach.example/conformance/reports/load"
)

func run(t *testing.T, w *world, o Options, subjects ...Subject) load.Limiter {
	t.Helper()
	r, err := Run(context.Background(), w.wire(subjects...), o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestNoLimit(t *testing.T) {
	r := run(t, newWorld(1, limiter.Config{}, time.Millisecond), Options{MaxRequests: 600}, Others()...)
	if r.Verdict.Value != NoLimit || len(r.Layers) != 0 || r.Beyond == nil || r.Beyond.Burst < 250 {
		t.Errorf("verdict %+v, layers %v, beyond %+v", r.Verdict, r.Layers, r.Beyond)
	} else if !regexp.MustCompile(`^a burst of \d+ and [\d.,]+ requests/s for [\d.]+ s were accepted; a higher or slower limit would need more probing`).MatchString(r.Beyond.Why) {
		t.Errorf("what passed: %q", r.Beyond.Why)
	}
	if r.RetryAfter.Present.Value != "" || r.Scope.Value != "" || r.Recovery.Known {
		t.Errorf("something is said of a limiter that was not seen: %+v", r)
	}
}

// TestUselessRequests: without requests that pass nothing can be told.
func TestUselessRequests(t *testing.T) {
	w := newWorld(1, limiter.Config{}, time.Millisecond)
	wire := w.wire()
	wire.Send = func(ctx context.Context, subjects []Subject) []Observation {
		seen := w.send(ctx, subjects)
		for i := range seen {
			seen[i].Status = 404
		}
		return seen
	}
	r, err := Run(context.Background(), wire, Options{})
	if err != nil || r.Verdict.Value != "" || r.Verdict.Why == "" || strings.Contains(r.Verdict.Why, "cannot tell") || r.Total.Requests > 10 {
		t.Errorf("%+v after %d requests (%v)", r.Verdict, r.Total.Requests, err)
	}
}

// TestConcurrencyLimit: requests are refused only for being many at once.
func TestConcurrencyLimit(t *testing.T) {
	w := newWorld(1, limiter.Config{}, 2*time.Millisecond)
	w.jitter = 0.05
	var leaves []time.Time // of those that are being served
	w.decide = func(at time.Time, _ Subject) (bool, time.Duration) {
		busy := leaves[:0]
		for _, l := range leaves {
			if l.After(at) {
				busy = append(busy, l)
			}
		}
		leaves = busy
		if len(leaves) >= 20 {
			return false, 0
		}
		leaves = append(leaves, at.Add(time.Millisecond))
		return true, 0
	}
	r := run(t, w, Options{})
	if r.Verdict.Value != ConcurrencyLimited || r.Concurrency == nil || r.Concurrency.Low > 20 || r.Concurrency.High < 20 {
		t.Errorf("verdict %+v, concurrency %+v", r.Verdict, r.Concurrency)
	}
}

// TestQueue: excess requests are served one after the other.
func TestQueue(t *testing.T) {
	w := newWorld(1, limiter.Config{}, time.Millisecond)
	wire := w.wire()
	wire.Send = func(ctx context.Context, subjects []Subject) []Observation {
		seen := w.send(ctx, subjects)
		for i := range seen {
			seen[i].Received = seen[i].Received.Add(time.Duration(i) * 2 * time.Millisecond)
			if seen[i].Received.After(w.now) {
				w.now = seen[i].Received
			}
		}
		return seen
	}
	r, err := Run(context.Background(), wire, Options{MaxRequests: 1000})
	if err != nil || r.Verdict.Value != Queued || !strings.Contains(r.Verdict.Why, "/s: a queueing limiter") {
		t.Errorf("verdict %+v (%v)", r.Verdict, err)
	}
}

// TestWhatCannotBeExplainedIsNotGuessed: traffic of others, chance and nodes
// that count apart lead to no statement that is false.
func TestWhatCannotBeExplainedIsNotGuessed(t *testing.T) {
	for name, change := range map[string]func(w *world){
		"random shedding": func(w *world) {
			random := rand.New(rand.NewPCG(w.random.Uint64(), 1))
			w.decide = func(time.Time, Subject) (bool, time.Duration) { return random.Float64() < 0.7, 0 }
		},
		"three nodes that count apart": func(w *world) {
			var nodes []*limiter.Limiter
			for range 3 {
				nodes = append(nodes, limiter.New(w.config))
			}
			random := rand.New(rand.NewPCG(w.random.Uint64(), 2))
			w.decide = func(at time.Time, _ Subject) (bool, time.Duration) { return allow(nodes[random.IntN(3)], at) }
		},
		"others on the key": func(w *world) {
			l := limiter.New(w.config)
			random := rand.New(rand.NewPCG(w.random.Uint64(), 3))
			next := w.now
			w.decide = func(at time.Time, _ Subject) (bool, time.Duration) {
				for ; next.Before(at); next = next.Add(time.Duration(random.ExpFloat64() * 2e8)) {
					l.Decide(next)
				}
				return allow(l, at)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			told := 0
			for seed := range uint64(6) {
				w := newWorld(seed, mustParse(t, "fixed-window:20/1s"), time.Millisecond)
				change(w)
				r := run(t, w, Options{MaxTime: 30 * time.Second, Seed: seed})
				if len(r.Layers) > 0 && r.Layers[0].Kind.Value != "" && r.Layers[0].Kind.Value != string(family.Aligned) {
					told++
					t.Logf("seed %d: called a %s of %g in %g s", seed, r.Layers[0].Kind.Value, r.Layers[0].Limit.Value, r.Layers[0].Window.Value)
				}
			}
			if told > 0 {
				t.Errorf("%d of 6 were called something that they are not", told)
			}
		})
	}
}

// TestBudgets_long holds for every limiter: no more requests, no more time.
func TestBudgets_long(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		config := mustParse(t, rapid.SampledFrom([]string{"token-bucket:30/1s", "fixed-window:5/10s", "sliding-log:50/2s,count-refused", "sliding-counter:9/1s", "fixed-window:3/1h", ""}).Draw(rt, "config"))
		o := Options{
			MaxRequests: rapid.IntRange(1, 400).Draw(rt, "requests"),
			MaxTime:     time.Duration(rapid.IntRange(1, 20_000).Draw(rt, "ms")) * time.Millisecond,
			MaxParallel: rapid.IntRange(1, 80).Draw(rt, "parallel"),
		}
		w := newWorld(rapid.Uint64().Draw(rt, "seed"), config, time.Duration(rapid.IntRange(100, 50_000).Draw(rt, "trip"))*time.Microsecond)
		began := w.now
		r, err := Run(context.Background(), w.wire(Others()...), o)
		if err != nil {
			rt.Fatal(err)
		}
		if sent := int(w.sent.Load()); sent > o.MaxRequests || int(r.Total.Requests) != sent {
			rt.Fatalf("%d were sent of %d, %d reported", sent, o.MaxRequests, r.Total.Requests)
		}
		if took := w.now.Sub(began); took > o.MaxTime+2*w.trip {
			rt.Fatalf("took %s of %s", took, o.MaxTime)
		}
		if len(r.Probes) > mostProbes {
			rt.Fatalf("%d points of %d", len(r.Probes), mostProbes)
		}
		if _, err := json.Marshal(r); err != nil {
			rt.Fatal(err)
		}
	})
}

func TestMissingSubjectsAreNamed(t *testing.T) {
	r := run(t, newWorld(2, mustParse(t, "fixed-window:10/1s"), time.Millisecond), Options{}, OtherWorkspace)
	for _, s := range r.Sharing {
		if s.Subject != string(OtherWorkspace) && (s.Shared.Value != "" || !strings.Contains(s.Shared.Why, needs[Subject(s.Subject)])) {
			t.Errorf("%s: %+v", s.Subject, s.Shared)
		}
		if s.Subject == string(OtherWorkspace) && s.Shared.Value != Separate {
			t.Errorf("%s: %+v", s.Subject, s.Shared)
		}
	}
	if r.Scope.Value != "" || len(r.Scope.OneOf) != 2 {
		t.Errorf("scope %+v, want workspace or key", r.Scope)
	}
}

func TestCancelEndsAtOnce(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	w := newWorld(2, mustParse(t, "fixed-window:10/1s"), time.Millisecond)
	o := Options{Log: func(step string) {
		if step == "recovery without requests" {
			cancel()
		}
	}}
	r, err := Run(ctx, w.wire(), o)
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("error %v", err)
	}
	for _, p := range r.Probes {
		if p.Phase == "recovery without requests" {
			t.Fatal("a request was sent after the end")
		}
	}
	if r.Verdict.Value != RateLimited || r.Total.Requests == 0 || r.Layers[0].Kind.Value != "" {
		t.Errorf("what was known is lost or more is claimed: %+v", r)
	}
}

// allow returns the parts of a limiter's decision that the tests need.
func allow(l *limiter.Limiter, at time.Time) (ok bool, retryAfter time.Duration) {
	d := l.Decide(at)
	return d.OK, d.RetryAfter
}
