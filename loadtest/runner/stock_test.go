package runner

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/internal/client"
	"outreach.example/conformance/loadtest/prepare"
	"outreach.example/conformance/loadtest/scenario"
	"outreach.example/conformance/spec"
)

// What one scenario has used up, or an earlier run, the next one leaves alone,
// and says so.
func TestScenariosUseUpRows(t *testing.T) {
	inFakeTime(func(t *testing.T) {
		env := world(t)
		main := env.Profile.Workspaces[dataset.Main]
		main.ExpendableSubsequences = main.ExpendableSubsequences[:4]
		env.Profile.Workspaces[dataset.Main] = main
		key, _ := env.Profile.FullKey(dataset.Main)
		gone := env.Client.Do(t.Context(), client.Request{Method: http.MethodDelete, Key: prepare.KeyOf(key),
			Path: strings.Replace(spec.MustOperation(spec.DeleteSubsequence).Path, "{id}", main.ExpendableSubsequences[0], 1)})
		if gone.Status != http.StatusOK {
			t.Fatal(gone)
		}
		s := builtinScenario(t, "mixed", func(s *scenario.Scenario) {
			s.Mix = map[string]int{spec.ListLeadLists: 1, spec.MoveAccounts: 1, spec.DeleteSubsequence: 1}
			s.Limits, s.Rate, s.Duration, s.Warmup, s.Thresholds = nil, 100, 300*time.Millisecond, 0, nil
		})
		release, err := prepare.Ready(t.Context(), &env.Env, []scenario.Scenario{s}, false)
		if err != nil {
			t.Fatal(err)
		}
		defer release()
		for i, wants := range [][]string{
			{"accounts.move is requested 6 times in 300ms instead of 10: ", "subsequences.delete is requested 3 times in 300ms instead of 10: "},
			{"accounts.move is left out: every account", "subsequences.delete is left out: none of the expendable subsequences"},
		} {
			o := Run(t.Context(), env, s)
			notes := strings.Join(o.Notes, "\n")
			if statuses := o.Recordings[0].Statuses; statuses[200] != 30 || len(statuses) > 1 {
				t.Errorf("%d: %v", i, statuses)
			}
			for _, want := range wants {
				if !strings.Contains(notes, want) {
					t.Errorf("%d: %s", i, notes)
				}
			}
		}
	})(t)
}
