package measure

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"outreach.example/conformance/internal/printable"

	"gonum.org/v1/gonum/stat/distuv"
)

// Point is one value of a series at a time since the start of the phase.
type Point struct {
	At    time.Duration // from the start of the phase
	Value float64
}

// Series is a quantity that may drift during a phase.
type Series struct {
	Name   string
	Unit   string
	Points []Point

	// Tolerance is the change over the whole phase that still counts as steady,
	// in Unit. 0 means a tenth of the median.
	Tolerance float64
}

// Direction is the verdict on a series.
type Direction string

// The directions. CannotTell means too few points or too much noise.
const (
	Rising     Direction = "rising"
	Falling    Direction = "falling"
	Steady     Direction = "steady"
	CannotTell Direction = "inconclusive"
)

// DriftConfidence is the confidence of a trend's interval. It exceeds that of
// other intervals because each soak tests several series.
const DriftConfidence = 0.99

// Trend is the change of a series over a phase.
type Trend struct {
	Series    string
	Unit      string
	Level     float64 // the median
	PerHour   float64 // change per hour, by the Theil–Sen line
	Low, High float64 // the interval of PerHour
	Verdict   Direction
	Why       string
}

// Shown returns the unit in which reports show the trend, and the factor to it.
func (t Trend) Shown() (unit string, by float64) {
	switch t.Unit {
	case "s":
		return "ms", 1000
	case "share":
		return "%", 100
	default:
		return t.Unit, 1
	}
}

const (
	mostTrendBlocks  = 24
	leastTrendBlocks = 8
	pointsPerBlock   = 3
	mostCorrelation  = 0.6 // so that a series that only rises is found, however bent
	mostValue        = 1e100
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
	t := Trend{Series: s.Name, Unit: s.Unit, Verdict: CannotTell}
	points := slices.Clone(s.Points)
	for _, p := range points {
		if math.IsNaN(p.Value) || math.Abs(p.Value) > mostValue {
			t.Why = fmt.Sprintf("the value %v at %s is not a number", p.Value, p.At)
			return t
		}
	}
	slices.SortStableFunc(points, func(a, b Point) int { return cmp.Compare(a.At, b.At) })
	blocks := means(points)
	if len(blocks) < leastTrendBlocks {
		t.Why = fmt.Sprintf("%d points are too few: want at least %d, spread over the phase", len(points), leastTrendBlocks*pointsPerBlock)
		return t
	}
	t.Level = medianOf(points)
	var bounded bool
	if t.PerHour, t.Low, t.High, bounded = theilSen(blocks); !bounded {
		t.Why = "the values are too autocorrelated to separate a trend from noise; run longer"
		return t
	}
	span := (points[len(points)-1].At - points[0].At).Hours()
	t.judge(span, s.tolerance(t.Level))
	return t
}

func (s Series) tolerance(level float64) float64 {
	if s.Tolerance > 0 {
		return s.Tolerance
	}
	return math.Abs(level) / 10
}

// judge compares the change over the span (in hours) with the tolerated change.
func (t *Trend) judge(span, tolerated float64) {
	low, high := t.Low*span, t.High*span
	switch {
	case low >= -tolerated && high <= tolerated:
		t.Verdict = Steady
	case low > 0:
		t.Verdict = Rising
	case high < 0:
		t.Verdict = Falling
	default:
		unit, by := t.Shown()
		t.Why = fmt.Sprintf("it changed by %s to %s over the phase; up to %s counts as steady",
			printable.Figure(low*by), printable.Amount(high*by, unit), printable.Amount(tolerated*by, unit))
	}
}

// spot is the mean of a block of points at its mean time in hours.
type spot struct{ at, value float64 }

