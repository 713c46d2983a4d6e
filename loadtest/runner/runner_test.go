package runner

import (
	"bytes"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/fixtures/refserver"
	"outreach.example/conformance/internal/judge"
	"outreach.example/conformance/internal/paging"
	"outreach.example/conformance/loadtest/generate"
	"outreach.example/conformance/loadtest/prepare"
	"outreach.example/conformance/loadtest/scenario"
	"outreach.example/conformance/loadtest/verdict"
	"outreach.example/conformance/reports"
	"outreach.example/conformance/reports/load"
	"outreach.example/conformance/spec"
	"outreach.example/conformance/suites/selftest/faults"
)

// counting counts the requests that match.
func counting(n *atomic.Int64, match func(*http.Request) bool) middleware {
	return instead(func(r *http.Request) bool {
		if match(r) {
			n.Add(1)
		}
		return false
	}, nil)
}

func unsafe(r *http.Request) bool { return r.Method != http.MethodGet }

// The profile bounds the rate and the number of all requests, and may forbid changes. A
// phase that would exceed it is not sent at all, nor is what it needs beforehand.
func TestTheProfileBoundsLoad(t *testing.T) {
	brief := func(s *scenario.Scenario) { s.Rate, s.Duration, s.Warmup = 100, time.Second, 0 }
	rate := func(e *Env) { e.MaxRate = 99 }
	budget := func(e *Env) { e.Budget = prepare.NewBudget(99) }
	for name, tc := range map[string]struct {
		scenario string
		change   func(*scenario.Scenario)
		bound    func(*Env)
		verdict  reports.Verdict
		says     string
		most     int64 // requests that reach the target
	}{
		"rate of a phase":   {"list-throughput", brief, rate, reports.Inconclusive, "exceed the profile's maximum of 99 (load.max_rate)", 0},
		"rate of changes":   {"mixed", brief, rate, reports.Inconclusive, "exceed the profile's maximum of 99 (load.max_rate)", 0},
		"budget of a phase": {"mixed", brief, budget, reports.Inconclusive, "the budget of 99 requests is too small", 0},
		"budget of a walk": {"walk", func(s *scenario.Scenario) { s.Duration = time.Hour }, budget,
			reports.Inconclusive, "(load.budget)", 99},
		"budget of probes": {"rate-limit", func(s *scenario.Scenario) { s.Duration = 20 * time.Second }, budget,
			reports.Inconclusive, "(load.budget)", 0},
		"rate of a search": {"sustained-rate", func(s *scenario.Scenario) {
			s.Rate, s.MaxRate, s.Duration, s.Confirm, s.Warmup = 50, 10_000, 200*time.Millisecond, 300*time.Millisecond, 0
			s.Limits, s.Thresholds = []int{1}, []string{"p50<1s"}
		}, rate, reports.Passed, "", 200},
		"writes: none": {"mixed", func(s *scenario.Scenario) { s.Duration, s.Thresholds = time.Second, nil },
			func(e *Env) { e.Profile.Writes = profile.WritesNone }, reports.Passed, "writes: none", 1000},
	} {
		t.Run(name, inFakeTime(func(t *testing.T) {
			var sent, changes atomic.Int64
			env := world(t, counting(&changes, unsafe), counting(&sent, func(*http.Request) bool { return true }))
			tc.bound(env)
			o := Run(t.Context(), env, builtinScenario(t, tc.scenario, tc.change))
			if said := strings.Join(append(o.Reasons, o.Notes...), "\n"); o.Verdict != tc.verdict || !strings.Contains(said, tc.says) {
				t.Errorf("%s: %s", o.Verdict, said)
			}
			if sent.Load() > tc.most || changes.Load() > 0 {
				t.Errorf("%d requests were sent, of at most %d; %d are changes", sent.Load(), tc.most, changes.Load())
			}
			if s := o.Sustained; s != nil && (!s.Confirmed || s.RatePerSecond != 99) {
				t.Errorf("found %+v, want the profile's maximum", s)
			}
		}))
	}
}

// dropping closes the connection of the lost requests, which get no response. n
// counts from 1.
func dropping(lost func(n int64) bool) middleware {
	var came atomic.Int64
	return instead(func(*http.Request) bool { return lost(came.Add(1)) }, breakOff)
}

func breakOff(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }

// patient returns a world whose generator has the options.
func patient(t *testing.T, options generate.Options, around ...middleware) *Env {
	t.Helper()
	return envOf(t, inMemory, serving(t, refserver.Options{Middleware: around}), options)
}

