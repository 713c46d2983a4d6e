package measure

import (
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// Merging the shards of any split gives the recording of one process, to the
// last bucket of the last second.
func TestMergeOfAnySplitIsTheWhole(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		plan, parts := phases(t)
		whole := newRecorder(plan)
		recordings := make([]Recording, len(parts))
		for i, samples := range parts {
			recordings[i] = record(shardOf(plan, i, len(parts)), samples)
			for _, s := range samples {
				whole.Add(s)
			}
		}
		order := rapid.Permutation(recordings).Draw(t, "order")
		merged, err := Merge(order...)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := encoded(t, merged), encoded(t, whole.Recording()); got != want {
			t.Fatalf("merged:\n%s\nwhole:\n%s", got, want)
		}
		for _, c := range classes {
			for _, p := range []float64{0.5, 0.99} {
				if got, want := merged.Response[c].Quantile(p), whole.Recording().Response[c].Quantile(p); got != want {
					t.Fatalf("%s p%g: merged %+v, whole %+v", c, 100*p, got, want)
				}
			}
		}
	})
}

// Pieces count as one phase: nothing is lost or doubled, and quantiles cover
// all samples.
func TestPiecesInTurnAreOnePhase(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		plan, parts := phases(t)
		whole, pieces := newRecorder(plan), make([]Recording, len(parts))
		seconds := 0
		for i, samples := range parts {
			pieces[i] = record(plan, samples)
			seconds += len(pieces[i].Series)
			for _, s := range samples {
				whole.Add(s)
			}
		}
		got, want := InTurn(pieces...), whole.Recording()
		if err := got.check(); err != nil {
			t.Fatal(err)
		}
		if got.Planned() != 200*int64(len(pieces)) || got.Rate() != plan.Rate {
			t.Fatalf("planned %d at %v/s, of %d pieces", got.Planned(), got.Rate(), len(pieces))
		}
		if got.Sent != want.Sent || got.Bytes != want.Bytes || len(got.Series) != seconds {
			t.Fatalf("sent %d, %d bytes, %d seconds; want %d, %d, %d", got.Sent, got.Bytes, len(got.Series), want.Sent, want.Bytes, seconds)
		}
		for i, s := range got.Series {
			if i > 0 && s.T <= got.Series[i-1].T {
				t.Fatalf("second %d follows second %d", s.T, got.Series[i-1].T)
			}
		}
		for _, c := range classes {
			for _, p := range []float64{0.5, 0.9, 0.99} {
				if got, want := got.Response[c].Value(p), want.Response[c].Value(p); got != want {
					t.Fatalf("%s p%g: %s in turn, %s at once", c, 100*p, got, want)
				}
			}
		}
	})
}

func TestMergeRefusesDifferentPlans(t *testing.T) {
	plan := Plan{Name: "x", Rate: 100, Duration: time.Second}
	for name, change := range map[string]func(*Plan){
		"phases":    func(p *Plan) { p.Name = "y" },
		"rates":     func(p *Plan) { p.Rate = 50 },
		"durations": func(p *Plan) { p.Duration++ },
	} {
		other := plan
		change(&other)
		if _, err := Merge(newRecorder(plan).Recording(), newRecorder(other).Recording()); err == nil || !strings.Contains(err.Error(), "different plans") {
			t.Errorf("different %s: %v", name, err)
		}
	}
}