// means averages the points over blocks of equal time.
func means(points []Point) []spot {
	n := min(len(points)/pointsPerBlock, mostTrendBlocks)
	if n < leastTrendBlocks {
		return nil
	}
	first := points[0].At
	width := float64(points[len(points)-1].At-first) / float64(n)
	if width <= 0 {
		return nil
	}
	sums, counts := make([]spot, n), make([]float64, n)
	for _, p := range points {
		i := min(int(float64(p.At-first)/width), n-1)
		sums[i].at += p.At.Hours()
		sums[i].value += p.Value
		counts[i]++
	}
	var out []spot
	for i, s := range sums {
		if counts[i] > 0 {
			out = append(out, spot{s.at / counts[i], s.value / counts[i]})
		}
	}
	return out
}

func medianOf(points []Point) float64 {
	values := make([]float64, len(points))
	for i, p := range points {
		values[i] = p.Value
	}
	slices.Sort(values)
	return middle(values)
}

func middle(sorted []float64) float64 {
	n := len(sorted)
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}

// theilSen is the median of the slopes between all pairs, with Sen's interval:
// the slopes whose ranks Kendall's statistic would reach by chance. Without
// enough slopes for an interval, bounded is false and low and high are the
// extremes.
func theilSen(spots []spot) (slope, low, high float64, bounded bool) {
	var slopes []float64
	for i, a := range spots {
		for _, b := range spots[i+1:] {
			slopes = append(slopes, (b.value-a.value)/(b.at-a.at))
		}
	}
	slices.Sort(slopes)
	slope = middle(slopes)
	z := distuv.UnitNormal.Quantile(1 - (1-DriftConfidence)/2)
	blocks, n := float64(len(spots)), float64(len(slopes))
	variance := blocks * (blocks - 1) * (2*blocks + 5) / 18 // of Kendall's statistic; ties would only narrow it
	reach := z * math.Sqrt(variance*inflation(spots, slope))
	first, last := int(math.Floor((n-reach)/2)), int(math.Ceil((n+reach)/2))+1
	if first < 1 || last > len(slopes) {
		return slope, slopes[0], slopes[len(slopes)-1], false
	}
	return slope, slopes[first-1], slopes[last-1], true
}

// inflation is what the autocorrelation of the blocks, the trend taken out,
// multiplies the variance by. Its estimate is biased towards 0, and more so
// with fewer blocks; the usual correction is added.
func inflation(spots []spot, slope float64) float64 {
	rest := make([]float64, len(spots))
	var mean float64
	for i, s := range spots {
		rest[i] = s.value - slope*s.at
		mean += rest[i] / float64(len(spots))
	}
	var with, alone float64
	for i := range rest {
		d := rest[i] - mean
		alone += d * d
		if i > 0 {
			with += d * (rest[i-1] - mean)
		}
	}
	if alone == 0 {
		return 1
	}
	n := float64(len(spots))
	r := with / alone
	r = min(max(r+(2+4*r)/n, 0), mostCorrelation)
	return (1 + r) / (1 - r)
}

// Drifts returns the trends of the phase: p50 and p99 of the accepted requests'
// response time, and the shares of failed and limited requests, interval by
// interval.
func (r Recording) Drifts() []Trend {
	return []Trend{
		Drift(Series{Name: "response p50", Unit: "s", Points: r.quantiles(0.5)}),
		Drift(Series{Name: "response p99", Unit: "s", Points: r.quantiles(0.99)}),
		Drift(Series{Name: "failed", Unit: "share", Points: r.shares(Failed), Tolerance: steadyShare}),
		Drift(Series{Name: "limited", Unit: "share", Points: r.shares(Limited), Tolerance: steadyShare}),
	}
}

// steadyShare is the change of a share over a phase that still counts as
// steady.
const steadyShare = 0.001

func (r Recording) quantiles(p float64) []Point {
	var out []Point
	for _, s := range r.Series {
		if v := s.Response[Accepted].Value(p); v > 0 {
			out = append(out, Point{r.Begins(s), v.Seconds()})
		}
	}
	return out
}

func (r Recording) shares(c Class) []Point {
	var out []Point
	for _, s := range r.Series {
		var n int64
		for _, h := range s.Response {
			n += h.Count()
		}
		if n > 0 {
			out = append(out, Point{r.Begins(s), float64(s.Response[c].Count()) / float64(n)})
		}
	}
	return out
}