// A target that dies ends a scenario of hours. Its figures until then are reported
// and decide nothing.
func TestADyingTargetEndsTheScenario(t *testing.T) {
	const hours = 8 * time.Hour
	long := func(s *scenario.Scenario) { s.Duration = hours }
	for name, tc := range map[string]struct {
		scenario string
		dies     int64 // after so many requests
		change   func(*scenario.Scenario)
		says     string
		measured bool
	}{
		"steady":  {"list-throughput", 300, long, "limit=1 was given up after ", true},
		"warm-up": {"list-throughput", 100, func(s *scenario.Scenario) { s.Warmup = hours }, "warm-up was given up after ", false},
		"soak":    {"soak", 300, long, "soak was given up after ", true},
		"deletions": {"mixed", 30, func(s *scenario.Scenario) {
			s.Duration, s.Warmup, s.Mix = 50*time.Second, 0, map[string]int{"*.list": 1, spec.DeletePlacementTest: 9}
		}, "the tests to be deleted could not be created: ", false},
		"depth": {"page-depth", 10, long, "walking to the pages of ", false},
		"walk":  {"walk", 300, long, "the walks were aborted: ", true},
		"sustained": {"sustained-rate", 800, func(s *scenario.Scenario) {
			s.Duration, s.Confirm, s.MaxRate, s.Warmup = 500*time.Millisecond, hours, 250, 0
		}, "/s was given up after ", true},
		"limiter": {"rate-limit", 50, func(s *scenario.Scenario) { s.Duration, s.Budget = hours, 1_000_000 }, "probing was aborted: ", false},
	} {
		t.Run(name, inFakeTime(func(t *testing.T) {
			env := patient(t, generate.Options{MaxOutage: 300 * time.Millisecond}, dropping(func(n int64) bool { return n > tc.dies }))
			s := builtinScenario(t, tc.scenario, tc.change)
			s.Thresholds = []string{"errors<1%"}
			o := Run(t.Context(), env, s)
			if reasons := strings.Join(o.Reasons, "\n"); o.Verdict != reports.Inconclusive || !strings.Contains(reasons, tc.says) {
				t.Fatalf("%s: %s", o.Verdict, reasons)
			}
			if !tc.measured {
				return
			}
			if len(o.Notes) == 0 || !strings.Contains(o.Notes[0], ": no responses from ") || len(o.Drift) > 0 {
				t.Errorf("notes %q, drift %+v", o.Notes, o.Drift)
			}
			last := o.Phases[len(o.Phases)-1]
			if last.Response.Accepted == nil || last.Planned != last.Sent+last.Dropped || !last.ClosedLoop && last.Dropped == 0 {
				t.Errorf("%d planned, %d sent, %d dropped", last.Planned, last.Sent, last.Dropped)
			}
			for _, held := range o.Thresholds {
				if held.Outcome == load.Missed {
					t.Errorf("%s is missed in a phase that was given up: %s", held.Text, held.Why)
				}
			}
		}))
	}
}

// threePhases returns a scenario of 20 requests each for pages of 1, 10 and 100 rows.
func threePhases(t *testing.T) scenario.Scenario {
	t.Helper()
	return builtinScenario(t, "list-throughput", func(s *scenario.Scenario) {
		s.Mix = map[string]int{spec.ListLeadLists: 1}
		s.Limits, s.Rate, s.Duration, s.Warmup, s.Thresholds = []int{1, 10, 100}, 20, time.Second, 0, []string{"errors<1%"}
	})
}

// fromTheSecond replaces the handler of all phases but the one with pages of 1 row.
func fromTheSecond(do http.HandlerFunc) middleware {
	return instead(func(r *http.Request) bool { return len(r.URL.Query().Get("limit")) > 1 }, do)
}

