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
		{60, 0, 0.02},
		{60, 0.2, 0.05},
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

func TestDriftIsFound(t *testing.T) {
	for _, c := range []struct {
		name  string
		value func(rng *rand.Rand, share, noise float64) float64
		want  load.Trend
	}{
		{"a leak", func(_ *rand.Rand, share, noise float64) float64 { return 100 + 50*share + 3*noise }, load.Drifts},
		{"a saw on a rising floor", func(_ *rand.Rand, share, noise float64) float64 {
			return 100 + 100*share + 20*math.Mod(60*share, 1) + noise
		}, load.Drifts},
		{"quiet", func(_ *rand.Rand, _, noise float64) float64 { return 100 + noise }, load.Steady},
		{"a rise too small to matter", func(_ *rand.Rand, share, noise float64) float64 { return 100 + 5*share + noise/10 }, load.Steady},
		{"constant", func(*rand.Rand, float64, float64) float64 { return 100 }, load.Steady},
	} {
		if got := verdicts(100, 120, 1, 0, c.value); got[c.want] < 0.95 {
			t.Errorf("%s: %v, want %s", c.name, got, c.want)
		}
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
