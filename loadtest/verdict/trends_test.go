package verdict

import (
	"outreach.example/conformance/loadtest/schedule"
	"strings"
	"testing"
	"time"

	"outreach.example/conformance/loadtest/measure"
)

// recorded returns a phase at 20/s with an answer for each request and its
// second.
func recorded(seconds int, answer func(n, second int) (took time.Duration, status int)) measure.Recording {
	const rate = 20
	r := measure.NewRecorder("soak", time.Unix(1e9, 0), schedule.Constant(rate, time.Duration(seconds)*time.Second))
	for n := range rate * seconds {
		due := time.Duration(n) * time.Second / rate
		took, status := answer(n, n/rate)
		r.Add(measure.Sample{Seq: uint64(n), Label: "list", Due: due, Sent: due, Done: due + took, Status: status})
	}
	return r.Recording()
}

func TestSoakFailsOnDrift(t *testing.T) {
	jitter := func(n int) time.Duration { return time.Duration(n*7%11) * 100 * time.Microsecond }
	for name, tc := range map[string]struct {
		answer func(n, second int) (time.Duration, int)
		says   string // part of the reason; empty: it passes
	}{
		"steady": {func(n, _ int) (time.Duration, int) { return 20*time.Millisecond + jitter(n), 200 }, ""},
		"slower": {func(n, second int) (time.Duration, int) {
			return 20*time.Millisecond + jitter(n) + time.Duration(second)*time.Millisecond, 200
		}, "response p50 rose"},
		"slower, but not by what somebody would notice": {func(n, second int) (time.Duration, int) {
			return time.Millisecond + jitter(n)/100 + time.Duration(second)*50*time.Microsecond, 200
		}, ""},
		"slower at the slow end": {func(n, second int) (time.Duration, int) {
			if n%10 == 0 {
				return 20*time.Millisecond + time.Duration(second)*10*time.Millisecond, 200
			}
			return 20*time.Millisecond + jitter(n), 200
		}, "response p99 rose"},
		"faster": {func(n, second int) (time.Duration, int) {
			return 60*time.Millisecond + jitter(n) - time.Duration(second)*time.Millisecond, 200
		}, ""},
		"one stall": {func(n, second int) (time.Duration, int) {
			if second == 20 {
				return time.Second, 200
			}
			return 20*time.Millisecond + jitter(n), 200
		}, ""},
		"more and more errors": {func(n, second int) (time.Duration, int) {
			if n%20 < second/3 {
				return 20 * time.Millisecond, 500
			}
			return 20*time.Millisecond + jitter(n), 200
		}, "the share of failed requests rose"},
	} {
		t.Run(name, func(t *testing.T) {
			d := &Draft{}
			d.Drift(recorded(30, tc.answer), nil)
			reasons := strings.Join(inWords(d.fails), "\n")
			if tc.says == "" && reasons != "" || !strings.Contains(reasons, tc.says) {
				t.Errorf("want %q, got %q", tc.says, inWords(d.fails))
			}
			if len(d.Result.Drift) == 0 {
				t.Error("no trend is shown")
			}
		})
	}
}

// After a burst the target must become as fast as before.
func TestSpikeLooksForRecovery(t *testing.T) {
	for name, tc := range map[string]struct {
		after func(second int) time.Duration
		back  bool
	}{
		"at once":   {func(int) time.Duration { return 20 * time.Millisecond }, true},
		"in a bit":  {func(second int) time.Duration { return time.Duration(max(20, 400-200*(second-6))) * time.Millisecond }, true},
		"never":     {func(int) time.Duration { return 50 * time.Millisecond }, false},
		"up to 2 ×": {func(int) time.Duration { return 39 * time.Millisecond }, true},
	} {
		t.Run(name, func(t *testing.T) {
			d := &Draft{}
			d.Recovery(recorded(9, func(_, second int) (time.Duration, int) {
				switch {
				case second < 3:
					return 20 * time.Millisecond, 200
				case second < 6:
					return 300 * time.Millisecond, 200
				default:
					return tc.after(second), 200
				}
			}), 3*time.Second)
			if (len(d.fails) == 0) != tc.back || (len(d.Result.Notes) > 0) != tc.back {
				t.Errorf("%q, %q", inWords(d.fails), d.Result.Notes)
			}
		})
	}
}