// A target that stops answering is given up after that phase. One that answers with
// errors, or with what cannot be read, is loaded to the end and does not pass.
func TestPhasesThatShowNothing(t *testing.T) {
	for name, tc := range map[string]struct {
		does   http.HandlerFunc
		phases int
		says   string
	}{
		"breaks connections": {breakOff, 2, "the target has stopped responding (connection broken: 20); the scenario was given up"},
		"fails":              {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(500) }, 3, "none of 20 requests was accepted (status 500: 20)"},
		"compressed": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("Content-Encoding", "gzip")
			_, _ = w.Write([]byte("no matter"))
		}, 3, "40 of 60 responses could not be checked: 40 were compressed despite Accept-Encoding: identity"},
	} {
		t.Run(name, inFakeTime(func(t *testing.T) {
			o := Run(t.Context(), patient(t, generate.Options{Timeout: 500 * time.Millisecond}, fromTheSecond(tc.does)), threePhases(t))
			if reasons := strings.Join(o.Reasons, "\n"); len(o.Phases) != tc.phases || o.Verdict == reports.Passed || !strings.Contains(reasons, tc.says) {
				t.Errorf("%d phases, %s: %s", len(o.Phases), o.Verdict, reasons)
			}
		}))
	}
}

// rows answers with the page.
func rows(page string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(page))
	}
}

// A search ends if the target answers not even a single request. A rate that
// overwhelms it does not end one.
func TestASearchTellsOverwhelmedFromDead(t *testing.T) {
	for name, alive := range map[string]bool{"overwhelmed": true, "dead": false} {
		t.Run(name, inFakeTime(func(t *testing.T) {
			var came atomic.Int64
			lost := instead(func(r *http.Request) bool {
				return r.URL.Query().Get("limit") == "1" && came.Add(1) <= 40 || !alive
			}, breakOff)
			o := Run(t.Context(), patient(t, generate.Options{MaxOutage: time.Hour}, lost), builtinScenario(t, "sustained-rate", func(s *scenario.Scenario) {
				s.Mix = map[string]int{spec.ListLeadLists: 1}
				s.Rate, s.MaxRate, s.Duration, s.Confirm, s.Warmup, s.Limits = 100, 100, 300*time.Millisecond, 300*time.Millisecond, 0, []int{1}
				s.Thresholds = []string{"errors<50%"}
			}))
			if (o.Verdict == reports.Passed) != alive || !alive && !strings.Contains(o.Reasons[0], "100/s: the target stopped answering, search aborted") {
				t.Errorf("%s: %q", o.Verdict, o.Reasons)
			}
		}))
	}
}

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

// A walk is charged with rows that it repeats, unless they have no id and may be alike, and with
// not ending, unless a bound of ours ended it.
func TestWhatOneWalkShows(t *testing.T) {
	for name, tc := range map[string]struct {
		keys   string
		byID   bool
		end    paging.End
		faults int64
	}{
		"each row once":      {"ab", true, paging.Done, 0},
		"a row twice":        {"aba", true, paging.Done, 1},
		"rows that are like": {"aba", false, paging.Done, 0},
		"a cursor again":     {"ab", true, paging.CursorRepeated, 1},
		"too long for us":    {"ab", true, paging.Capped, 0},
	} {
		w := &walkers{r: &runner{ledger: judge.NewLedger(spec.Pairs())}}
		one := walkOf(0, 1, tc.keys)
		one.End = tc.end
		for i := range one.Pages[0].Rows {
			one.Pages[0].Rows[i].ByID = tc.byID
		}
		if w.ends(one); w.out.Faults != tc.faults {
			t.Errorf("%s: %d faults, want %d", name, w.out.Faults, tc.faults)
		}
	}
}

// Walks of a list that takes hours end soon after the duration. No walk keeps a response.
func TestWalksAreBounded(t *testing.T) {
	inFakeTime(func(t *testing.T) {
		env := world(t, slowWhen(10*time.Second, func(r *http.Request, _ int64) bool { return strings.HasSuffix(r.URL.Path, "/webhook-events") })(t))
		s := builtinScenario(t, "walk", func(s *scenario.Scenario) {
			s.Mix, s.Clients, s.Limits, s.Thresholds = map[string]int{spec.ListLeadLists: 1, spec.ListWebhookEvents: 1}, 2, []int{1}, nil
		})
		o := Run(t.Context(), env, s)
		if notes := strings.Join(o.Notes, "\n"); o.Verdict != reports.Passed || o.Seconds > 60 || !strings.Contains(notes, "no walk of webhook-events.list completed") {
			t.Errorf("%s after %.0f s: %q, %s", o.Verdict, o.Seconds, o.Reasons, notes)
		}
		r, err := newRunner(t.Context(), env, s, true)
		if err != nil {
			t.Fatal(err)
		}
		defer r.inspector.Close()
		w := &walkers{direct: r.direct("walk", time.Now()), r: r, whole: map[string][]walked{}}
		w.one(env.Client, spec.MustOperation(spec.ListLeadLists), 100)
		if kept := w.whole[spec.ListLeadLists]; len(kept) != 1 || kept[0].last.Status != http.StatusOK || kept[0].last.Body != nil {
			t.Errorf("%d walks are kept, with %v", len(kept), kept)
		}
	})(t)
}

