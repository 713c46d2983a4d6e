package prepare

import (
	"net/http/httptest"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/loadtest/generate"
	"outreach.example/conformance/loadtest/measure"
	"outreach.example/conformance/loadtest/scenario"
	"outreach.example/conformance/schemas/contract"
	"outreach.example/conformance/spec"
)

// drawMix draws a mix. build makes it anew from the same data, like a separate
// process.
func drawMix(t *rapid.T) (build func() *Mix, limits []int) {
	seed := rapid.Uint64().Draw(t, "seed")
	limits = rapid.SliceOfN(rapid.IntRange(0, 100), 0, 4).Draw(t, "limits")
	weights := map[string]int{spec.ListLeadLists: 1} // something that reads has to be there
	for _, op := range spec.Operations() {
		if weight := rapid.IntRange(-3, 6).Draw(t, op.ID); weight > 0 {
			weights[op.ID] = weight
		}
	}
	return func() *Mix {
		subjects, err := NewSubjects(&Env{Profile: embedded(), Run: "run", Seed: seed}, "mixed")
		if err != nil {
			t.Fatal(err)
		}
		m, _, err := subjects.Mix(scenario.Scenario{Mix: weights, Limits: limits}, false)
		if err != nil {
			t.Fatal(err)
		}
		return m
	}, limits
}

