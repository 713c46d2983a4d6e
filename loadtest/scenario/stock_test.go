package scenario

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/internal/client"
	"outreach.example/conformance/loadtest/schedule"
	"outreach.example/conformance/spec"
)

// However long a phase is, it needs no more than so many tests, and deletes them
// all along. Shards need them together.
func TestStockIsBounded(t *testing.T) {
	inFakeTime(func(t *testing.T) {
		for _, lasts := range []time.Duration{8 * time.Second, time.Hour, 8 * time.Hour} {
			r := newRunner(t.Context(), world(t), builtinScenario(t, "mixed", func(s *Scenario) { s.Duration = lasts }))
			if err := r.prepare(); err != nil {
				t.Fatal(err)
			}
			defer r.close()
			whole := schedule.Constant(r.scenario.Rate, lasts)
			r.spread(whole)
			places := r.mix.places(whole, 0, spec.DeletePlacementTest)
			bounded := strings.Contains(strings.Join(r.out.Notes, "\n"), "at most 1000 tests are created in advance")
			if lasts < time.Minute {
				if bounded || r.mix.has(whole, 0, spec.DeletePlacementTest) != uint64(len(places)) {
					t.Errorf("%s: %d deletions; %q", lasts, len(places), r.out.Notes)
				}
				continue
			}
			if len(places) > maxStock || len(places) < maxStock/2 || !bounded {
				t.Errorf("%s: %d deletions; %q", lasts, len(places), r.out.Notes)
			}
			widest := uint64(0)
			for i, place := range places[1:] {
				widest = max(widest, place-places[i])
			}
			if all := uint64(whole.Planned()); widest > 3*all/uint64(len(places)) || places[len(places)-1] < all*9/10 {
				t.Errorf("%s: %d of %d requests lie between two deletions, the last is number %d", lasts, widest, all, places[len(places)-1])
			}
			var shards []uint64
			for i := range 3 {
				shards = append(shards, r.mix.places(whole.Shard(i, 3), 0, spec.DeletePlacementTest)...)
			}
			if slices.Sort(shards); !slices.Equal(shards, places) {
				t.Errorf("%s: shards delete %d tests, the whole %d", lasts, len(shards), len(places))
			}
		}
	})(t)
}

// What one scenario has used up, or an earlier run, the next one leaves alone,
// and says so.
func TestScenariosUseUpRows(t *testing.T) {
	inFakeTime(func(t *testing.T) {
		env := world(t)
		main := env.Profile.Workspaces[dataset.Main]
		main.ExpendableSubsequences = main.ExpendableSubsequences[:4]
		env.Profile.Workspaces[dataset.Main] = main
		key, _ := env.Profile.FullKey(dataset.Main)
		gone := env.Client.Do(t.Context(), client.Request{Method: http.MethodDelete, Key: keyOf(key),
			Path: strings.Replace(spec.MustOperation(spec.DeleteSubsequence).Path, "{id}", main.ExpendableSubsequences[0], 1)})
		if gone.Status != http.StatusOK {
			t.Fatal(gone)
		}
		s := builtinScenario(t, "mixed", func(s *Scenario) {
			s.Mix = map[string]int{spec.ListLeadLists: 1, spec.MoveAccounts: 1, spec.DeleteSubsequence: 1}
			s.Limits, s.Rate, s.Duration, s.Warmup, s.Thresholds = nil, 100, 300*time.Millisecond, 0, nil
		})
		release, err := Ready(t.Context(), env, []Scenario{s}, false)
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
