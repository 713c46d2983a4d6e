package loadtest_test

import (
	"errors"
	"maps"
	"net/url"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/fixtures/refserver"
	"outreach.example/conformance/fixtures/target"
	"outreach.example/conformance/internal/sandbox"
	"outreach.example/conformance/internal/sandbox/journal"
	"outreach.example/conformance/internal/testbed"
	"outreach.example/conformance/loadtest"
	"outreach.example/conformance/loadtest/compare"
	"outreach.example/conformance/loadtest/scenario"
	"outreach.example/conformance/loadtest/verdict"
	"outreach.example/conformance/reports"
	"outreach.example/conformance/spec"
)

// reading is a scenario that asks for small pages.
func reading(rate float64, lasts time.Duration) scenario.Scenario {
	return scenario.Scenario{Name: "reading", About: "Small pages.", Kind: scenario.Steady,
		Mix: map[string]int{spec.ListLeadLists: 1}, Limits: []int{1}, Rate: rate, Duration: lasts}
}

// writing is a scenario that creates, deletes and moves.
func writing(rate float64, lasts time.Duration) scenario.Scenario {
	return scenario.Scenario{Name: "writing", About: "Changes of all kinds that can be put back.", Kind: scenario.Steady,
		Mix:  map[string]int{spec.ListLeadLists: 3, spec.CreatePlacementTest: 1, spec.DeletePlacementTest: 1, spec.MoveAccounts: 1, spec.GetPlacementTest: 1},
		Rate: rate, Duration: lasts}
}

func TestConsent(t *testing.T) {
	for _, tc := range []struct {
		base     string
		consents []string
		ok       bool
	}{
		{"http://127.0.0.1:8025", nil, true},
		{"http://[::1]:80/prefix", nil, true},
		{"http://localhost:8025", nil, true},
		{"http://localhost.:8025", nil, true},
		{"https://api.example.com", nil, false},
		{"https://api.example.com", []string{"api.example.com"}, true},
		{"https://api.example.com", []string{"example.com"}, false},
		{"http://localhost.example.com", nil, false},
		{"http://127.0.0.1.example.com", nil, false},
		{"http://0.0.0.0:8025", nil, false},
	} {
		err := loadtest.Consented(tc.base, tc.consents...)
		if (err == nil) != tc.ok || err != nil && !errors.Is(err, loadtest.ErrConsent) {
			t.Errorf("%s with %q: %v", tc.base, tc.consents, err)
		}
		if err != nil && !strings.Contains(err.Error(), "--consent") {
			t.Errorf("%v does not say what to do", err)
		}
	}
	if err := loadtest.Consented("no address"); err == nil || errors.Is(err, loadtest.ErrConsent) {
		t.Errorf("an address without a host: %v", err)
	}
}

// elsewhere is the server at an address that is not known to be this machine.
func elsewhere(t *testing.T, server *target.Target) *target.Target {
	t.Helper()
	u, err := url.Parse(server.BaseURL)
	if err != nil {
		t.Fatal(err)
	}
	found, err := target.URL(profile.Embedded(), "http://0.0.0.0:"+u.Port())
	if err != nil {
		t.Fatal(err)
	}
	found.TruthURL = server.TruthURL
	return found
}

// Without consent nothing is sent, not even for calibration or preparation.
func TestNothingIsSentWithoutConsent(t *testing.T) {
	t.Parallel()
	here := served(t, "", "")
	away := elsewhere(t, here)
	config := loadtest.Config{Target: away, Scenarios: []scenario.Scenario{writing(20, time.Second)}, ByName: true, JournalDir: t.TempDir()}
	if _, err := loadtest.Run(t.Context(), config); !errors.Is(err, loadtest.ErrConsent) {
		t.Errorf("a run: %v", err)
	}
	config.Target = here
	if _, err := loadtest.Compare(t.Context(), config, away, compare.LeastPairs(1)); !errors.Is(err, loadtest.ErrConsent) {
		t.Errorf("a comparison: %v", err)
	}
	if record := truthOf(t, here); record.Total > 0 {
		t.Errorf("%d requests were sent: %+v", record.Total, record.Requests)
	}
	if pending, err := journal.Find(config.JournalDir); err != nil || len(pending) > 0 {
		t.Errorf("journals: %+v, %v", pending, err)
	}
	config.Target, config.Consent, config.Scenarios = away, []string{"0.0.0.0"}, []scenario.Scenario{reading(20, 200*time.Millisecond)}
	if _, err := loadtest.Run(t.Context(), config); err != nil || truthOf(t, here).Total == 0 {
		t.Errorf("with consent: %v", err)
	}
}

