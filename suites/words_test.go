package suites

import (
	"math/rand/v2"
	"testing"

	"outreach.example/conformance/fixtures/profile"

	. "outreach.example/conformance/suites/api"
)

// A run recognises its rows by words that no other run sends, not even one with the
// same seed.
func TestWordsDifferBetweenRuns(t *testing.T) {
	word := func() string {
		env := &Env{Seed: 1, Profile: profile.Embedded()}
		env.Begin()
		return (&API{Env: env, Rng: rand.New(rand.NewPCG(env.Seed, 1))}).Word()
	}
	if one, other := word(), word(); one == other {
		t.Errorf("both runs send %s", one)
	}
}
