package family

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"outreach.example/conformance/fixtures/refserver/limiter"
)

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
