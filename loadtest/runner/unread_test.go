package runner

import (
	"bytes"
	"compress/gzip"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"outreach.example/conformance/internal/client"
	"outreach.example/conformance/loadtest/measure"
	"outreach.example/conformance/loadtest/scenario"
	"outreach.example/conformance/reports"
	"outreach.example/conformance/spec"
)

// A run does not pass if most of its responses could not be checked. The reason says
// why.
func TestAnswersThatCannotBeReadAreNoPass(t *testing.T) {
	t.Parallel()
	large := bytes.Repeat([]byte(" "), client.DefaultMaxBody+1)
	for name, tc := range map[string]struct {
		does http.HandlerFunc
		says string
	}{
		"compressed": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("Content-Encoding", "gzip")
			z := gzip.NewWriter(w)
			_, _ = z.Write([]byte(`{"items":[]}`))
			_ = z.Close()
		}, "40 were compressed despite Accept-Encoding: identity (turn compression off in the server or proxy)"},
		"too large": {func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(large) },
			"40 had a body larger than the limit of 8 MiB (request smaller pages with --page-size)"},
		"broken off": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "100")
			_, _ = w.Write([]byte(`{"items":[`))
		}, "40 were incomplete or timed out"},
	} {
		t.Run(name, inFakeTime(func(t *testing.T) {
			o := Run(t.Context(), world(t, fromTheSecond(tc.does)), threePhases(t))
			if name == "compressed" && !slices.ContainsFunc(o.Reasons, func(why string) bool { return strings.Contains(why, `Content-Encoding "gzip" was not offered`) }) {
				t.Errorf("no reason names the encoding: %q", o.Reasons)
			}
			want := "40 of 60 responses could not be checked: " + tc.says
			if o.Verdict == reports.Passed || !slices.Contains(o.Reasons, want) {
				t.Errorf("%s: %q; want %q", o.Verdict, o.Reasons, want)
			}
		}))
	}
}

// A run in which no response could be checked is inconclusive.
func TestNoAnswerThatCanBeRead(t *testing.T) {
	inFakeTime(func(t *testing.T) {
		compressed := func(http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Encoding", "gzip")
				_, _ = w.Write([]byte("no matter"))
			})
		}
		o := Run(t.Context(), world(t, compressed), threePhases(t))
		if told := strings.Join(o.Reasons, "\n"); o.Verdict != reports.Inconclusive || !strings.Contains(told, "none of 60 responses could be checked: 60 were compressed") {
			t.Errorf("%s: %s", o.Verdict, told)
		}
	})(t)
}

// Each kind of scenario says in the same words that a body was too large to read.
func TestBodiesThatAreTooLong_long(t *testing.T) {
	inFakeTime(func(t *testing.T) {
		large := bytes.Repeat([]byte(" "), client.DefaultMaxBody+1)
		env := world(t, func(http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(large) })
		})
		for name, tc := range map[string]struct {
			change func(*scenario.Scenario)
			says   string
		}{
			"page-depth": {func(*scenario.Scenario) {},
				"walking to the pages of inbox-placement-tests.list: not a page: body larger than the limit of 8 MiB"},
			"list-throughput": {func(s *scenario.Scenario) { s.Rate, s.Duration, s.Warmup, s.Limits = 5, time.Second, 0, []int{1} },
				"steady: none of 5 requests was accepted (body larger than the limit of 8 MiB: 5, status 200: 5)"},
			"walk": {func(s *scenario.Scenario) { s.Clients, s.Duration = 1, 10*time.Millisecond },
				"walk: none of 10 requests was accepted (body larger than the limit of 8 MiB: 10, status 200: 10)"},
		} {
			o := Run(t.Context(), env, builtinScenario(t, name, tc.change))
			if o.Verdict == reports.Passed || !slices.Contains(o.Reasons, tc.says) {
				t.Errorf("%s: %s: %q; want %q", name, o.Verdict, o.Reasons, tc.says)
			}
		}
	})(t)
}

