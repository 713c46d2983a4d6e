package limiter

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// epoch is a whole second and a whole minute, so aligned windows start at it.
var epoch = time.Date(2025, 6, 1, 12, 0, 0, 0, time.UTC)

func mustParse(t testing.TB, text string) Config {
	t.Helper()
	c, err := Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// ask is one request and the exact truth about it.
type ask struct {
	at    time.Duration // since epoch
	retry time.Duration // 0: allowed; otherwise refused with this wait
}

func many(n int, at, retry time.Duration) []ask {
	asks := make([]ask, n)
	for i := range asks {
		asks[i] = ask{at, retry}
	}
	return asks
}

func join(parts ...[]ask) []ask {
	var all []ask
	for _, p := range parts {
		all = append(all, p...)
	}
	return all
}

const ms = time.Millisecond

func TestExactTruth(t *testing.T) {
	for _, tc := range []struct {
		name, config string
		asks         []ask
	}{
		{"bucket: burst, then one a tick", "token-bucket:10/1s:burst=3", join(
			many(3, 0, 0), many(1, 0, 100*ms), many(1, 99*ms, 1*ms), many(1, 100*ms, 0), many(1, 100*ms, 100*ms),
			many(3, 10*time.Second, 0), many(1, 10*time.Second, 100*ms))},
		{"bucket: capacity is the limit by default", "token-bucket:2/1s", join(many(2, 0, 0), many(1, 0, 500*ms))},
		{"bucket: a period that the limit does not divide rounds the wait up", "token-bucket:3/1s:burst=1",
			[]ask{{0, 0}, {0, 333333334}, {333333333, 1}, {333333334, 0}}},
		{"bucket: refusals go into debt, by one capacity at most", "token-bucket:10/1s:burst=2,count-refused", join(
			many(2, 0, 0), many(1, 0, 200*ms), many(3, 0, 300*ms), many(1, 300*ms, 0))},
		{"window: aligned to the clock", "fixed-window:2/1s", join(
			many(2, 900*ms, 0), many(1, 900*ms, 100*ms), many(2, 1000*ms, 0), many(1, 1000*ms, 1000*ms))},
		{"window: opens with the first request", "fixed-window:2/1s:from-first", join(
			many(2, 900*ms, 0), many(1, 1000*ms, 900*ms), many(1, 1899*ms, 1*ms), many(2, 1900*ms, 0), many(1, 2000*ms, 900*ms),
			many(1, 5250*ms, 0), many(1, 6249*ms, 0), many(1, 6249*ms, 1*ms), many(1, 6250*ms, 0))},
		{"window: counted refusals do not outlast it", "fixed-window:1/1s,count-refused", join(
			many(1, 0, 0), many(5, 10*ms, 990*ms), many(1, 1000*ms, 0))},
		{"log: each request lapses on its own", "sliding-log:2/1s",
			[]ask{{0, 0}, {600 * ms, 0}, {700 * ms, 300 * ms}, {1000 * ms, 0}, {1000 * ms, 600 * ms}, {1600 * ms, 0}}},
		{"log: refusals count", "sliding-log:2/1s,count-refused",
			[]ask{{0, 0}, {0, 0}, {900 * ms, 100 * ms}, {1000 * ms, 0}, {1100 * ms, 900 * ms}, {1900 * ms, 200 * ms}, {2900 * ms, 0}}},
		{"counter: the former window fades", "sliding-counter:4/1s", join(
			many(4, 500*ms, 0), many(1, 500*ms, 750*ms), many(1, 1249*ms, 1*ms), many(1, 1250*ms, 0), many(1, 1250*ms, 250*ms),
			many(1, 1500*ms, 0), many(2, 3000*ms, 0))},
		{"counter: refusals count", "sliding-counter:2/1s,count-refused", join(
			many(2, 0, 0), many(1, 0, 1667*ms-333333), many(1, 1000*ms, 1000*ms))},
		{"layers: the strictest decides and a refusal takes nothing from the others", "fixed-window:2/1s,fixed-window:3/10s", join(
			many(2, 0, 0), many(4, 0, 1000*ms), many(1, 1000*ms, 0), many(1, 1000*ms, 9000*ms), many(2, 10000*ms, 0))},
		{"time that goes back stands still", "fixed-window:1/1s", []ask{{500 * ms, 0}, {-9 * time.Hour, 500 * ms}}},
		{"no layers, no limit", "", many(100, 0, 0)},
	} {
		t.Run(tc.name, func(t *testing.T) {
			l := New(mustParse(t, tc.config))
			for i, a := range tc.asks {
				ok, retry := l.Allow(epoch.Add(a.at))
				if ok != (a.retry == 0) || retry != a.retry {
					t.Fatalf("request %d at %s: ok=%v retry=%s, want ok=%v retry=%s", i, a.at, ok, retry, a.retry == 0, a.retry)
				}
			}
		})
	}
}

// anyConfig draws a limiter of one layer without counted refusals.
func anyConfig(kinds ...Kind) *rapid.Generator[Config] {
	return rapid.Custom(func(t *rapid.T) Config {
		layer := Layer{
			Kind:  rapid.SampledFrom(kinds).Draw(t, "kind"),
			Limit: rapid.IntRange(1, 12).Draw(t, "limit"),
			Per:   rapid.SampledFrom([]time.Duration{7 * ms, 100 * ms, time.Second}).Draw(t, "per"),
		}
		if layer.Kind == TokenBucket {
			layer.Burst = rapid.IntRange(0, 15).Draw(t, "burst")
		}
		layer.FromFirst = layer.Kind == FixedWindow && rapid.Bool().Draw(t, "from first")
		return Config{Layers: []Layer{layer}}
	})
}

// arrivals draws ascending times with bursts and with gaps around the period.
func arrivals(t *rapid.T, per time.Duration) []time.Time {
	at := epoch.Add(time.Duration(rapid.Int64Range(0, int64(per)).Draw(t, "phase")))
	gaps := rapid.SliceOfN(rapid.OneOf(rapid.Just(int64(0)), rapid.Int64Range(0, int64(per)/8), rapid.Int64Range(0, 2*int64(per))), 1, 80).Draw(t, "gaps")
	times := make([]time.Time, len(gaps))
	for i, gap := range gaps {
		at = at.Add(time.Duration(gap))
		times[i] = at
	}
	return times
}

// TestNeverMoreThanAllowed counts the accepted requests of random arrivals in
// every window that the kind promises something about.
func TestNeverMoreThanAllowed(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		config := anyConfig(TokenBucket, FixedWindow, SlidingLog, SlidingCounter).Draw(t, "config")
		layer, l := config.Layers[0], New(config)
		var accepted []time.Time
		for _, at := range arrivals(t, layer.Per) {
			if ok, _ := l.Allow(at); ok {
				accepted = append(accepted, at)
			}
		}
		for i, first := range accepted {
			for j := i; j < len(accepted); j++ {
				span, count := accepted[j].Sub(first), j-i+1
				switch layer.Kind {
				case SlidingLog:
					if span < layer.Per && count > layer.Limit {
						t.Fatalf("%d accepted within %s", count, span)
					}
				case TokenBucket:
					burst := layer.Burst
					if burst == 0 {
						burst = layer.Limit
					}
					if refilled := int(int64(span) * int64(layer.Limit) / int64(layer.Per)); count > burst+refilled {
						t.Fatalf("%d accepted within %s, which refills %d above a burst of %d", count, span, refilled, burst)
					}
				default: // two windows meet in the worst case
					if span < layer.Per && count > 2*layer.Limit {
						t.Fatalf("%d accepted within %s", count, span)
					}
					aligned := !layer.FromFirst && first.UnixNano()/int64(layer.Per) == accepted[j].UnixNano()/int64(layer.Per)
					if aligned && count > layer.Limit {
						t.Fatalf("%d accepted in one aligned window", count)
					}
				}
			}
		}
	})
}

