package runner

import (
	"slices"
	"strings"
	"testing"
	"time"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/fixtures/refserver"
	"outreach.example/conformance/fixtures/refserver/limiter"
	"outreach.example/conformance/loadtest/scenario"
)

// A note says that the target served less than requested. Thresholds on response
// times and errors need not show it.
func TestLessThroughputThanAskedForIsNoted(t *testing.T) {
	for name, tc := range map[string]struct {
		shape, limit string
		notes        string // empty: none
	}{
		"enough": {shape: "100%:1ms"},
		"behind": {shape: "capacity=150/1s", notes: "the queue grew: "},
		// The bucket is full at the start, so that more passes than is refused.
		"limited": {limit: "token-bucket:100/1s", notes: "got 429: the key is rate-limited"},
	} {
		t.Run(name, inFakeTime(func(t *testing.T) {
			var env *Env
			if tc.limit != "" {
				config, err := limiter.Parse(tc.limit)
				if err != nil {
					t.Fatal(err)
				}
				env = worldOf(t, refserver.Options{Limiters: map[string]limiter.Config{dataset.Main: config}})
			} else {
				env = world(t, shaped(t, tc.shape))
			}
			o := Run(t.Context(), env, builtinScenario(t, "list-throughput", func(s *scenario.Scenario) {
				s.Rate, s.Duration, s.Warmup, s.Limits = 200, 2*time.Second, 0, []int{1}
			}))
			noted := func(what string) bool {
				return slices.ContainsFunc(o.Notes, func(note string) bool { return strings.Contains(note, what) })
			}
			for _, what := range []string{"the queue grew: ", "got 429: the key"} {
				if want := tc.notes != "" && strings.HasPrefix(tc.notes, what); noted(what) != want {
					t.Errorf("%q is noted: %v, want %v: %q, %q", what, !want, want, o.Notes, o.Reasons)
				}
			}
			if tc.limit != "" && o.Phases[0].AchievedPerSecond > 190 {
				t.Errorf("%.4g/s are said to be served of a key that may have 100/s and a burst", o.Phases[0].AchievedPerSecond)
			}
		}))
	}
}
