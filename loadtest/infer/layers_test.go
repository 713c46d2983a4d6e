package infer

import (
	"context"
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

// TestSeveralLayers: the fast layer is told exactly, the slow one is seen.
func TestSeveralLayers(t *testing.T) {
	for _, tc := range []struct {
		config      string
		fast        string
		limit, slow float64
		window      float64 // of the slow one
	}{
		{"token-bucket:20/1s,fixed-window:300/1m", TokenBucket, 20, 300, 60},
		{"fixed-window:10/1s,sliding-log:150/30s", AlignedWindow, 10, 150, 30},
		{"sliding-log:10/1s,fixed-window:200/1m:from-first", SlidingLog, 10, 200, 60},
		{"fixed-window:20/1s,fixed-window:60/10s", AlignedWindow, 20, 60, 10},
	} {
		t.Run(tc.config, func(t *testing.T) {
			w := newWorld(3, mustParse(t, tc.config), time.Millisecond)
			r, err := Run(context.Background(), w.wire(Others()...), Options{MaxTime: 20 * time.Minute, MaxRequests: 20_000, Sustain: time.Minute})
			if err != nil {
				t.Fatal(err)
			}
			for _, l := range r.Layers {
				t.Logf("kind %s%v limit %v %g..%g window %v %g..%g: %s", l.Kind.Value, l.Kind.OneOf, l.Limit.Known, l.Limit.Low, l.Limit.High, l.Window.Known, l.Window.Low, l.Window.High, l.Kind.Why)
			}
			t.Logf("spent %+v %+v beyond %v", r.Inference, r.Total, r.Beyond)
		})
	}
}
