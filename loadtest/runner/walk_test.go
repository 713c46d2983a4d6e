package runner

import (
	"net/http"
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
func walkOf(began, ended int, keys string) walked {
	page := paging.Page{}
	for _, key := range keys {
		page.Rows = append(page.Rows, paging.Row{Key: string(key)})
	}
	at := func(second int) time.Time { return time.Unix(int64(second), 0) }
	return walked{op: spec.MustOperation(spec.ListLeadLists), began: at(began), ended: at(ended), Walk: paging.Walk{Pages: []paging.Page{page}, End: paging.Done}}
}

// A row is missing from a walk only if earlier and later walks show it. It may have
// been created in between.
func TestWalksAreComparedWithWhatWasThereAllAlong(t *testing.T) {
	for name, tc := range map[string]struct {
		walks    []walked
		faults   int64
		compared bool
	}{
		"left out":           {[]walked{walkOf(0, 1, "ab"), walkOf(2, 3, "a"), walkOf(4, 5, "ab")}, 1, true},
		"created meanwhile":  {[]walked{walkOf(0, 9, "ab"), walkOf(1, 2, "a"), walkOf(10, 11, "ab")}, 0, false},
		"created in between": {[]walked{walkOf(0, 1, "a"), walkOf(0, 9, "ab"), walkOf(2, 3, "a"), walkOf(10, 11, "ab")}, 0, true},
		"deleted in between": {[]walked{walkOf(0, 1, "ab"), walkOf(2, 9, "a"), walkOf(3, 4, "ab"), walkOf(10, 11, "a")}, 0, true},
		"in another order":   {[]walked{walkOf(0, 1, "ab"), walkOf(0, 2, "ba")}, 1, false},
	} {
		r := &runner{draft: verdict.NewDraft(scenario.Scenario{Kind: scenario.Walk}, verdict.Terms{}), ledger: judge.NewLedger(spec.Pairs())}
		w := &walkers{r: r, lists: []spec.Operation{spec.MustOperation(spec.ListLeadLists)}, whole: map[string][]walked{spec.ListLeadLists: tc.walks}}
		w.compare()
		notes := strings.Join(w.r.draft.Result.Notes, "\n")
		if w.out.Faults != tc.faults || (notes == "") != tc.compared || !tc.compared && !strings.Contains(notes, "not checked for missing rows") {
			t.Errorf("%s: %d faults, want %d; notes: %s", name, w.out.Faults, tc.faults, notes)
		}
	}
}

// Lists that show nothing make a scenario inconclusive, or are noted if others show something.
func TestListsThatShowNothing(t *testing.T) {
	deeper := func(r *http.Request) bool { return r.URL.Query().Has("starting_after") }
	on := func(path string, match func(*http.Request) bool, do http.HandlerFunc) middleware {
		return instead(func(r *http.Request) bool {
			return strings.HasPrefix(r.URL.Path, "/api/v2/"+path) && (match == nil || match(r))
		}, do)
	}
	empty := rows(`{"items":[]}`)
	for name, tc := range map[string]struct {
		scenario string
		around   middleware
		verdict  reports.Verdict
		says     string // a reason or a note
	}{
		"no walk ends":         {"walk", on("", deeper, breakOff), reports.Inconclusive, "no walk completed and returned a row"},
		"no walk shows a row":  {"walk", on("", nil, empty), reports.Inconclusive, "no walk completed and returned a row"},
		"a list is empty":      {"walk", on("webhook-events", nil, empty), reports.Passed, "webhook-events.list has no rows to walk"},
		"a list does not end":  {"walk", on("webhook-events", deeper, breakOff), reports.Passed, "no walk of webhook-events.list completed:"},
		"nothing is accepted":  {"walk", on("", nil, breakOff), reports.Inconclusive, "none of "},
		"no second page":       {"page-depth", on("", nil, empty), reports.Inconclusive, "no list has a second page"},
		"one without":          {"page-depth", on("webhook-events", nil, empty), reports.Passed, "webhook-events.list has no second page"},
		"all pages are empty":  {"list-throughput", on("", nil, empty), reports.Inconclusive, "no checked response has rows: "},
		"some pages are empty": {"soak", on("webhook-events", nil, empty), reports.Passed, "no checked response of webhook-events.list has rows: only empty pages were measured there"},
	} {
		t.Run(name, inFakeTime(func(t *testing.T) {
			o := Run(t.Context(), world(t, tc.around), builtinScenario(t, tc.scenario, func(s *scenario.Scenario) {
				s.Mix, s.Duration, s.Warmup, s.Thresholds = map[string]int{spec.ListLeadLists: 1, spec.ListWebhookEvents: 1}, time.Second, 0, nil
				if s.Kind == scenario.Walk {
					s.Clients, s.Limits = 2, []int{100}
				}
			}))
			if said := strings.Join(append(o.Reasons, o.Notes...), "\n"); o.Verdict != tc.verdict || !strings.Contains(said, tc.says) {
				t.Errorf("%s: %s; want %s: %s", o.Verdict, said, tc.verdict, tc.says)
			}
		}))
	}
}
