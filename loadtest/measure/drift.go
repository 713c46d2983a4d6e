package measure

import (
	"fmt"
	"math"
	"time"

	"outreach.example/conformance/internal/printable"
	"outreach.example/conformance/reports/load"
)

// Trend is the change of a figure from the first third of a phase to the last.
type Trend struct {
	load.Drift
	Level  float64       // in the first third
	Change load.Estimate // with its interval
}

// trend compares the figures of two times that far apart. A change of up to tolerated
// counts as steady; 0 stands for a tenth of the level. The interval of the change covers every
// combination of the two intervals, so chance is seldom taken for a trend.
func trend(name, unit string, first, last load.Estimate, apart time.Duration, tolerated float64) Trend {
	t := Trend{Drift: load.Drift{Name: name, Unit: unit, Verdict: load.TrendNotKnown}, Level: first.Value}
	if first.Open || last.High == 0 && first.High != 0 {
		t.Why = "too few requests were accepted to tell a trend from chance; run longer"
		return t
	}
	t.Change = load.Estimate{Value: last.Value - first.Value, Low: last.Low - first.High, High: last.High - first.Low, Open: last.Open}
	perMinute := 1 / max(apart, time.Second).Minutes()
	t.PerMinute = load.Estimate{Value: t.Change.Value * perMinute, Low: t.Change.Low * perMinute, High: t.Change.High * perMinute, Open: last.Open}
	if tolerated == 0 {
		tolerated = math.Abs(t.Level) / 10
	}
	switch c := t.Change; {
	case c.Low >= -tolerated && c.High <= tolerated && !c.Open:
		t.Verdict = load.Steady
	case c.Low > 0 || c.High < 0 && !c.Open:
		t.Verdict = load.Drifts
	default:
		t.Why = fmt.Sprintf("it changed by %s to %s over the phase; up to %s counts as steady",
			printable.Figure(c.Low), printable.Amount(c.High, unit), printable.Amount(tolerated, unit))
	}
	return t
}

// Drifts returns the trends of the phase: p50 and p99 of the accepted requests' response
// time, and the shares of failed and limited requests.
func (r Recording) Drifts() []Trend {
	third := r.Duration() / 3
	first, last := r.between(0, third), r.between(r.Duration()-third, r.Duration())
	quantile := func(name string, p float64) Trend {
		of := func(part Recording) load.Estimate {
			e := part.Response[Accepted].Quantile(p)
			return load.Estimate{Value: 1000 * e.Value.Seconds(), Low: 1000 * e.Low.Seconds(), High: 1000 * e.High.Seconds(), Open: e.Open || e.Samples == 0}
		}
		return trend(name, "ms", of(first), of(last), r.Duration()-third, 0)
	}
	share := func(name string, class Class) Trend {
		of := func(part Recording) load.Estimate {
			s := part.Share("", class)
			return load.Estimate{Value: 100 * s.Value, Low: 100 * s.Low, High: 100 * s.High, Open: s.Of == 0}
		}
		const steady = 1 // percentage point
		return trend(name, "%", of(first), of(last), r.Duration()-third, steady)
	}
	return []Trend{quantile("response p50", 0.5), quantile("response p99", 0.99), share("failed", Failed), share("limited", Limited)}
}

// between returns the response times of the requests that were due between two times.
func (r Recording) between(from, to time.Duration) Recording {
	of, series := Label{}, []Interval(nil)
	for _, s := range r.Series {
		if s.Begins() >= from && s.Begins()+r.Width <= to {
			series = append(series, s)
			for c, h := range s.Response {
				of[c] = of[c].plus(h)
			}
		}
	}
	r.Series, r.Response = series, r.link(of, series)
	return r
}
