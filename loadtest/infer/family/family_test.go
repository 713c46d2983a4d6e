package family

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"pgregory.net/rapid"

	"outreach.example/conformance/fixtures/refserver/limiter"
)

var kinds = []string{"token-bucket:%d/%s", "fixed-window:%d/%s", "fixed-window:%d/%s:from-first", "sliding-log:%d/%s", "sliding-counter:%d/%s",
	"token-bucket:%d/%s,count-refused", "sliding-log:%d/%s,count-refused", "sliding-counter:%d/%s,count-refused"}

func kindOf(config limiter.Config) Kind {
	if config.Layers[0].FromFirst {
		return First
	}
	return map[limiter.Kind]Kind{limiter.TokenBucket: Bucket, limiter.FixedWindow: Aligned, limiter.SlidingLog: Sliding, limiter.SlidingCounter: Counter}[config.Layers[0].Kind]
}

// truth tells whether a fit is of the limiter's own family, limit and window.
func (f Fit) truth(config limiter.Config) bool {
	layer, kind := config.Layers[0], kindOf(config)
	counting := config.CountRefused && kind != First && kind != Aligned
	low, high := f.Window()
	return f.Kind == kind && f.Counting == counting && f.Limit == layer.Limit && low <= layer.Per && layer.Per <= high
}

// TestTruthOfExactTimes is the same with intervals of next to no width and
// requests spread over all of the window: a bound that is too strict by one
// request, or by one moment, contradicts the truth.
func TestTruthOfExactTimes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		kind := rapid.SampledFrom(kinds).Draw(t, "kind")
		limit := rapid.IntRange(1, 9).Draw(t, "limit")
		config, err := limiter.Parse(fmt.Sprintf(kind, limit, "1s"))
		if err != nil {
			t.Fatal(err)
		}
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 3))
		width := rapid.SampledFrom([]int64{0, 2000, 5_000_000}).Draw(t, "width")
		l := limiter.New(config)
		epoch := time.Date(2026, 1, 1, 0, 0, 0, int(random.Int64N(1e9)), time.UTC)
		var log []Observation
		now := int64(0)
		for range 400 {
			decided := now + random.Int64N(width+1)
			o := Observation{Sent: now, Received: now + width, Verdict: Accepted}
			if !l.Decide(epoch.Add(time.Duration(decided))).OK {
				o.Verdict = Refused
			}
			log = append(log, o)
			now += width + 1 + random.Int64N(2e9/int64(limit)/int64(1+random.IntN(20)))
		}
		prepared := NewLog(log)
		if len(prepared.refusals) == 0 {
			return
		}
		want := Fit{Kind: kindOf(config), Limit: limit, High: Unbounded, Counting: config.CountRefused && config.Layers[0].Kind != limiter.FixedWindow}
		for _, f := range Narrow(prepared, []Fit{want}) {
			if f.truth(config) {
				return
			}
			t.Fatalf("%+v: left %+v", config, f)
		}
		t.Fatalf("%+v: contradicted", config)
	})
}