// An operation that the profile excludes gets no request, neither from the preparation
// nor from a scenario. What needs it is left out, too.
func TestExcludedOperationsGetNoRequest(t *testing.T) {
	t.Parallel()
	for name, excluded := range map[string][]string{
		"reads":    {spec.ListLeadLists, spec.ListSubsequences, spec.GetPlacementTest},
		"deletion": {spec.DeletePlacementTest, spec.ListPlacementTests},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := served(t, "", "")
			partial := *server.Profile
			for _, op := range excluded {
				partial.Operations = append(partial.Operations, "!"+op)
			}
			on, err := target.URL(&partial, server.BaseURL)
			if err != nil {
				t.Fatal(err)
			}
			mixed, err := scenario.Select(scenario.Builtin(), []string{"mixed"})
			if err != nil {
				t.Fatal(err)
			}
			mixed[0].Duration, mixed[0].Warmup, mixed[0].Rate = 500*time.Millisecond, 100*time.Millisecond, 100
			dir := t.TempDir()
			o, err := loadtest.Run(t.Context(), loadtest.Config{Target: on, Calibrate: calibrated, Scenarios: mixed, ByName: true,
				Seed: 1, Terms: verdict.Terms{LagLimit: time.Hour}, JournalDir: dir})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := sandbox.CleanupAfterRun(t.Context(), testbed.Client(t, on), on.Profile, dir, nil); err != nil {
				t.Error(err)
			}
			record := truthOf(t, server)
			for _, r := range record.Requests {
				if slices.Contains(excluded, r.Operation) {
					t.Errorf("%s got %d requests", r.Operation, r.Count)
				}
			}
			notes := strings.Join(o.Results.Scenarios[0].Notes, "\n")
			for _, op := range excluded {
				if !regexp.MustCompile(regexp.QuoteMeta(op) + ".* left out: excluded by the target profile or --operation").MatchString(notes) {
					t.Errorf("%s is not among the notes:\n%s", op, notes)
				}
			}
			if record.Total == 0 {
				t.Error("nothing was sent")
			}
		})
	}
}

// stateOf is what a run may change on the reference server.
func stateOf(t *testing.T, server *target.Target) (state refserver.State, tests map[string]bool) {
	t.Helper()
	testbed.Get(t, server.TruthURL+"/state", "", &state)
	key, _ := server.Profile.FullKey(dataset.Main)
	tests = map[string]bool{}
	for _, id := range testbed.Listed(t, server.BaseURL+"/api/v2/inbox-placement-tests", key.Token) {
		tests[id] = true
	}
	return state, tests
}

// After a run and the clean-up, what the run has created and moved is as before.
func TestCleanupPutsEverythingBack(t *testing.T) {
	t.Parallel()
	server := served(t, "", "")
	before, testsBefore := stateOf(t, server)
	dir := t.TempDir()
	o, err := loadtest.Run(t.Context(), loadtest.Config{Target: server, Calibrate: calibrated, Scenarios: []scenario.Scenario{writing(70, time.Second)}, ByName: true,
		Seed: 1, Terms: verdict.Terms{LagLimit: time.Hour}, JournalDir: dir})
	if err != nil {
		t.Fatal(err)
	}
	if o.Results.Verdict != reports.Passed {
		t.Errorf("%s: %q", o.Results.Verdict, o.Results.Reasons)
	}
	changed, testsChanged := stateOf(t, server)
	if reflect.DeepEqual(before.Accounts, changed.Accounts) || len(testsChanged) <= len(testsBefore) {
		t.Fatal("the run has changed nothing that would have to be put back")
	}
	done, err := sandbox.Cleanup(t.Context(), testbed.Client(t, server), server.Profile, dir, nil)
	if err != nil || len(done) == 0 {
		t.Errorf("%q, %v", done, err)
	}
	after, testsAfter := stateOf(t, server)
	if !reflect.DeepEqual(before.Accounts, after.Accounts) {
		t.Errorf("accounts were %v, and are %v", before.Accounts, after.Accounts)
	}
	if !maps.Equal(testsBefore, testsAfter) {
		t.Errorf("there were %d tests, and there are %d", len(testsBefore), len(testsAfter))
	}
	if pending, err := journal.Find(dir); err != nil || len(pending) > 0 {
		t.Errorf("journals are left: %+v, %v", pending, err)
	}
}
