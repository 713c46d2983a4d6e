package runner

import (
	"fmt"
	"io"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"

	"outreach.example/conformance/internal/judge"
	"outreach.example/conformance/internal/paging"
	"outreach.example/conformance/loadtest/scenario"
	"outreach.example/conformance/loadtest/verdict"
	"outreach.example/conformance/reports"
	"outreach.example/conformance/spec"
)

// walkOf returns a complete walk of lead lists between two seconds.
func walkOf(began, ended int, keys ...string) walked {
	page := paging.Page{}
	for _, key := range keys {
		page.Rows = append(page.Rows, paging.Row{Key: key})
	}
	op, _ := spec.FindOperation(spec.ListLeadLists)
	at := func(second int) time.Time { return time.Unix(int64(second), 0) }
	return walked{op: op, began: at(began), ended: at(ended), Walk: paging.Walk{Pages: []paging.Page{page}, End: paging.Done}}
}

// A row is missing from a walk only if earlier and later walks show it. It may have
// been created in between.
func TestWalksAreComparedWithWhatWasThereAllAlong(t *testing.T) {
	for name, tc := range map[string]struct {
		walks  []walked
		faults int64
		note   string
	}{
		"left out":           {[]walked{walkOf(0, 1, "a", "b"), walkOf(2, 3, "a"), walkOf(4, 5, "a", "b")}, 1, ""},
		"created meanwhile":  {[]walked{walkOf(0, 9, "a", "b"), walkOf(1, 2, "a"), walkOf(10, 11, "a", "b")}, 0, "not checked for missing rows"},
		"created in between": {[]walked{walkOf(0, 1, "a"), walkOf(0, 9, "a", "b"), walkOf(2, 3, "a"), walkOf(10, 11, "a", "b")}, 0, ""},
		"deleted meanwhile":  {[]walked{walkOf(0, 1, "a", "b"), walkOf(2, 9, "a"), walkOf(3, 4, "a", "b")}, 0, "not checked for missing rows"},
		"deleted in between": {[]walked{walkOf(0, 1, "a", "b"), walkOf(2, 9, "a"), walkOf(3, 4, "a", "b"), walkOf(10, 11, "a")}, 0, ""},
		"all at once":        {[]walked{walkOf(0, 5, "a", "b"), walkOf(1, 6, "a"), walkOf(2, 7, "a", "b")}, 0, "not checked for missing rows"},
		"in another order":   {[]walked{walkOf(0, 1, "a", "b"), walkOf(0, 2, "b", "a")}, 1, "not checked for missing rows"},
	} {
		t.Run(name, func(t *testing.T) {
			w := walkersOf(t, tc.walks)
			w.compare()
			notes := strings.Join(w.r.draft.Result.Notes, "\n")
			if w.out.Faults != tc.faults || !strings.Contains(notes, tc.note) || tc.note == "" && notes != "" {
				t.Errorf("%d faults, want %d; notes: %s", w.out.Faults, tc.faults, notes)
			}
		})
	}
}

// walkersOf returns clients that have finished the walks.
func walkersOf(t *testing.T, walks []walked) *walkers {
	t.Helper()
	r := &runner{env: world(t), ctx: t.Context(), draft: verdict.NewDraft(scenario.Scenario{Kind: scenario.Walk}, verdict.Terms{}), ledger: judge.NewLedger(spec.Pairs())}
	return &walkers{r: r, lists: []spec.Operation{spec.MustOperation(spec.ListLeadLists)},
		whole: map[string][]walked{spec.ListLeadLists: walks}}
}

// The cost of comparing walks grows linearly, because an interrupted run waits for
// it.
func TestComparisonOfWalksIsLinear(t *testing.T) {
	keys := make([]string, 1000)
	for i := range keys {
		keys[i] = fmt.Sprint(i)
	}
	taken := func(n int) uint64 {
		var walks []walked
		for i := range n {
			walks = append(walks, walkOf(2*i, 2*i+1, keys...))
		}
		w := walkersOf(t, walks)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		w.compare()
		runtime.ReadMemStats(&after)
		return after.TotalAlloc - before.TotalAlloc
	}
	if few, many := taken(16), taken(mostWalksKept); many > 6*few {
		t.Errorf("16 walks take %d bytes, and %d, which are four times as many, %d", few, mostWalksKept, many)
	}
}

// If no walk completed and returned a row, the scenario is inconclusive. A single
// list without a complete walk is noted.
func TestWalksThatAreNotWhole(t *testing.T) {
	lists := map[string]string{"/lead-lists": spec.ListLeadLists, "/webhook-events": spec.ListWebhookEvents}
	around := func(path string, when func(*http.Request) bool, do http.HandlerFunc) middleware {
		return func(next http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if strings.HasSuffix(r.URL.Path, path) && when(r) {
					do(w, r)
					return
				}
				next.ServeHTTP(w, r)
			})
		}
	}
	deeper := func(r *http.Request) bool { return r.URL.Query().Has("starting_after") }
	always := func(*http.Request) bool { return true }
	breaks := func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }
	empty := func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"items":[]}`)
	}
	const noneWhole = "no walk completed and returned a row"
	for name, tc := range map[string]struct {
		around middleware
		want   reports.Verdict
		says   string // the reason, in part
		notes  string
	}{
		"none comes to its end": {around("", deeper, breaks), reports.Inconclusive, noneWhole, ""},
		"none shows a row":      {around("", always, empty), reports.Inconclusive, noneWhole, ""},
		"one list is empty":     {around("/webhook-events", always, empty), reports.Passed, "", "webhook-events.list has no rows to walk"},
		"one list does not":     {around("/webhook-events", deeper, breaks), reports.Passed, "", "no walk of webhook-events.list completed:"},
		"nothing is accepted":   {around("", always, breaks), reports.Inconclusive, "none of ", ""},
	} {
		t.Run(name, inFakeTime(func(t *testing.T) {
			o := Run(t.Context(), world(t, tc.around), builtinScenario(t, "walk", func(s *scenario.Scenario) {
				s.Mix, s.Clients, s.Limits = map[string]int{}, len(lists), []int{100}
				for _, list := range lists {
					s.Mix[list] = 1
				}
				s.Duration, s.Thresholds = time.Second, nil
			}))
			reasons, notes := strings.Join(o.Reasons, "\n"), strings.Join(o.Notes, "\n")
			if o.Verdict != tc.want || !strings.Contains(reasons, tc.says) || tc.says == "" && reasons != "" || len(o.Reasons) > 1 {
				t.Errorf("%s: %s; want %s: %s", o.Verdict, reasons, tc.want, tc.says)
			}
			if !strings.Contains(notes, tc.notes) {
				t.Errorf("notes: %s; want %s", notes, tc.notes)
			}
		}))
	}
}
