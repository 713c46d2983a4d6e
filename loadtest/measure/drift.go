package measure

import (
	"fmt"
	"math"
	"slices"
	"time"

	"outreach.example/conformance/internal/printable"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mathext"
)

// Series is a quantity that may drift during a phase.
type Series struct {
	Name, Unit string
	Points     []Point // in order of time

	// Tolerance is the change over the whole phase that still counts as steady. 0 means a
	// tenth of the median.
	Tolerance float64
}

// Point is one value of a series.
type Point struct {
	At    time.Duration // from the start of the phase
	Value float64
}

// Direction is the verdict on a series.
type Direction string

// The directions. CannotTell means too few points or too much noise.
const (
	Steady     Direction = "steady"
	Drifting   Direction = "drifts"
	CannotTell Direction = "inconclusive"
)

// driftConfidence is the confidence of a trend's interval. It exceeds that of
// other intervals because each soak tests several series.
const driftConfidence = 0.99

// Trend is the change of a series from its first point to its last, in its unit.
type Trend struct {
	Name, Unit       string
	Level            float64       // the median
	Value, Low, High float64       // the change, by the Theil–Sen line, and its interval
	Over             time.Duration // from the first point to the last
	Verdict          Direction
	Why              string // the reason for an inconclusive verdict
}

const (
	mostTrendBlocks  = 24
	leastTrendBlocks = 8
	pointsPerBlock   = 3
	mostCorrelation  = 0.6 // so that a series that only rises is found, however bent
)

// Drift reports whether a series rises or falls.
//
// It ranks the means over up to 24 blocks of time (Mann–Kendall) and takes
// Sen's interval of the slope, so single stalls and heavy tails do not matter.
// Autocorrelation that remains beside the trend widens the interval. Simulated
// (drift_test.go): a series without drift is called rising or falling in 1 % of
// runs if its points are independent, and in at most 4 % if its disturbances
// last up to a fifth of the run.
func Drift(s Series) Trend {
	t := Trend{Name: s.Name, Unit: s.Unit, Verdict: CannotTell}
	at, value := blockMeans(s.Points)
	if len(at) < leastTrendBlocks {
		t.Why = fmt.Sprintf("%d points are too few: want at least %d, spread over the phase", len(s.Points), leastTrendBlocks*pointsPerBlock)
		return t
	}
	values := make([]float64, len(s.Points))
	for i, p := range s.Points {
		values[i] = p.Value
	}
	t.Level = median(values)
	t.Over = s.Points[len(s.Points)-1].At - s.Points[0].At
	var bounded bool
	if t.Value, t.Low, t.High, bounded = theilSen(at, value); !bounded {
		t.Why = "the values are too autocorrelated to separate a trend from noise; run longer"
		return t
	}
	tolerated := s.Tolerance
	if tolerated == 0 {
		tolerated = math.Abs(t.Level) / 10
	}
	switch {
	case t.Low >= -tolerated && t.High <= tolerated:
		t.Verdict = Steady
	case t.Low > 0 || t.High < 0:
		t.Verdict = Drifting
	default:
		t.Why = fmt.Sprintf("it changed by %s to %s over the phase; up to %s counts as steady",
			printable.Figure(t.Low), printable.Amount(t.High, t.Unit), printable.Amount(tolerated, t.Unit))
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
	if whole <= 0 {
		return nil, nil
	}
	times, values := make([][]float64, n), make([][]float64, n)
	for _, p := range points {
		share := float64(p.At-first) / whole
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

func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	n := len(sorted)
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}

// theilSen is the median of the slopes between all pairs, with Sen's interval:
// the slopes whose ranks Kendall's statistic would reach by chance. Without
// enough slopes for an interval, bounded is false.
func theilSen(at, value []float64) (slope, low, high float64, bounded bool) {
	var slopes []float64
	for i := range at {
		for j := range i {
			slopes = append(slopes, (value[i]-value[j])/(at[i]-at[j]))
		}
	}
	slices.Sort(slopes)
	slope = median(slopes)
	z := mathext.NormalQuantile(1 - (1-driftConfidence)/2)
	blocks, n := float64(len(at)), float64(len(slopes))
	variance := blocks * (blocks - 1) * (2*blocks + 5) / 18 // of Kendall's statistic; ties would only narrow it
	reach := z * math.Sqrt(variance*inflation(at, value, slope))
	first, last := int(math.Floor((n-reach)/2)), int(math.Ceil((n+reach)/2))+1
	if first < 1 || last > len(slopes) {
		return slope, 0, 0, false
	}
	return slope, slopes[first-1], slopes[last-1], true
}

// inflation is what the autocorrelation of the blocks, the trend taken out,
// multiplies the variance by. Its estimate is biased towards 0, and more so
// with fewer blocks; the usual correction is added.
func inflation(at, value []float64, slope float64) float64 {
	rest := make([]float64, len(at))
	for i := range at {
		rest[i] = value[i] - slope*at[i]
	}
	floats.AddConst(-mean(rest), rest)
	squares := floats.Dot(rest, rest)
	whole := slices.Clone(value)
	floats.AddConst(-mean(value), whole)
	if squares <= 1e-18*floats.Dot(whole, whole) {
		return 1 // the rest is rounding
	}
	r := floats.Dot(rest[1:], rest[:len(rest)-1]) / squares
	r = min(max(r+(2+4*r)/float64(len(rest)), 0), mostCorrelation)
	return (1 + r) / (1 - r)
}

// Drifts returns the trends of the phase: p50 and p99 of the accepted requests'
// response time, and the shares of failed and limited requests, interval by
// interval.
func (r Recording) Drifts() []Trend {
	quantile := func(p float64) []Point {
		of := r.points(func(s Interval, _ int64) float64 { return 1000 * s.Response[Accepted].Value(p).Seconds() })
		return slices.DeleteFunc(of, func(p Point) bool { return p.Value == 0 }) // nothing was accepted
	}
	share := func(c Class) []Point {
		return r.points(func(s Interval, all int64) float64 { return 100 * float64(s.Response[c].Count()) / float64(all) })
	}
	const steadyShare = 0.1 // percentage points over a phase
	return []Trend{
		Drift(Series{Name: "response p50", Unit: "ms", Points: quantile(0.5)}),
		Drift(Series{Name: "response p99", Unit: "ms", Points: quantile(0.99)}),
		Drift(Series{Name: "failed", Unit: "%", Points: share(Failed), Tolerance: steadyShare}),
		Drift(Series{Name: "limited", Unit: "%", Points: share(Limited), Tolerance: steadyShare}),
	}
}

// points returns the value of each interval in which requests were due.
func (r Recording) points(value func(s Interval, all int64) float64) []Point {
	var out []Point
	for _, s := range r.Series {
		var all int64
		for _, h := range s.Response {
			all += h.Count()
		}
		if all > 0 {
			out = append(out, Point{r.Begins(s), value(s, all)})
		}
	}
	return out
}
