package infer

import (
	"context"
	"slices"
	"testing"
	"time"

	"outreach.example/conformance/refserver/limiter"
)

func mustParse(t testing.TB, text string) limiter.Config {
	t.Helper()
	config, err := limiter.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return config
}

// TestSeveralLayers: the fast layer is told exactly, the slow one is seen, and
// nothing is said of it that is not so.
func TestSeveralLayers(t *testing.T) {
	skipIfShort(t)
	for _, tc := range []struct {
		config string
		fast   string
		limit  float64
		kind   string // of the slow one
		slow   float64
		window float64
	}{
		{"token-bucket:20/1s,fixed-window:300/1m", TokenBucket, 20, AlignedWindow, 300, 60},
		{"sliding-log:10/1s,fixed-window:200/1m:from-first", SlidingLog, 10, FirstWindow, 200, 60},
		// The slow layer shuts before the fast one is understood.
		{"fixed-window:20/1s,fixed-window:60/10s", "", 0, "", 0, 0},
	} {
		t.Run(tc.config, func(t *testing.T) {
			w := newWorld(3, mustParse(t, tc.config), time.Millisecond)
			r, err := Run(context.Background(), w.wire(Others()...), Options{MaxTime: 20 * time.Minute, MaxRequests: 20_000, Sustain: time.Minute})
			if err != nil {
				t.Fatal(err)
			}
			if tc.fast == "" {
				if len(r.Layers) != 1 || r.Layers[0].Kind.Known() || r.Layers[0].Kind.Why == "" {
					t.Fatalf("layers %+v, want one that is not told", r.Layers)
				}
				return
			}
			if len(r.Layers) != 2 {
				t.Fatalf("%d layers, want 2; beyond %+v", len(r.Layers), r.Beyond)
			}
			fast, slow := r.Layers[0], r.Layers[1]
			if fast.Kind.Value != tc.fast || fast.Limit.Value != tc.limit {
				t.Errorf("the fast layer is called %q of %g", fast.Kind.Value, fast.Limit.Value)
			}
			t.Logf("slow: %s%v, limit %g to %g, window %g to %g s", slow.Kind.Value, slow.Kind.OneOf, slow.Limit.Low, slow.Limit.High, slow.Window.Low, slow.Window.High)
			if slow.Kind.Value != tc.kind && !slices.Contains(slow.Kind.OneOf, tc.kind) {
				t.Errorf("the slow layer is called %q %v, and is a %s", slow.Kind.Value, slow.Kind.OneOf, tc.kind)
			}
			if slow.Limit.Low > tc.slow || slow.Limit.High < tc.slow {
				t.Errorf("the slow limit is said to lie in %g to %g", slow.Limit.Low, slow.Limit.High)
			}
			if slow.Window.Low > tc.window || slow.Window.High != 0 && slow.Window.High < tc.window {
				t.Errorf("the slow window is said to lie in %g to %g", slow.Window.Low, slow.Window.High)
			}
		})
	}
}
