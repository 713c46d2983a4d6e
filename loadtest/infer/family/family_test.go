package family

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"outreach.example/conformance/fixtures/refserver/limiter"
)

// probe is a made-up run: bursts, polls and silences against a real limiter,
// over a network with jitter. It returns what was seen.
func probe(seed uint64, config limiter.Config, trip time.Duration, rounds int) []Observation {
	random := rand.New(rand.NewPCG(seed, 1))
	l := limiter.New(config)
	epoch := time.Date(2026, 1, 1, 0, 0, 0, int(random.Int64N(1e9)), time.UTC)
	layer := config.Layers[0]
	now := int64(0)
	var log []Observation
	send := func(n int) (refused int) {
		type shot struct{ sent, decided, received int64 }
		shots := make([]shot, n)
		for i := range shots {
			up := int64(float64(trip) * (0.3 + 0.4*random.Float64()))
			down := int64(float64(trip) * (0.3 + 0.4*random.Float64()))
			shots[i] = shot{now, now + up, now + up + down}
		}
		end := now
		for len(shots) > 0 {
			next := 0
			for i := range shots {
				if shots[i].decided < shots[next].decided {
					next = i
				}
			}
			s := shots[next]
			shots = append(shots[:next], shots[next+1:]...)
			verdict := Accepted
			if !l.Decide(epoch.Add(time.Duration(s.decided))).OK {
				verdict, refused = Refused, refused+1
			}
			end = max(end, s.received)
			log = append(log, Observation{Sent: s.sent, Received: s.received, Verdict: verdict})
		}
		now = end
		return refused
	}
	for range rounds {
		switch random.IntN(4) {
		case 0: // drain
			for i := 0; i < 12 && send(1+layer.Limit/4) == 0; i++ {
			}
		case 1: // poll
			for range 10 {
				send(1)
				now += int64(float64(layer.Per) * random.Float64() / 6)
			}
		case 2:
			send(1 + layer.Limit/2)
			now += int64(float64(layer.Per) * random.Float64())
		case 3:
			now += int64(2 * float64(layer.Per) * random.Float64())
		}
	}
	return log
}

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

// TestTruthIsNotContradictedByMore is the same of a log that grows, with some
// refusals that need no explanation.
func TestTruthIsNotContradictedByMore(t *testing.T) {
	for seed := range uint64(len(kinds)) {
		config, err := limiter.Parse(fmt.Sprintf(kinds[seed], 8+seed, "1s"))
		if err != nil {
			t.Fatal(err)
		}
		log := probe(seed, config, 2*time.Millisecond, 16)
		random := rand.New(rand.NewPCG(seed, 4))
		for i := range log {
			log[i].Excused = log[i].Verdict == Refused && random.IntN(4) == 0
		}
		var fits []Fit
		for _, part := range []int{len(log) / 2, len(log)} {
			l := NewLog(log[:part])
			l.Coarsely(time.Millisecond)
			if len(l.refusals) == 0 {
				continue
			}
			if fits == nil {
				fits = Fits(l, func(f Fit) bool { return f.Limit > 3 })
			} else {
				fits = Narrow(l, fits)
			}
			if !slices.ContainsFunc(fits, func(f Fit) bool { return f.truth(config) }) {
				t.Errorf("%+v: contradicted by %d observations; left: %+v", config, part, fits)
				break
			}
		}
		if fits == nil {
			t.Errorf("%+v has refused nothing: the test says nothing", config)
		}
	}
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

// all limiters are possible.
func all(Fit) bool { return true }

// TestModelPredictsItsLimiter checks that a model's predictions for its own
// kind come true.
func TestModelPredictsItsLimiter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		kind := rapid.SampledFrom(kinds).Draw(t, "kind")
		limit := rapid.IntRange(1, 12).Draw(t, "limit")
		config, err := limiter.Parse(fmt.Sprintf(kind, limit, "1s"))
		if err != nil {
			t.Fatal(err)
		}
		window := float64(time.Second)
		fit := Fit{Kind: kindOf(config), Limit: limit, Counting: config.CountRefused, High: 1}
		if fit.Kind == Bucket {
			window /= float64(limit)
		}
		fit.left = []point{{window: window}}
		l, m := limiter.New(config), NewLog(nil).Guesses(fit, 1)[0]
		epoch := time.Unix(1_700_000_000, 0)
		now := time.Duration(0)
		for range rapid.IntRange(1, 30).Draw(t, "bursts") {
			// Off whole windows by a little, where rounding cannot decide.
			now += time.Duration(rapid.IntRange(1, 300).Draw(t, "rest"))*10*time.Millisecond + 7*time.Microsecond
			n := rapid.IntRange(1, 2*limit).Draw(t, "n")
			before := m.Clone()
			passed, wait := 0, time.Duration(0)
			for i := range n {
				d := l.Decide(epoch.Add(now))
				if d.OK {
					passed++
				}
				if i == 0 {
					wait = d.RetryAfter
				}
			}
			// Of a counting limiter the refusal itself puts it off.
			if opens := before.Opens(now); !config.CountRefused && (opens-now-wait).Abs() > 10*time.Microsecond {
				t.Fatalf("%+v at %s: opens after %s, and the limiter says %s", config, now, opens-now, wait)
			}
			if got := m.Send(now, n); got != passed {
				t.Fatalf("%+v at %s: of %d requests %d are foretold to pass, %d did", config, now, n, got, passed)
			}
		}
	})
}