// Lists that show nothing make a scenario inconclusive, or are noted if others show something.
func TestListsThatShowNothing(t *testing.T) {
	deeper := func(r *http.Request) bool { return r.URL.Query().Has("starting_after") }
	on := func(path string, match func(*http.Request) bool, do http.HandlerFunc) middleware {
		return instead(func(r *http.Request) bool {
			return strings.HasPrefix(r.URL.Path, "/api/v2/"+path) && (match == nil || match(r))
		}, do)
	}
	empty := func(w http.ResponseWriter, r *http.Request) {
		page := `{"items":[]}`
		if op, _, _ := spec.MatchOperation(r.Method, r.URL.Path); op.Answer == spec.Array {
			page = "[]"
		}
		rows(page)(w, r)
	}
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
				switch s.Kind {
				case scenario.Walk:
					s.Clients, s.Limits = 2, []int{100}
				case scenario.Steady:
					s.Mix = map[string]int{"*.list": 1}
				}
			}))
			if said := strings.Join(append(o.Reasons, o.Notes...), "\n"); o.Verdict != tc.verdict || !strings.Contains(said, tc.says) {
				t.Errorf("%s: %s; want %s: %s", o.Verdict, said, tc.verdict, tc.says)
			}
		}))
	}
}

// reds are short scenarios, each with an honest server and the faults that it must find.
var reds = []struct {
	scenario string
	change   func(*scenario.Scenario)
	honest   string // the shape of the honest server
	faults   map[string]fault
}{
	{
		scenario: "list-throughput",
		change: func(s *scenario.Scenario) {
			s.Limits, s.Duration, s.Warmup, s.Thresholds = []int{1, 10}, 2*time.Second, 0, []string{"errors<1%", "p99<500ms"}
		},
		faults: map[string]fault{
			"stalls":                         {shapedBy("stall=800ms/1s"), "p99<500ms missed"},
			"fails":                          {shapedBy("errors=20%"), "errors<1% missed"},
			"a row of the wrong shape":       {defectOf("inbox-placement-tests.list/id-as-a-number"), "SHAPE-INBOX_PLACEMENT_TEST-ID-TYPE on inbox-placement-tests.list"},
			"more rows than were asked for":  {defectOf("lead-lists.list/serves-10-rows-a-page-for-any-limit"), "PAGE-LIMIT-HONOURED on lead-lists.list"},
			"another workspace's row":        {func(*testing.T) middleware { return with(strangersRow) }, "ISOLATION-OWNER on inbox-placement-tests.list"},
			"serves less than was asked for": {shapedBy("capacity=20/1s"), "p99<500ms missed"},
		},
	},
	{
		scenario: "page-depth",
		change: func(s *scenario.Scenario) {
			s.Mix, s.Pages, s.Duration, s.Warmup = map[string]int{spec.ListWebhookEvents: 1}, []int{1, 10, 100}, time.Second, 0
			s.Thresholds = []string{"depth<3x"}
		},
		honest: "100%:30ms",
		faults: map[string]fault{"deep pages are slow": {slowWhen(100*time.Millisecond, func(r *http.Request, _ int64) bool { return r.URL.Query().Has("starting_after") }),
			"depth<3x missed"}},
	},
	{
		scenario: "walk",
		change: func(s *scenario.Scenario) {
			s.Mix, s.Clients, s.Limits = map[string]int{spec.ListLeadLists: 1}, 2, []int{7, 100}
			s.Duration, s.Thresholds = time.Second, nil
		},
		faults: map[string]fault{
			"repeats a row":                {defectOf("lead-lists.list/starts-each-page-with-the-last-row-of-the-previous-page"), "PAGE-WALK-ONCE on lead-lists.list"},
			"drops a row":                  {defectOf("lead-lists.list/skips-a-row-between-two-pages"), "PAGE-WALK-COMPLETE on lead-lists.list"},
			"does not end":                 {defectOf("lead-lists.list/links-the-last-page-to-itself"), "PAGE-WALK-ENDS on lead-lists.list"},
			"small pages in another order": {defectOf("lead-lists.list/shows-small-pages-in-reverse-order"), "PAGE-WALK-SEQUENCE on lead-lists.list"},
		},
	},
	{
		scenario: "mixed",
		change: func(s *scenario.Scenario) {
			s.Limits, s.Duration, s.Warmup, s.Thresholds = []int{10}, time.Second, 0, []string{"errors<5%"}
		},
		faults: map[string]fault{
			"a deletion fails":                {defectOf("inbox-placement-tests.delete/refuses-a-key-that-has-the-permission-in-every-third-response"), "STATUS-200 on inbox-placement-tests.delete"},
			"another test than was asked for": {defectOf("inbox-placement-tests.get/shows-another-id-in-a-get"), "STATE-GET-LIST on inbox-placement-tests.get"},
			"a creation without a field":      {defectOf("inbox-placement-tests.create/name-not-at-all"), "SHAPE-INBOX_PLACEMENT_TEST-NAME-PRESENT on inbox-placement-tests.create"},
		},
	},
	{
		scenario: "spike",
		change: func(s *scenario.Scenario) {
			s.Rate, s.Burst, s.Duration, s.Warmup, s.Thresholds = 40, 160, 3*time.Second, 0, []string{"errors<5%"}
		},
		honest: "100%:100ms",
		faults: map[string]fault{"stays slow after the burst": {slowWhen(300*time.Millisecond, func(_ *http.Request, n int64) bool { return n > 100 }),
			"after the burst the median response time did not recover"}},
	},
	{
		scenario: "soak",
		change:   func(s *scenario.Scenario) { s.Rate, s.Duration, s.Warmup, s.Thresholds = 20, time.Minute, 0, nil },
		honest:   "100%:20ms",
		faults:   map[string]fault{"gets slower": {shapedBy("drift=20ms/1s"), "response p50 rose under steady load"}},
	},
}