// TestRetryAfterIsHonest: one nanosecond before the wait is over a lone request
// is refused, and at its end it is allowed.
func TestRetryAfterIsHonest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		config := anyConfig(TokenBucket, FixedWindow, SlidingLog, SlidingCounter).Draw(t, "config")
		config.Layers = append(config.Layers, anyConfig(TokenBucket, FixedWindow, SlidingLog, SlidingCounter).Draw(t, "second").Layers...)
		config.CountRefused = rapid.Bool().Draw(t, "count refused")
		times := arrivals(t, config.Layers[0].Per)
		replay := func() *Limiter {
			l := New(config)
			for _, at := range times {
				l.Allow(at)
			}
			return l
		}
		last := times[len(times)-1]
		ok, wait := replay().Allow(last)
		if ok {
			return
		}
		early, punctual := replay(), replay()
		early.Allow(last)
		punctual.Allow(last)
		if ok, _ := early.Allow(last.Add(wait - 1)); ok {
			t.Fatalf("allowed 1 ns before the promised wait of %s is over", wait)
		}
		if ok, more := punctual.Allow(last.Add(wait)); !ok {
			t.Fatalf("refused for %s more after the promised wait of %s", more, wait)
		}
	})
}

// TestRemainingIsExact: as many requests as Remaining says pass at once, and not
// one more; after Reset a fresh limiter's number passes.
func TestRemainingIsExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		config := anyConfig(TokenBucket, FixedWindow, SlidingLog, SlidingCounter).Draw(t, "config")
		times := arrivals(t, config.Layers[0].Per)
		replay := func() (l *Limiter, d Decision) {
			l = New(config)
			for _, at := range times {
				d = l.Decide(at)
			}
			return l, d
		}
		burst := func(l *Limiter, at time.Time) (n int) {
			for ok, _ := l.Allow(at); ok; ok, _ = l.Allow(at) {
				n++
			}
			return n
		}
		last := times[len(times)-1]
		l, d := replay()
		if got := burst(l, last); got != d.Remaining {
			t.Fatalf("%d requests passed, Remaining said %d", got, d.Remaining)
		}
		l, d = replay()
		if got, want := burst(l, last.Add(d.Reset)), burst(New(config), epoch); got != want {
			t.Fatalf("after the reset of %s %d requests passed, want %d", d.Reset, got, want)
		}
	})
}

func TestConfigRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		config := Config{
			Scope:        rapid.SampledFrom([]Scope{"", PerWorkspace, PerKey, PerAddress, PerOperation}).Draw(t, "scope"),
			CountRefused: rapid.Bool().Draw(t, "count refused"),
			NoRetryAfter: rapid.Bool().Draw(t, "no retry-after"),
			Headers:      rapid.Bool().Draw(t, "headers"),
		}
		for range rapid.IntRange(0, 3).Draw(t, "layers") {
			config.Layers = append(config.Layers, anyConfig(TokenBucket, FixedWindow, SlidingLog, SlidingCounter).Draw(t, "layer").Layers...)
		}
		again, err := Parse(config.String())
		if err != nil {
			t.Fatalf("%q: %v", config.String(), err)
		}
		if fmt.Sprint(again) != fmt.Sprint(config) || len(again.Layers) != len(config.Layers) {
			t.Fatalf("%q was read as %q", config.String(), again.String())
		}
	})
}

func TestParseRefuses(t *testing.T) {
	for _, text := range []string{
		"token-bucket", "token-bucket:", "token-bucket:5", "token-bucket:x/1s", "token-bucket:5/x", "leaky:5/1s",
		"token-bucket:0/1s", "token-bucket:-1/1s", "token-bucket:5/0s", "token-bucket:5/25h", "token-bucket:5/1us",
		"token-bucket:5/1s:burst=0", "token-bucket:5/1s:burst=x", "fixed-window:5/1s:burst=3", "token-bucket:5/1s:from-first",
		"fixed-window:5/1s,scope=planet", "fixed-window:5/1s,loud", "fixed-window:99999999/1s", ",",
	} {
		if c, err := Parse(text); err == nil {
			t.Errorf("Parse(%q) = %q", text, c)
		}
	}
}

func TestGroupKeepsMembersApartAndIsBounded(t *testing.T) {
	g := NewGroup(mustParse(t, "fixed-window:1/1s"))
	for i := range maxMembers {
		if !g.Decide(fmt.Sprint(i), epoch).OK {
			t.Fatalf("member %d has to pay for another", i)
		}
	}
	if g.Decide("0", epoch).OK {
		t.Error("the second request of a member was allowed")
	}
	first, second := g.Decide("newcomer", epoch), g.Decide("other newcomer", epoch)
	if !first.OK || second.OK {
		t.Errorf("newcomers beyond the bound: %v then %v, want one limiter for all of them", first.OK, second.OK)
	}
	if len(g.members) > maxMembers+1 {
		t.Errorf("the group grew to %d members", len(g.members))
	}
}

func FuzzParse(f *testing.F) {
	f.Add("token-bucket:100/1s:burst=20,fixed-window:6000/1m,scope=key,count-refused,no-retry-after,headers")
	f.Fuzz(func(t *testing.T, text string) {
		config, err := Parse(text)
		if err != nil {
			return
		}
		if again, err := Parse(config.String()); err != nil || again.String() != config.String() {
			t.Fatalf("%q was read as %q and then as %q (%v)", text, config, again, err)
		}
		New(config).Allow(epoch)
	})
}
