package scenario

import (
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/loadtest/generate"
	"outreach.example/conformance/loadtest/schedule"
	"outreach.example/conformance/spec"
)

// drawMix draws a mix like a separate process: anew, from the same data.
func drawMix(t *rapid.T) (build func() *mix, limits []int) {
	seed := rapid.Uint64().Draw(t, "seed")
	limits = rapid.SliceOfN(rapid.IntRange(0, 100), 0, 4).Draw(t, "limits")
	weights := map[string]int{spec.ListLeadLists: 1} // something that reads has to be there
	for _, op := range spec.Operations() {
		if weight := rapid.IntRange(-3, 6).Draw(t, op.ID); weight > 0 {
			weights[op.ID] = weight
		}
	}
	return func() *mix {
		subjects, err := newSubjects(&Env{Profile: embedded(), Run: "run", Seed: seed}, "mixed")
		if err != nil {
			t.Fatal(err)
		}
		m, _, err := newMix(subjects, Scenario{Mix: weights}.operations(), limits)
		if err != nil {
			t.Fatal(err)
		}
		return m
	}, limits
}

// Together, any number of shards of a phase ask exactly what the whole asks.
func TestShardsAskWhatTheWholeAsks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		build, limits := drawMix(t)
		of := rapid.IntRange(1, 9).Draw(t, "shards")
		base := rapid.Uint64Range(0, 1000).Draw(t, "base")
		limit := rapid.SampledFrom(append([]int{inTurn, 0}, limits...)).Draw(t, "limit")
		whole := schedule.Constant(rapid.Float64Range(1, 300).Draw(t, "rate"), 1e9)
		want := map[uint64]generate.Request{}
		m := build()
		source := m.requests(limit, base)
		for seq := range uint64(whole.Planned()) {
			want[seq] = source(seq)
			if alone := build().requests(limit, 0)(base + seq); seq == 0 && !reflect.DeepEqual(alone, want[0]) {
				t.Fatalf("a phase that begins at place %d asks %+v first, and the scenario has %+v there", base, want[0], alone)
			}
		}
		created := len(m.places(whole, base, spec.CreatePlacementTest))
		for i := range of {
			mine := whole.Shard(i, of)
			m := build()
			source := m.requests(limit, base)
			created -= len(m.places(mine, base, spec.CreatePlacementTest))
			for k := range uint64(mine.Planned()) {
				seq := mine.Seq(k)
				if got := source(seq); !reflect.DeepEqual(got, want[seq]) {
					t.Fatalf("shard %d of %d asks, in place %d, %+v instead of %+v", i, of, seq, got, want[seq])
				}
				delete(want, seq)
			}
		}
		if len(want) > 0 || created != 0 {
			t.Fatalf("%d requests are left to nobody, and %d creations", len(want), created)
		}
	})
}

// In every round each operation has exactly its share, as long as there are
// subjects for it.
func TestMixKeepsItsShares(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		build, _ := drawMix(t)
		m := build()
		weights, got := map[string]int{}, map[string]int{}
		for _, turn := range m.turns {
			weights[turn.op.ID] = int(turn.of)
		}
		round := rapid.Uint64Range(0, 50).Draw(t, "round")
		for slot := range uint64(len(m.turns)) {
			op, n := m.at(round*uint64(len(m.turns)) + slot)
			got[op.ID]++
			if most, finite := m.subjects.finite(op); finite && n >= most {
				t.Fatalf("%s is asked for subject %d of %d", op.ID, n, most)
			}
		}
		for id, weight := range weights {
			_, finite := m.subjects.finite(spec.MustOperation(id))
			if !finite && id != m.instead.ID && got[id] != weight {
				t.Fatalf("%s has %d turns of a round, want %d", id, got[id], weight)
			}
		}
	})
}

// No two requests of a scenario create a test of the same name or move the same
// account: that could not be rolled back.
func TestMixRepeatsNoChange(t *testing.T) {
	subjects, err := newSubjects(&Env{Profile: embedded(), Run: "run", Seed: 1}, "mixed")
	if err != nil {
		t.Fatal(err)
	}
	m, _, err := newMix(subjects, builtinScenario(t, "mixed", func(*Scenario) {}).operations(), nil)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	moves := 0
	for place := range uint64(5000) {
		op, n := m.at(place)
		key := ""
		switch op.ID {
		case spec.CreatePlacementTest:
			key = subjects.testName(place)
		case spec.MoveAccounts:
			key = pick(subjects.rows.accounts, n)
			moves++
		default:
			continue
		}
		if seen[key] {
			t.Fatalf("%s: %s for the second time", op.ID, key)
		}
		seen[key] = true
	}
	if moves == 0 || len(seen) == moves {
		t.Errorf("%d moves of %d changes", moves, len(seen))
	}
}

// A warm-up changes nothing.
func TestWarmUpOnlyReads(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		build, _ := drawMix(t)
		m := build()
		source := m.reading(inTurn)
		for seq := range uint64(2 * len(m.turns)) {
			if r := source(seq); r.Asked.Operation.Unsafe() {
				t.Fatalf("%+v", r)
			}
		}
	})
}

// A mix without an operation that reads is inconclusive. The reason names each
// operation that was left out, why, and what to do.
func TestAMixThatReadsNothing(t *testing.T) {
	const advice = ". Add one that can be asked, such as lead-lists.list=1 (--mix, or mix in the file of scenarios): it warms up, and takes the place of changes for which there are no more rows"
	for name, tc := range map[string]struct {
		writes    string
		readsOnly bool
		says      string
	}{
		"all can be asked": {profile.WritesListed, false, ""},
		"none":             {profile.WritesNone, false, ": leads.move is left out: writes: none; inbox-placement-tests.create is left out: writes: none"},
		"own":              {profile.WritesOwn, false, ": leads.move is left out: writes: own, and it changes what the run did not create"},
		"a comparison":     {profile.WritesListed, true, ": leads.move is left out: a comparison changes nothing; inbox-placement-tests.create is left out: a comparison changes nothing"},
	} {
		t.Run(name, inFakeTime(func(t *testing.T) {
			env := world(t)
			profile := *env.Profile
			profile.Writes = tc.writes
			env.Profile = &profile
			r := newRunner(t.Context(), env, builtinScenario(t, "mixed", func(s *Scenario) {
				s.Mix = map[string]int{spec.CreatePlacementTest: 1, spec.MoveLead: 2}
			}))
			defer r.close()
			r.readsOnly = tc.readsOnly
			want := "no operation of the mix reads and can be asked" + tc.says + advice
			if err := r.prepare(); err == nil || err.Error() != want || len(r.out.Notes) > 0 {
				t.Errorf("%v, notes %q; want %s", err, r.out.Notes, want)
			}
		}))
	}
}
