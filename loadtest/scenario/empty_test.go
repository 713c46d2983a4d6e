package scenario

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"outreach.example/conformance/loadtest/inspect"
	"outreach.example/conformance/loadtest/measure"
	"outreach.example/conformance/reports"
	"outreach.example/conformance/reports/load"
	"outreach.example/conformance/spec"
)

// emptied is a world whose lists of the operations have no rows.
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

// Empty pages are legal and cost next to nothing: where nothing else was measured,
// nothing was found out; where only some lists are empty, they are named.
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
			o := Run(t.Context(), emptied(t, tc.empty...), builtinScenario(t, tc.scenario, func(s *Scenario) {
				s.Mix = map[string]int{}
				for _, id := range tc.mix {
					s.Mix[id] = 1
				}
				s.Rate, s.Duration, s.Warmup, s.Thresholds = 50, 300*time.Millisecond, 0, []string{"errors<50%"}
				if s.Kind == Sustained {
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
			if said := strings.HasPrefix(strings.Join(o.Reasons, "\n"), "no checked answer has rows: "); o.Verdict != want || said != tc.void {
				t.Errorf("%s: %q, want %s", o.Verdict, o.Reasons, want)
			}
			noted := slices.DeleteFunc(slices.Clone(o.Notes), func(note string) bool { return !strings.Contains(note, "only empty pages were measured there") })
			if tc.note == "" && len(noted) > 0 || tc.note != "" && !slices.Equal(noted, []string{"no checked answer of " + tc.note + " has rows: only empty pages were measured there"}) {
				t.Errorf("%q, want %q named", noted, tc.note)
			}
		}))
	}
}

// What one shard has seen of a list the whole has seen.
func TestEmptyListsOfShards(t *testing.T) {
	inFakeTime(func(t *testing.T) {
		shared := func(empty ...[]string) Outcome {
			var shares []Share
			for i, of := range empty {
				rec := made(1000, map[int]int{200: 1000})
				rec.Shard = measure.Shard{Index: i, Of: len(empty)}
				share := shareOf(rec)
				share.Empty = of
				shares = append(shares, share)
			}
			return judgedOf(t, nil, shares...)
		}
		lists := []string{spec.ListLeadLists}
		if o := shared(lists, lists); o.Verdict != reports.Inconclusive || !strings.HasPrefix(o.Reasons[0], "no checked answer has rows") {
			t.Errorf("all saw none: %s %q", o.Verdict, o.Reasons)
		}
		if o := shared(lists, nil); o.Verdict != reports.Passed {
			t.Errorf("one saw some: %s %q", o.Verdict, o.Reasons)
		}
		shard := emptied(t, spec.ListLeadLists)
		shard.Shard = measure.Shard{Index: 0, Of: 2}
		o := Run(t.Context(), shard, mine)
		if !slices.Equal(o.Empty, lists) || o.Verdict != reports.Passed {
			t.Errorf("a shard leaves it to the whole: %s %q, %q", o.Verdict, o.Reasons, o.Empty)
		}
	})(t)
}

// What no shard could judge, the whole has not judged either.
func TestUninspectedAnswersOfShards(t *testing.T) {
	for name, tc := range map[string]struct {
		unread, checked int64 // of 1,000 answers of each shard
		says            string
	}{
		"all were judged": {0, 1000, ""},
		"a few were not":  {10, 990, ""},
		"most were not":   {900, 100, "1800 of 2000 answers could not be checked: 1800 were compressed"},
		"none was":        {1000, 0, "none of 2000 answers could be checked: 2000 were compressed"},
	} {
		var shares []Share
		for i := range 2 {
			rec := made(1000, map[int]int{200: 1000})
			rec.Shard = measure.Shard{Index: i, Of: 2}
			share := shareOf(rec)
			share.Unread = inspect.Unread{Compressed: tc.unread}
			share.Coverage = &load.Coverage{Answers: 1000, Checked: tc.checked, LeftOut: tc.unread}
			shares = append(shares, share)
		}
		o := judgedOf(t, nil, shares...)
		if said := strings.Join(o.Reasons, "\n"); (o.Verdict == reports.Inconclusive) != (tc.says != "") || !strings.HasPrefix(said, tc.says) {
			t.Errorf("%s: %s %q, want %q", name, o.Verdict, said, tc.says)
		}
	}
}
