package measure

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
)

// delayed records requests of a server with known latencies. The generator sends them
// late, and reads the responses late by another draw of the same delay. It returns the
// sorted latencies as users would have seen them: all, and those of each label.
func delayed(rng *rand.Rand, n int, latency, delay func() time.Duration) (Recording, map[string][]time.Duration) {
	r := newRecorder(Plan{Name: "delayed", Rate: 1000, Duration: time.Duration(n) * time.Millisecond})
	truth := map[string][]time.Duration{}
	for i := range n {
		due, took, label := time.Duration(i)*time.Millisecond, latency(), []string{"list", "get"}[rng.IntN(2)]
		truth[""], truth[label] = append(truth[""], took), append(truth[label], took)
		sent := due + delay()
		r.Add(Sample{Seq: uint64(i), Label: label, Due: due, Sent: sent, Done: sent + took + delay(), Status: 200})
	}
	for _, took := range truth {
		slices.Sort(took)
	}
	return r.Recording(), truth
}

// The interval of a latency holds the true one, however late the generator is.
func TestLatencyHoldsTheTruth(t *testing.T) {
	const n = 4000
	held := 0
	var of int
	for seed := range uint64(12) {
		rng := rand.New(rand.NewPCG(seed, 1))
		slow := time.Duration(1+rng.IntN(300)) * time.Millisecond
		share := rng.Float64() / 10
		latency := func() time.Duration {
			if rng.Float64() < share {
				return slow
			}
			return time.Duration((1 + rng.ExpFloat64()) * float64(time.Millisecond))
		}
		pause := time.Duration(1+rng.IntN(30)) * time.Millisecond
		often := rng.Float64()
		delay := func() time.Duration {
			if rng.Float64() < often {
				return time.Duration(rng.Float64() * float64(pause))
			}
			return 10 * time.Microsecond
		}
		rec, truth := delayed(rng, n, latency, delay)
		for _, label := range []string{"", "list"} {
			for _, p := range []float64{0.5, 0.9, 0.99} {
				of++
				took := truth[label]
				at := took[int(math.Ceil(p*float64(len(took))))-1]
				// A generator counts as in time up to a millisecond, and buckets are coarse.
				low, high := rec.Slower(at-2*time.Millisecond, p, label), rec.Slower(at+time.Millisecond+at/500, p, label)
				if low.High > 1-p && high.Least <= 1-p {
					held++
				} else {
					t.Logf("seed %d, %q: p%g is %s, but %+v and %+v", seed, label, 100*p, at, low, high)
				}
			}
		}
	}
	if held < of {
		t.Errorf("%d of %d intervals hold the true latency, want all", held, of)
	}
}

// Requests that go out in another second are another load; a lag within the second is not.
func TestOtherLoad(t *testing.T) {
	for name, tc := range map[string]struct {
		lag  func(due time.Duration) time.Duration
		want float64
	}{
		"in time":        {func(time.Duration) time.Duration { return 0 }, 0},
		"always late":    {func(time.Duration) time.Duration { return 50 * time.Millisecond }, 0.005},
		"a second late":  {func(time.Duration) time.Duration { return time.Second }, 0.1},
		"a pause of 2 s": {func(due time.Duration) time.Duration { return (4*time.Second - due) * step(due) }, 0.2},
	} {
		r := newRecorder(Plan{Name: name, Rate: 100, Duration: 10 * time.Second})
		for i := range 1000 {
			due := time.Duration(i) * 10 * time.Millisecond
			r.Add(Sample{Seq: uint64(i), Label: "list", Due: due, Sent: due + tc.lag(due), Done: due + tc.lag(due), Status: 200})
		}
		rec := r.Recording()
		if said := rec.OtherLoad(); (said != "") != (tc.want > mostDisplaced) || said != "" && !(strings.HasPrefix(said, fmt.Sprintf("%.0f %% of the requests went out in another second than planned", 100*tc.want)) && strings.Contains(said, "a longer --warmup for a cold target")) {
			t.Errorf("%s: %q", name, said)
		}
	}
}

// step is 1 from 2 s to 4 s.
func step(due time.Duration) time.Duration {
	if due >= 2*time.Second && due < 4*time.Second {
		return 1
	}
	return 0
}