// emptied returns a world in which the lists of the operations have no rows.
func emptied(t *testing.T, operations ...string) *Env {
	t.Helper()
	return world(t, func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			for _, id := range operations {
				if op := spec.MustOperation(id); r.Method == op.Method && r.URL.Path == op.Path {
					w.Header().Set("Content-Type", "application/json")
					_, _ = w.Write([]byte(`{"items":[]}`))
					return
				}
			}
			next.ServeHTTP(w, r)
		})
	})
}

// Empty pages are legal and cheap. If only they were measured, the scenario is
// inconclusive. Single empty lists are noted.
func TestEmptyListsAreNoPass(t *testing.T) {
	const labels, lists, get = spec.ListLeadLabels, spec.ListLeadLists, spec.GetPlacementTest
	for name, tc := range map[string]struct {
		scenario string
		mix      []string
		empty    []string
		void     bool
		note     string // the operations that it names
	}{
		"throughput, none":     {"list-throughput", []string{labels, lists}, nil, false, ""},
		"throughput, some":     {"list-throughput", []string{labels, lists}, []string{labels}, false, labels},
		"throughput, all":      {"list-throughput", []string{labels, lists}, []string{labels, lists}, true, ""},
		"spike, all":           {"spike", []string{labels, lists}, []string{labels, lists}, true, ""},
		"soak, all":            {"soak", []string{labels, lists}, []string{labels, lists}, true, ""},
		"search, all":          {"sustained-rate", []string{labels, lists}, []string{labels, lists}, true, ""},
		"search, some":         {"sustained-rate", []string{labels, lists}, []string{lists}, false, lists},
		"mixture, all lists":   {"mixed", []string{get, labels, lists}, []string{labels, lists}, false, labels + ", " + lists},
		"others are not asked": {"mixed", []string{get, lists}, []string{labels}, false, ""},
	} {
		t.Run(name, inFakeTime(func(t *testing.T) {
			o := Run(t.Context(), emptied(t, tc.empty...), builtinScenario(t, tc.scenario, func(s *scenario.Scenario) {
				s.Mix = map[string]int{}
				for _, id := range tc.mix {
					s.Mix[id] = 1
				}
				s.Rate, s.Duration, s.Warmup, s.Thresholds = 50, 300*time.Millisecond, 0, []string{"errors<50%"}
				if s.Kind == scenario.Sustained {
					s.MaxRate, s.Confirm = 50, 300*time.Millisecond
				}
				if len(s.Limits) > 2 {
					s.Limits = s.Limits[:2]
				}
			}))
			want := reports.Passed
			if tc.void {
				want = reports.Inconclusive
			}
			if said := strings.HasPrefix(strings.Join(o.Reasons, "\n"), "no checked response has rows: "); o.Verdict != want || said != tc.void {
				t.Errorf("%s: %q, want %s", o.Verdict, o.Reasons, want)
			}
			noted := slices.DeleteFunc(slices.Clone(o.Notes), func(note string) bool { return !strings.Contains(note, "only empty pages were measured there") })
			if tc.note == "" && len(noted) > 0 || tc.note != "" && !slices.Equal(noted, []string{"no checked response of " + tc.note + " has rows: only empty pages were measured there"}) {
				t.Errorf("%q, want %q named", noted, tc.note)
			}
		}))
	}
}

// A shard leaves it to the merge to judge that a list is empty.
func TestEmptyListsOfAShard(t *testing.T) {
	inFakeTime(func(t *testing.T) {
		env := emptied(t, spec.ListLeadLists)
		env.Shard = measure.Shard{Index: 0, Of: 2}
		o := Run(t.Context(), env, builtinScenario(t, "list-throughput", func(s *scenario.Scenario) {
			s.Mix, s.Limits, s.Rate, s.Duration, s.Warmup = map[string]int{spec.ListLeadLists: 1}, nil, 1000, time.Second, 0
		}))
		if !slices.Equal(o.Inspected.Empty, []string{spec.ListLeadLists}) || o.Verdict != reports.Passed {
			t.Errorf("%s %q, %q", o.Verdict, o.Reasons, o.Inspected.Empty)
		}
	})(t)
}
