package runner

import (
	"context"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"outreach.example/conformance/internal/outage"
	"outreach.example/conformance/loadtest/generate"
	"outreach.example/conformance/loadtest/measure"
	"outreach.example/conformance/loadtest/scenario"
	"outreach.example/conformance/reports"
	"outreach.example/conformance/spec"
)

// A target that stops answering in the middle is told of with the time at which
// it did, before all other notes, though the phase is too short for it to be given
// up; so is one that comes back.
func TestATargetThatFallsSilentIsToldOf(t *testing.T) {
	for name, tc := range map[string]struct {
		scenario string
		change   func(*scenario.Scenario)
		lost     func(n int64) bool
		says     []string // the first notes
	}{
		"answers all": {"mixed", nil, func(int64) bool { return false }, nil},
		"dies":        {"mixed", nil, func(n int64) bool { return n > 120 }, []string{`^steady: no answers from [\d.]+ s after its start to the end \(\d+ requests unanswered\)$`}},
		"comes back": {"mixed", nil, func(n int64) bool { return n > 40 && n <= 140 },
			[]string{`^steady: no answers from [\d.]+ s to [\d.]+ s after its start \(([89]\d|100) requests unanswered\)$`}},
		"twice": {"mixed", nil, func(n int64) bool { return n > 20 && n <= 60 || n > 80 && n <= 160 },
			[]string{`^steady: no answers from .* \([678]\d requests unanswered\); the longest of 2 outages$`}},
		"loses a few":   {"mixed", nil, func(n int64) bool { return n%3 == 0 }, nil},
		"in a warm-up":  {"mixed", func(s *scenario.Scenario) { s.Warmup = 2 * time.Second }, func(n int64) bool { return n > 120 }, []string{`^warm-up: no answers from `}},
		"in one of two": {"list-throughput", func(s *scenario.Scenario) { s.Limits = []int{1, 10} }, func(n int64) bool { return n > 120 }, []string{`^limit=1: no answers from `}},
		"at the start":  {"mixed", nil, func(int64) bool { return true }, nil},
		"walk": {"walk", func(s *scenario.Scenario) { s.Clients = 8 }, func(n int64) bool { return n > 120 },
			[]string{`^walk: no answers from `}},
		"in a search": {"sustained-rate", func(s *scenario.Scenario) { s.MaxRate, s.Confirm = 200, 500*time.Millisecond }, func(n int64) bool { return n > 120 },
			[]string{`^100/s: no answers from `}},
		"before a search": {"sustained-rate", func(s *scenario.Scenario) { s.Warmup, s.Confirm = 2*time.Second, 500*time.Millisecond }, func(n int64) bool { return n > 120 },
			[]string{`^warm-up: no answers from `}},
	} {
		t.Run(name, inFakeTime(func(t *testing.T) {
			var came atomic.Int64
			env := patient(t, generate.Options{MaxOutage: time.Hour}, dropping(&came, tc.lost))
			o := Run(t.Context(), env, builtinScenario(t, tc.scenario, func(s *scenario.Scenario) {
				s.Duration, s.Warmup, s.Mix, s.Thresholds = 2*time.Second, 0, map[string]int{spec.ListLeadLists: 1}, []string{"errors<99%"}
				if s.Rate > 0 {
					s.Rate = 100
				}
				if tc.change != nil {
					tc.change(s)
				}
			}))
			silent := slices.DeleteFunc(slices.Clone(o.Notes), func(note string) bool { return !strings.Contains(note, ": no answers from ") })
			if len(silent) != len(tc.says) || len(silent) > len(o.Notes) || !slices.Equal(silent, o.Notes[:len(silent)]) {
				t.Fatalf("%q, want %q first; %s: %q", o.Notes, tc.says, o.Verdict, o.Reasons)
			}
			for i, want := range tc.says {
				if !regexp.MustCompile(want).MatchString(silent[i]) {
					t.Errorf("%q, want %s", silent[i], want)
				}
			}
		}))
	}
}

// What an interruption cut off might have been answered: it is no outage.
func TestAnInterruptionIsNoOutage(t *testing.T) {
	inFakeTime(func(t *testing.T) {
		ctx, interrupt := context.WithCancel(t.Context())
		defer interrupt()
		var came atomic.Int64
		env := world(t, func(next http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				switch n := came.Add(1); {
				case n > 80:
					interrupt()
					fallthrough
				case n > 20:
					<-r.Context().Done()
				default:
					next.ServeHTTP(w, r)
				}
			})
		})
		o := Run(ctx, env, builtinScenario(t, "mixed", func(s *scenario.Scenario) {
			s.Rate, s.Duration, s.Warmup, s.Mix = 200, time.Minute, 0, map[string]int{spec.ListLeadLists: 1}
		}))
		if o.Verdict != reports.Inconclusive || strings.Contains(strings.Join(o.Notes, "\n"), ": no answers from ") {
			t.Errorf("%s: %q, %q", o.Verdict, o.Reasons, o.Notes)
		}
	})(t)
}

// A shard says that it is one: another may have had answers.
func TestAShardsOutage(t *testing.T) {
	inFakeTime(func(t *testing.T) {
		env := patient(t, generate.Options{})
		env.Shard = measure.Shard{Index: 2, Of: 4}
		r := newRunner(t.Context(), env, scenario.Scenario{})
		said := r.outages("steady", outage.Outages{Last: &outage.Outage{From: 1234 * time.Millisecond, Unanswered: 7}})
		if len(said) != 1 || said[0] != "shard 3: steady: no answers from 1.23 s after its start to the end (7 requests unanswered)" {
			t.Errorf("%q", said)
		}
	})(t)
}
