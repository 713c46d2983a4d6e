package measure

import (
	"fmt"
	"math"
	"slices"
	"time"

	"outreach.example/conformance/internal/printable"
	"outreach.example/conformance/reports/load"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mathext"
)

// Point is one value of a series.
type Point struct {
	At    time.Duration // from the start of the phase
	Value float64
}

// Trend is the change of a series from its first point to its last, in its unit.
type Trend struct {
	load.Drift
	Level  float64       // the median
	Change load.Estimate // by the Theil–Sen line, with its interval
}

const (
	// driftConfidence is the confidence of a trend's interval. It exceeds that of
	// other intervals because each soak tests several series.
	driftConfidence  = 0.99
	mostTrendBlocks  = 24
	leastTrendBlocks = 8
	pointsPerBlock   = 3
	mostCorrelation  = 0.6 // so that a series that only rises is found, however bent
)

// Drift reports whether a series, in order of time, rises or falls. A change of up to
// tolerated counts as steady; 0 stands for a tenth of the median.
//
// It ranks the means over up to 24 blocks of time (Mann–Kendall) and takes
// Sen's interval of the slope, so single stalls and heavy tails do not matter.
// Autocorrelation that remains beside the trend widens the interval. Simulated
// (drift_test.go): a series without drift is called rising or falling in 1 % of
// runs if its points are independent, and in at most 4 % if its disturbances
// last up to a fifth of the run.
func Drift(name, unit string, tolerated float64, points []Point) Trend {
	t := Trend{Drift: load.Drift{Name: name, Unit: unit, Verdict: load.TrendNotKnown}}
	at, value := blockMeans(points)
	if len(at) < leastTrendBlocks {
		t.Why = fmt.Sprintf("%d points are too few: want at least %d, spread over the phase", len(points), leastTrendBlocks*pointsPerBlock)
		return t
	}
	values := make([]float64, len(points))
	for i, p := range points {
		values[i] = p.Value
	}
	t.Level = median(values)
	var bounded bool
	if t.Change, bounded = theilSen(at, value); !bounded {
		t.Why = "the values are too autocorrelated to separate a trend from noise; run longer"
		return t
	}
	perMinute := 1 / max(points[len(points)-1].At-points[0].At, time.Second).Minutes()
	t.PerMinute = load.Estimate{Value: t.Change.Value * perMinute, Low: t.Change.Low * perMinute, High: t.Change.High * perMinute}
	if tolerated == 0 {
		tolerated = math.Abs(t.Level) / 10
	}
	switch c := t.Change; {
	case c.Low >= -tolerated && c.High <= tolerated:
		t.Verdict = load.Steady
	case c.Low > 0 || c.High < 0:
		t.Verdict = load.Drifts
	default:
		t.Why = fmt.Sprintf("it changed by %s to %s over the phase; up to %s counts as steady",
			printable.Figure(c.Low), printable.Amount(c.High, unit), printable.Amount(tolerated, unit))
	}
	return t
}

// blockMeans averages the points over blocks of equal time: their times, as shares of the
// whole, and their values.
func blockMeans(points []Point) (at, value []float64) {
	n := min(len(points)/pointsPerBlock, mostTrendBlocks)
	if n < leastTrendBlocks {
		return nil, nil
	}
	first := points[0].At
	whole := float64(points[len(points)-1].At - first)
	times, values := make([][]float64, n), make([][]float64, n)
	for _, p := range points {
		share := float64(p.At-first) / max(whole, 1)
		i := min(int(share*float64(n)), n-1)
		times[i], values[i] = append(times[i], share), append(values[i], p.Value)
	}
	for i := range times {
		if len(times[i]) > 0 {
			at, value = append(at, mean(times[i])), append(value, mean(values[i]))
		}
	}
	return at, value
}

func mean(values []float64) float64 { return floats.Sum(values) / float64(len(values)) }

// centred returns the values less their mean.
func centred(values []float64) []float64 {
	rest := slices.Clone(values)
	floats.AddConst(-mean(values), rest)
	return rest
}

// median returns the middle value, or the lower of the two in the middle.
func median(values []float64) float64 {
	return slices.Sorted(slices.Values(values))[(len(values)-1)/2]
}

// theilSen is the median of the slopes between all pairs, with Sen's interval:
// the slopes whose ranks Kendall's statistic would reach by chance. Without
// enough slopes for an interval, bounded is false.
func theilSen(at, value []float64) (slope load.Estimate, bounded bool) {
	var slopes []float64
	for i := range at {
		for j := range i {
			slopes = append(slopes, (value[i]-value[j])/(at[i]-at[j]))
		}
	}
	slices.Sort(slopes)
	slope.Value = median(slopes)
	z := mathext.NormalQuantile(1 - (1-driftConfidence)/2)
	blocks, n := float64(len(at)), float64(len(slopes))
	variance := blocks * (blocks - 1) * (2*blocks + 5) / 18 // of Kendall's statistic; ties would only narrow it
	reach := z * math.Sqrt(variance*inflation(at, value, slope.Value))
	first, last := int(math.Floor((n-reach)/2)), int(math.Ceil((n+reach)/2))+1
	if first < 1 || last > len(slopes) {
		return slope, false
	}
	slope.Low, slope.High = slopes[first-1], slopes[last-1]
	return slope, true
}

// inflation is what the autocorrelation of the blocks, the trend taken out,
// multiplies the variance by. Its estimate is biased towards 0, and more so
// with fewer blocks; the usual correction is added.
func inflation(at, value []float64, slope float64) float64 {
	rest := make([]float64, len(at))
	for i := range at {
		rest[i] = value[i] - slope*at[i]
	}
	if floats.Norm(centred(rest), 2) <= 1e-9*floats.Norm(centred(value), 2) {
		return 1 // the rest is rounding
	}
	n := len(rest)
	later, earlier := centred(rest[1:]), centred(rest[:n-1])
	r := floats.Dot(later, earlier) / (floats.Norm(later, 2) * floats.Norm(earlier, 2))
	r = min(max(r+(2+4*r)/float64(n), 0), mostCorrelation)
	return (1 + r) / (1 - r)
}

// Drifts returns the trends of the phase: p50 and p99 of the accepted requests'
// response time, and the shares of failed and limited requests, interval by
// interval.
func (r Recording) Drifts() []Trend {
	points := map[string][]Point{}
	for _, s := range r.Series {
		add := func(name string, value float64) { points[name] = append(points[name], Point{s.Begins(), value}) }
		accepted, limited, failed := s.Response[Accepted], s.Response.Count(Limited), s.Response.Count(Failed)
		if accepted.Value(1) > 0 {
			add("p50", 1000*accepted.Value(0.5).Seconds())
			add("p99", 1000*accepted.Value(0.99).Seconds())
		}
		if all := float64(accepted.Count() + limited + failed); all > 0 {
			add("failed", 100*float64(failed)/all)
			add("limited", 100*float64(limited)/all)
		}
	}
	const steadyShare = 0.1 // percentage points over a phase
	return []Trend{
		Drift("response p50", "ms", 0, points["p50"]),
		Drift("response p99", "ms", 0, points["p99"]),
		Drift("failed", "%", steadyShare, points["failed"]),
		Drift("limited", "%", steadyShare, points["limited"]),
	}
}
