package measure

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"outreach.example/conformance/reports/load"
)

// seriesOf returns a series with one value per second.
func seriesOf(seconds int, value func(share float64) float64) (points []Point) {
	for i := range seconds {
		points = append(points, Point{time.Duration(i) * time.Second, value(float64(i) / float64(seconds))})
	}
	return points
}

func drift(points []Point) Trend { return Drift("memory", "MB", 0, points) }

func verdicts(runs, seconds int, seed uint64, fades float64, value func(rng *rand.Rand, share, noise float64) float64) map[load.Trend]float64 {
	rng := seeded(seed)
	got := map[load.Trend]float64{}
	for range runs {
		next := noise(rng, fades*float64(seconds))
		got[drift(seriesOf(seconds, func(share float64) float64 { return value(rng, share, next()) })).Verdict] += 1 / float64(runs)
	}
	return got
}

func TestDriftFalseAlarms(t *testing.T) {
	for i, c := range []struct {
		seconds int
		fades   float64 // how long disturbances last, as a share of the run
		most    float64
	}{
		{30, 0, 0.02},
		{60, 0, 0.02},
		{300, 0, 0.02},
		{60, 0.05, 0.04},
		{60, 0.2, 0.05},
		{300, 0.05, 0.04},
		{300, 0.2, 0.05},
	} {
		got := verdicts(400, c.seconds, uint64(i), c.fades, func(_ *rand.Rand, _, noise float64) float64 { return 10 + noise })
		name := fmt.Sprintf("%d s, disturbances of %g of it", c.seconds, c.fades)
		t.Logf("%s: %v", name, got)
		if alarms := got[load.Drifts]; alarms > c.most {
			t.Errorf("%s: %.3f false alarms, want at most %g", name, alarms, c.most)
		}
	}
}

// Heavy tails: an occasional stall of a hundred times the level is no drift.
func TestDriftIgnoresStalls(t *testing.T) {
	got := verdicts(400, 120, 9, 0, func(rng *rand.Rand, _, noise float64) float64 {
		if rng.IntN(40) == 0 {
			return 1000
		}
		return 10 + noise
	})
	if alarms := got[load.Drifts]; alarms > 0.02 {
		t.Errorf("%.3f false alarms: %v", alarms, got)
	}
}

func TestDriftIsFound(t *testing.T) {
	for _, c := range []struct {
		name  string
		value func(rng *rand.Rand, share, noise float64) float64
		want  load.Trend
	}{
		{"a leak", func(_ *rand.Rand, share, noise float64) float64 { return 100 + 50*share + 3*noise }, load.Drifts},
		{"a bent leak", func(_ *rand.Rand, share, noise float64) float64 { return 100 + 300*math.Sqrt(share) + noise }, load.Drifts},
		{"a saw on a rising floor", func(_ *rand.Rand, share, noise float64) float64 {
			return 100 + 100*share + 20*math.Mod(60*share, 1) + noise
		}, load.Drifts},
		{"a server that warms up", func(_ *rand.Rand, share, noise float64) float64 { return 100 - 40*share + 3*noise }, load.Drifts},
		{"quiet", func(_ *rand.Rand, _, noise float64) float64 { return 100 + noise }, load.Steady},
		{"a rise too small to matter", func(_ *rand.Rand, share, noise float64) float64 { return 100 + 5*share + noise/10 }, load.Steady},
		{"constant", func(*rand.Rand, float64, float64) float64 { return 100 }, load.Steady},
		{"nought", func(*rand.Rand, float64, float64) float64 { return 0 }, load.Steady},
	} {
		if got := verdicts(100, 120, 1, 0, c.value); got[c.want] < 0.95 {
			t.Errorf("%s: %v, want %s", c.name, got, c.want)
		}
	}
}

// Negative values have a level too.
func TestDriftOfNegativeValues(t *testing.T) {
	rng := seeded(8)
	if got := drift(seriesOf(120, func(float64) float64 { return -100 + rng.NormFloat64() })); got.Verdict != load.Steady {
		t.Errorf("%+v, want it steady", got)
	}
}