// fault is a fault of a server, and a part of what a scenario must say of it.
type fault struct {
	lay  func(*testing.T) middleware
	says string
}

// Each scenario passes on an honest server and fails on each of the faults that it must find.
func TestScenariosTellFaults(t *testing.T) {
	for _, tc := range reds {
		t.Run(tc.scenario, func(t *testing.T) {
			t.Parallel()
			s := builtinScenario(t, tc.scenario, tc.change)
			usual := func(t *testing.T) []middleware {
				if tc.honest == "" {
					return nil
				}
				return []middleware{shapedBy(tc.honest)(t)}
			}
			t.Run("honest", inFakeTime(func(t *testing.T) {
				o := Run(t.Context(), world(t, usual(t)...), s)
				if o.Verdict != reports.Passed || len(o.Reasons) > 0 {
					t.Errorf("%s: %q, %+v", o.Verdict, o.Reasons, o.Violations)
				}
			}))
			for name, f := range tc.faults {
				t.Run(name, inFakeTime(func(t *testing.T) {
					o := Run(t.Context(), world(t, append([]middleware{f.lay(t)}, usual(t)...)...), s)
					said := strings.Join(o.Reasons, "\n")
					for _, v := range o.Violations {
						said += "\n" + v.Requirement + " on " + v.Operation
					}
					if o.Verdict != reports.Failed || !strings.Contains(said, f.says) {
						t.Errorf("%s: %s; want that %s", o.Verdict, said, f.says)
					}
				}))
			}
		})
	}
}

func shapedBy(text string) func(*testing.T) middleware {
	return func(t *testing.T) middleware { return shaped(t, text) }
}

func defectOf(id string) func(*testing.T) middleware {
	return func(t *testing.T) middleware { return defect(t, id) }
}

// slowWhen adds the delay to the requests that match; n counts them from 1.
func slowWhen(delay time.Duration, match func(r *http.Request, n int64) bool) func(*testing.T) middleware {
	return func(*testing.T) middleware {
		var n atomic.Int64
		return instead(func(r *http.Request) bool {
			if match(r, n.Add(1)) {
				time.Sleep(delay)
			}
			return false
		}, nil)
	}
}

// strangersRow shows the rows of a list as those of another workspace.
func strangersRow(next faults.Handler) faults.Handler {
	return func(r faults.Request) (faults.Response, error) {
		answer, err := next(r)
		if r.Operation == spec.ListPlacementTests {
			profile := embedded()
			answer.Body = bytes.ReplaceAll(answer.Body, []byte(profile.Workspaces[dataset.Main].ID), []byte(profile.Workspaces[dataset.Second].ID))
		}
		return answer, err
	}
}
