package verdict

import (
	"maps"
	"strconv"
	"time"

	"outreach.example/conformance/internal/printable"

	"outreach.example/conformance/loadtest/measure"
	"outreach.example/conformance/reports/load"
)

// Conversion of measurements to the results model.

// shownQuantiles are those of tables, curveQuantiles those of plotted curves.
var (
	shownQuantiles = []float64{0.5, 0.9, 0.95, 0.99, 0.999}
	curveQuantiles = []float64{0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.75, 0.8, 0.85, 0.9, 0.925, 0.95, 0.97, 0.98, 0.985, 0.99,
		0.9925, 0.995, 0.9975, 0.999, 0.9995, 0.9999, 0.99999, 1}
)

// phaseOf converts a recorded phase.
func phaseOf(c phase) load.Phase {
	rec := c.Recording
	p := load.Phase{
		Name: rec.Name, Started: rec.Start.UTC().Truncate(time.Millisecond), Seconds: rec.Duration().Seconds(),
		RatePerSecond: rec.Rate(), ClosedLoop: rec.ClosedLoop(), OtherLoad: c.otherLoad != "",
		Planned: rec.Planned(), Sent: rec.Sent, Late: rec.Late(), Dropped: rec.Dropped(),
		Statuses: statuses(rec.Statuses), Failures: maps.Clone(rec.Failures), BytesReceived: rec.Bytes,
		Response: latency(rec.Response), Service: latency(rec.Service), Lag: distribution(rec.Lag),
	}
	lasted := max(rec.Duration(), lastDone(rec)) // a target that falls behind still answers after the last request
	if c.cut {
		lasted = min(rec.Duration(), lastDone(rec))
	}
	if lasted > 0 {
		p.AchievedPerSecond = float64(rec.Count(measure.Accepted)) / lasted.Seconds()
	}
	for _, name := range rec.LabelNames() {
		l := rec.Labels[name]
		p.Labels = append(p.Labels, load.Label{Name: name, Accepted: l.Count(measure.Accepted),
			Limited: l.Count(measure.Limited), Failed: l.Count(measure.Failed), Response: distribution(l[measure.Accepted])})
	}
	if len(rec.Series) > 0 {
		p.IntervalSeconds = int64(rec.Width / time.Second)
	}
	for _, s := range rec.Series {
		interval := s.Interval
		interval.Response = brief(s.Response[measure.Accepted])
		p.Series = append(p.Series, interval)
	}
	return p
}

// statuses returns counts by status text; "none" means no answer.
func statuses(counts map[int]int64) map[string]int64 {
	named := map[string]int64{}
	for status, n := range counts {
		if status == 0 {
			named["none"] = n
		} else {
			named[strconv.Itoa(status)] = n
		}
	}
	return named
}

func latency(of map[measure.Class]measure.Histogram) load.Latency {
	return load.Latency{
		Accepted: distribution(of[measure.Accepted]),
		Limited:  distribution(of[measure.Limited]),
		Failed:   distribution(of[measure.Failed]),
	}
}

// distribution converts a histogram; nil if it is empty.
func distribution(h measure.Histogram) *load.Distribution {
	if h.Count() == 0 {
		return nil
	}
	d := &load.Distribution{Count: h.Count(), Clipped: h.Clipped(), MinMS: ms(h.Min()), MeanMS: ms(h.Mean()), MeanOpen: h.MeanAtLeast(), MaxMS: ms(h.Max()), Open: h.AtLeast(1)}
	for _, p := range shownQuantiles {
		e := h.Quantile(p)
		d.Quantiles = append(d.Quantiles, load.Quantile{P: p, ValueMS: ms(e.Value), LowMS: ms(e.Low), HighMS: ms(e.High),
			Open: e.Open, Confidence: measure.Confidence, Flagged: e.Why != "", Why: e.Why})
	}
	for _, p := range curveQuantiles {
		d.Curve = append(d.Curve, load.CurvePoint{P: p, ValueMS: ms(h.Value(p))})
	}
	return d
}

func brief(h measure.Histogram) *load.Brief {
	at := func(p float64) float64 { return ms(h.Value(p)) }
	b := load.Brief{P50MS: at(0.5), P90MS: at(0.9), P99MS: at(0.99), MaxMS: at(1), Open: h.AtLeast(0.99), MedianOpen: h.AtLeast(0.5)}
	if b.MaxMS == 0 {
		return nil
	}
	return &b
}

// ms converts to milliseconds, rounded to the microsecond.
func ms(d time.Duration) float64 {
	return float64(d.Round(time.Microsecond)) / float64(time.Millisecond)
}

// formatMS formats milliseconds.
func formatMS(d time.Duration) string { return printable.Figure(ms(d)) }