// The shards of a phase together ask exactly what the whole asks.
func TestShardsAskWhatTheWholeAsks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		build, limits := drawMix(t)
		of := rapid.IntRange(1, 9).Draw(t, "shards")
		base := rapid.Uint64Range(0, 1000).Draw(t, "base")
		limit := rapid.SampledFrom(append([]int{InTurn, 0}, limits...)).Draw(t, "limit")
		whole := measure.Constant(rapid.Float64Range(1, 300).Draw(t, "rate"), 1e9)
		want := map[uint64]generate.Request{}
		m := build()
		source := m.Requests(limit, base)
		for seq := range uint64(whole.Planned()) {
			want[seq] = source(seq)
			if alone := build().Requests(limit, 0)(base + seq); seq == 0 && !reflect.DeepEqual(alone, want[0]) {
				t.Fatalf("a phase that begins at place %d asks %+v first, and the scenario has %+v there", base, want[0], alone)
			}
		}
		creations, _ := m.places(whole, base, spec.CreatePlacementTest)
		created := len(creations)
		for i := range of {
			mine := whole.Shard(i, of)
			m := build()
			source := m.Requests(limit, base)
			creations, _ := m.places(mine, base, spec.CreatePlacementTest)
			created -= len(creations)
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

// No two requests of a scenario create a test of the same name or move the same
// account. That could not be rolled back.
func TestMixRepeatsNoChange(t *testing.T) {
	m := mixOf(t, mixed(t))
	seen := map[string]bool{}
	for place := range uint64(5000) {
		op, n := m.at(place)
		key := m.subjects.nameOf(place, "")
		if op.ID == spec.MoveAccounts {
			key = pick(m.subjects.rows.accounts, n)
		}
		if seen[key] && op.Unsafe() && op.ID != spec.DeletePlacementTest && op.ID != spec.MoveLead && op.ID != spec.AddCampaignVariables {
			t.Fatalf("%s: %s for the second time", op.ID, key)
		}
		seen[key] = true
	}
}

// mixOf returns the mix of a scenario on the reference server.
func mixOf(t *testing.T, s scenario.Scenario) *Mix {
	t.Helper()
	subjects, err := NewSubjects(&Env{Profile: embedded(), Run: "run", Seed: 1}, "mixed")
	if err != nil {
		t.Fatal(err)
	}
	m, _, err := subjects.Mix(s, false)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// A mix without an operation that reads is an error. It names each operation that was
// left out, the reason and a remedy.
func TestAMixThatReadsNothing(t *testing.T) {
	const advice = ". Add one that can be requested, such as lead-lists.list=1 (--mix, or mix in the file of scenarios): it warms up, and takes the place of changes for which there are no more rows"
	for name, tc := range map[string]struct {
		writes    string
		readsOnly bool
		says      string
	}{
		"none":         {profile.WritesNone, false, ": leads.move and inbox-placement-tests.create are left out: writes: none"},
		"own":          {profile.WritesOwn, false, ": leads.move is left out: writes: own, and it changes what the run did not create"},
		"a comparison": {profile.WritesListed, true, ": leads.move and inbox-placement-tests.create are left out: a comparison changes nothing"},
	} {
		t.Run(name, func(t *testing.T) {
			profile := *embedded()
			profile.Writes = tc.writes
			subjects, err := NewSubjects(&Env{Profile: &profile, Run: "run", Seed: 1}, "mixed")
			if err != nil {
				t.Fatal(err)
			}
			s := mixed(t)
			s.Mix = map[string]int{spec.CreatePlacementTest: 1, spec.MoveLead: 2}
			want := "no operation of the mix reads and can be requested" + tc.says + advice
			if _, left, err := subjects.Mix(s, tc.readsOnly); err == nil || err.Error() != want || len(left) > 0 {
				t.Errorf("%v, left %q; want %s", err, left, want)
			}
		})
	}
}

// A long phase needs no more tests than a limit, and deletes them until its end. The
// limit holds for all shards together.
func TestStockIsBounded(t *testing.T) {
	for _, lasts := range []time.Duration{8 * time.Second, time.Hour, 8 * time.Hour} {
		s := mixed(t)
		m := mixOf(t, s)
		whole := measure.Constant(s.Rate, lasts)
		notes := strings.Join(m.spread(whole, 0), "\n")
		places, turns := m.places(whole, 0, spec.DeletePlacementTest)
		bounded := strings.Contains(notes, "at most 1000 tests are created in advance")
		if lasts < time.Minute {
			if bounded || turns != len(places) {
				t.Errorf("%s: %d deletions; %s", lasts, len(places), notes)
			}
			continue
		}
		if len(places) > maxStock || len(places) < maxStock/2 || !bounded {
			t.Errorf("%s: %d deletions; %s", lasts, len(places), notes)
		}
		var shards []uint64
		for i := range 3 {
			some, _ := m.places(whole.Shard(i, 3), 0, spec.DeletePlacementTest)
			shards = append(shards, some...)
		}
		if slices.Sort(shards); !slices.Equal(shards, places) {
			t.Errorf("%s: shards delete %d tests, the whole %d", lasts, len(shards), len(places))
		}
	}
}

// Every request that a mix can hold is valid.
func TestRequestsFollowTheDocument(t *testing.T) {
	d, err := contract.Load()
	if err != nil {
		t.Fatal(err)
	}
	s, err := NewSubjects(&Env{Profile: embedded(), Run: "run", Seed: 1}, "mixed")
	if err != nil {
		t.Fatal(err)
	}
	s.stock = map[uint64]string{}
	for place := range uint64(8) {
		s.stock[place] = s.rows.tests[0]
	}
	check := func(q generate.Request) []contract.Violation {
		r := httptest.NewRequest(q.Method, q.Path, nil)
		r.Header.Set("Authorization", "Bearer "+q.Key.Token)
		if len(q.Body) > 0 {
			r.Header.Set("Content-Type", "application/json")
		}
		return d.Judge(r, q.Body).Violations
	}
	for _, op := range spec.Operations() {
		if why := s.lacks(op); why != "" {
			t.Errorf("%s cannot be asked: %s", op.ID, why)
			continue
		}
		for _, limit := range []int{0, 1, 100} {
			for n := range uint64(8) {
				q := s.request(op, limit, n, n)
				if wrong := check(q); wrong != nil || !q.Asked.Allowed.Valid() {
					t.Errorf("%s, limit %d, number %d: %+v is invalid: %v", op.ID, limit, n, q, wrong)
				}
			}
		}
	}
	if check(s.request(spec.MustOperation(spec.ListLeadLists), 101, 0, 0)) == nil {
		t.Error("a limit of 101 is found valid")
	}
}

// mixed returns the built-in scenario that has all operations.
func mixed(t *testing.T) scenario.Scenario {
	t.Helper()
	all, err := scenario.Select(scenario.Builtin(), []string{"mixed"})
	if err != nil {
		t.Fatal(err)
	}
	return all[0]
}

// embedded is the profile of the reference server.
var embedded = sync.OnceValue(profile.Embedded)
