package measure

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"
)

// seriesOf returns a series with one value per second.
func seriesOf(seconds int, value func(share float64) float64) Series {
	s := Series{Name: "memory", Unit: "MB"}
	for i := range seconds {
		s.Points = append(s.Points, Point{time.Duration(i) * time.Second, value(float64(i) / float64(seconds))})
	}
	return s
}

func verdicts(runs, seconds int, seed uint64, fades float64, value func(rng *rand.Rand, share, noise float64) float64) map[Direction]float64 {
	rng := seeded(seed)
	got := map[Direction]float64{}
	for range runs {
		next := noise(rng, fades*float64(seconds))
		got[Drift(seriesOf(seconds, func(share float64) float64 { return value(rng, share, next()) })).Verdict] += 1 / float64(runs)
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
		if alarms := got[Rising] + got[Falling]; alarms > c.most {
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
	if alarms := got[Rising] + got[Falling]; alarms > 0.02 {
		t.Errorf("%.3f false alarms: %v", alarms, got)
	}
}

func TestDriftIsFound(t *testing.T) {
	for _, c := range []struct {
		name  string
		value func(rng *rand.Rand, share, noise float64) float64
		want  Direction
	}{
		{"a leak", func(_ *rand.Rand, share, noise float64) float64 { return 100 + 50*share + 3*noise }, Rising},
		{"a bent leak", func(_ *rand.Rand, share, noise float64) float64 { return 100 + 300*math.Sqrt(share) + noise }, Rising},
		{"a saw on a rising floor", func(_ *rand.Rand, share, noise float64) float64 {
			return 100 + 100*share + 20*math.Mod(60*share, 1) + noise
		}, Rising},
		{"a server that warms up", func(_ *rand.Rand, share, noise float64) float64 { return 100 - 40*share + 3*noise }, Falling},
		{"quiet", func(_ *rand.Rand, _, noise float64) float64 { return 100 + noise }, Steady},
		{"a rise too small to matter", func(_ *rand.Rand, share, noise float64) float64 { return 100 + 5*share + noise/10 }, Steady},
		{"constant", func(*rand.Rand, float64, float64) float64 { return 100 }, Steady},
		{"nought", func(*rand.Rand, float64, float64) float64 { return 0 }, Steady},
	} {
		if got := verdicts(100, 120, 1, 0, c.value); got[c.want] < 0.95 {
			t.Errorf("%s: %v, want %s", c.name, got, c.want)
		}
	}
}

// A certain change counts, unless it is certainly small.
func TestDriftRespectsTolerance(t *testing.T) {
	const tolerated = 10
	for _, c := range []struct {
		low, high float64 // of the change
		want      Direction
	}{
		{-9, 9, Steady}, {1, 9, Steady}, {-9, -1, Steady}, {-10, 10, Steady},
		{11, 20, Rising}, {5, 20, Rising}, {-20, -11, Falling}, {-20, -5, Falling},
		{-5, 20, CannotTell}, {-20, 5, CannotTell}, {-20, 20, CannotTell},
	} {
		trend := Trend{Low: c.low / 2, High: c.high / 2, Verdict: CannotTell} // in an hour; the phase lasts two
		trend.judge(2, tolerated)
		if trend.Verdict != c.want || (trend.Why == "") != (c.want != CannotTell) {
			t.Errorf("%g to %g where %d is tolerated: %s (%s), want %s", c.low, c.high, tolerated, trend.Verdict, trend.Why, c.want)
		}
	}
}

// Negative values have a level too.
func TestDriftOfNegativeValues(t *testing.T) {
	rng := seeded(8)
	if got := Drift(seriesOf(120, func(float64) float64 { return -100 + rng.NormFloat64() })); got.Verdict != Steady {
		t.Errorf("%+v, want it steady", got)
	}
}

func TestDriftFigures(t *testing.T) {
	rng := seeded(2)
	trend := Drift(seriesOf(1800, func(share float64) float64 { return 100 + 30*share + rng.NormFloat64() }))
	near(t, "the change in an hour", trend.PerHour, 60, 2)
	near(t, "the level", trend.Level, 115, 1)
	if trend.Low > 60 || trend.High < 60 || trend.High-trend.Low > 5 || trend.Series != "memory" || trend.Unit != "MB" {
		t.Errorf("trend %+v: want a narrow interval around 60", trend)
	}
}

func TestDriftCannotTell(t *testing.T) {
	few := seriesOf(20, func(float64) float64 { return 1 })
	odd := seriesOf(60, func(float64) float64 { return math.NaN() })
	huge := seriesOf(60, func(share float64) float64 { return math.MaxFloat64 * share })
	at := seriesOf(60, func(share float64) float64 { return share })
	for i := range at.Points {
		at.Points[i].At = time.Second
	}
	noisy := seriesOf(60, func(share float64) float64 { return math.Sin(40 * share) })
	for name, s := range map[string]Series{"none": {}, "few": few, "no number": odd, "huge": huge, "one instant": at, "noisy": noisy} {
		if got := Drift(s); got.Verdict != CannotTell || got.Why == "" {
			t.Errorf("%s: %+v, want cannot tell and why", name, got)
		}
	}
}

// The order of points does not matter, and Drift does not change them.
func TestDriftSortsItsPoints(t *testing.T) {
	s := seriesOf(120, func(share float64) float64 { return 100 + 50*share })
	rng := seeded(1)
	rng.Shuffle(len(s.Points), func(i, j int) { s.Points[i], s.Points[j] = s.Points[j], s.Points[i] })
	first := s.Points[0]
	if got := Drift(s); got.Verdict != Rising {
		t.Errorf("shuffled: %+v", got)
	}
	if s.Points[0] != first {
		t.Error("the caller's points were sorted")
	}
}

func TestDriftsOfASoak(t *testing.T) {
	rng := seeded(4)
	rec := record(Plan{}, steady(50, 50*120, func(i int) time.Duration {
		return 10*time.Millisecond + time.Duration(i)*2*time.Microsecond + time.Duration(rng.ExpFloat64()*1e6)
	}))
	want := map[string]Direction{"response p50": Rising, "response p99": Rising, "failed": Steady, "limited": Steady}
	for _, trend := range rec.Drifts() {
		if trend.Verdict != want[trend.Series] {
			t.Errorf("%+v, want %s", trend, want[trend.Series])
		}
		delete(want, trend.Series)
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
	want := map[string]Direction{"response p50": Steady, "response p99": Rising, "failed": Steady, "limited": Steady}
	for _, trend := range record(Plan{}, samples).Drifts() {
		if trend.Verdict != want[trend.Series] {
			t.Errorf("%+v, want %s", trend, want[trend.Series])
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
		if trend.Verdict != Steady {
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
		if trend.Series == "failed" && trend.Verdict != Rising {
			t.Errorf("%+v, want it rising", trend)
		}
	}
}