func TestDriftFigures(t *testing.T) {
	rng := seeded(2)
	trend := drift(seriesOf(1800, func(share float64) float64 { return 100 + 30*share + rng.NormFloat64() }))
	near(t, "the change", trend.Change.Value, 30, 1)
	near(t, "the level", trend.Level, 115, 1)
	if c := trend.Change; c.Low > 30 || c.High < 30 || c.High-c.Low > 2.5 {
		t.Errorf("trend %+v: want a narrow interval around 30", trend)
	}
}

// A series without a verdict has a reason.
func TestDriftCannotTell(t *testing.T) {
	at := seriesOf(60, func(share float64) float64 { return share })
	for i := range at {
		at[i].At = time.Second
	}
	for name, s := range map[string][]Point{"none": nil, "one instant": at,
		"few":   seriesOf(20, func(float64) float64 { return 1 }),
		"noisy": seriesOf(60, func(share float64) float64 { return math.Sin(40 * share) }),
	} {
		if got := drift(s); got.Verdict != load.TrendNotKnown || got.Why == "" {
			t.Errorf("%s: %+v, want cannot tell and why", name, got)
		}
	}
}

func TestDriftsOfASoak(t *testing.T) {
	rng := seeded(4)
	rec := record(Plan{}, steady(50, 50*120, func(i int) time.Duration {
		return 10*time.Millisecond + time.Duration(i)*2*time.Microsecond + time.Duration(rng.ExpFloat64()*1e6)
	}))
	want := map[string]load.Trend{"response p50": load.Drifts, "response p99": load.Drifts, "failed": load.Steady, "limited": load.Steady}
	for _, trend := range rec.Drifts() {
		if trend.Verdict != want[trend.Name] {
			t.Errorf("%+v, want %s", trend, want[trend.Name])
		}
		delete(want, trend.Name)
	}
	if len(want) > 0 {
		t.Errorf("no trend of %v", want)
	}
}

// The median may stay the same while the slowest get slower.
func TestDriftsOfEachFigure(t *testing.T) {
	rng := seeded(5)
	samples := steady(50, 50*120, func(i int) time.Duration {
		if i%20 == 0 {
			return 100*time.Millisecond + time.Duration(i)*20*time.Microsecond
		}
		return 10*time.Millisecond + time.Duration(rng.ExpFloat64()*1e5)
	})
	want := map[string]load.Trend{"response p50": load.Steady, "response p99": load.Drifts, "failed": load.Steady, "limited": load.Steady}
	for _, trend := range record(Plan{}, samples).Drifts() {
		if trend.Verdict != want[trend.Name] {
			t.Errorf("%+v, want %s", trend, want[trend.Name])
		}
	}
}

// One failed or refused request in thousands is no drift: chance alone changes
// so small a share by more than a tenth, but by less than a thousandth of all
// requests.
func TestRareFailuresAreNoDrift(t *testing.T) {
	rng := seeded(6)
	samples := steady(1000, 1000*120, func(int) time.Duration { return time.Millisecond })
	for i := range samples {
		switch rng.IntN(4000) {
		case 0:
			samples[i].Status = 500
		case 1:
			samples[i].Status = 429
		}
	}
	for _, trend := range record(Plan{}, samples).Drifts() {
		if trend.Verdict != load.Steady {
			t.Errorf("%+v, want it steady", trend)
		}
	}
}

// The server fails more and more often.
func TestGrowingErrorsAreFound(t *testing.T) {
	rng := seeded(6)
	samples := steady(50, 50*240, func(int) time.Duration { return time.Millisecond })
	for i := range samples {
		if rng.IntN(len(samples)*20) < i { // a twentieth at the end
			samples[i].Status = 500
		}
	}
	for _, trend := range record(Plan{}, samples).Drifts() {
		if trend.Name == "failed" && trend.Verdict != load.Drifts {
			t.Errorf("%+v, want it rising", trend)
		}
	}
}
