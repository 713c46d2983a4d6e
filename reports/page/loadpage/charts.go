package loadpage

import (
	"fmt"
	"math"
	"slices"

	"outreach.example/conformance/internal/printable"

	"gonum.org/v1/plot/plotter"

	"outreach.example/conformance/reports/load"
	"outreach.example/conformance/reports/page"
)

// maxPoints is the maximum number of points in a series. A chart cannot show more.
const maxPoints = 600

// phaseFigures returns the charts of a phase.
func phaseFigures(p load.Phase) []*figure {
	points := thinned(p)
	return drawn(latencyOverTime(points), percentileCurve(p), rates(p, points), statuses(points))
}

// drawn returns the figures that are not nil.
func drawn(all ...*figure) []*figure {
	var some []*figure
	for _, f := range all {
		if f != nil {
			some = append(some, f)
		}
	}
	return some
}

func latencyOverTime(seconds []point) *figure {
	c := newTimeChart("seconds since the phase began", "ms")
	quantiles := []struct {
		name string
		ink  ink
		of   func(*load.Brief) float64
	}{
		{"p50", blue, func(b *load.Brief) float64 { return b.P50MS }},
		{"p90", green, func(b *load.Brief) float64 { return b.P90MS }},
		{"p99", red, func(b *load.Brief) float64 { return b.P99MS }},
	}
	var lines []line
	var series []plotter.XYs
	for _, kind := range []struct {
		name string
		of   func(point) *load.Brief
	}{{"response", func(s point) *load.Brief { return s.response }}, {"service", func(s point) *load.Brief { return s.service }}} {
		for _, q := range quantiles {
			points := make(plotter.XYs, len(seconds))
			for i, s := range seconds {
				points[i] = plotter.XY{X: s.middle(), Y: math.NaN()}
				if b := kind.of(s); b != nil {
					points[i].Y = q.of(b)
				}
			}
			lines = append(lines, line{Name: kind.name + " " + q.name, ink: q.ink, dashed: kind.name == "service"})
			series = append(series, points)
		}
	}
	c.logY(series...)
	for i := range lines {
		c.add(lines[i], series[i])
	}
	title := "Latency by second"
	var worst *point
	for i, s := range seconds {
		if s.response != nil && (worst == nil || s.response.P99MS > worst.response.P99MS) {
			worst = &seconds[i]
		}
	}
	if worst != nil {
		title += fmt.Sprintf(": p99 is worst %s, %s ms", worst.when(), load.AtLeast(worst.response.Open, worst.response.P99MS))
	}
	return c.figure(title)
}

func percentileCurve(p load.Phase) *figure {
	c := newChart("percentile (logarithmic: each further nine has the same width)", "ms")
	c.plot.X.Tick.Marker = percentiles{}
	var lines []line
	var series []plotter.XYs
	for _, curve := range []struct {
		line
		of *load.Distribution
	}{
		{line{Name: "response", ink: blue}, p.Response.Accepted},
		{line{Name: "service", ink: blue, dashed: true}, p.Service.Accepted},
		{line{Name: "limited (429), response", ink: orange}, p.Response.Limited},
		{line{Name: "failed, response", ink: red}, p.Response.Failed},
		{line{Name: "send lag", ink: green, dashed: true}, p.Lag},
	} {
		if curve.of == nil {
			continue
		}
		var points plotter.XYs
		// There are no data beyond the last request.
		last := math.Log10(float64(max(curve.of.Count, 2)))
		for _, at := range curve.of.Curve {
			if x := nines(at.P); x <= last {
				points = append(points, plotter.XY{X: x, Y: at.ValueMS})
			}
		}
		points = append(points, plotter.XY{X: last, Y: curve.of.MaxMS})
		lines, series = append(lines, curve.line), append(series, points)
	}
	c.logY(series...)
	for i := range lines {
		c.add(lines[i], series[i])
	}
	title := "Latency distribution"
	if d := p.Response.Accepted; d != nil {
		title += fmt.Sprintf(": slowest response %s ms", d.Longest())
	}
	return c.figure(title)
}

func rates(p load.Phase, seconds []point) *figure {
	c := newTimeChart("seconds since the phase began", "requests/s")
	asked, sent, done := make(plotter.XYs, len(seconds)), make(plotter.XYs, len(seconds)), make(plotter.XYs, len(seconds))
	for i, s := range seconds {
		x := s.middle()
		asked[i], sent[i], done[i] = plotter.XY{X: x, Y: s.asked}, plotter.XY{X: x, Y: s.sent}, plotter.XY{X: x, Y: s.accepted + s.limited + s.failed}
	}
	c.add(line{Name: "asked", ink: text, dashed: true}, asked)
	c.add(line{Name: "sent", ink: green}, sent)
	c.add(line{Name: "answered", ink: blue}, done)
	if p.ClosedLoop {
		return c.figure(fmt.Sprintf("Rate by second: %s/s in a closed loop", printable.Figure(p.AchievedPerSecond)))
	}
	title := fmt.Sprintf("Rate by second: %s/s asked, %s/s achieved", printable.Figure(p.RatePerSecond), printable.Figure(p.AchievedPerSecond))
	if p.RatePerSecond == 0 { // a closed loop or a schedule with several rates
		title = fmt.Sprintf("Rate by second: %s/s achieved", printable.Figure(p.AchievedPerSecond))
	}
	return c.figure(title)
}

func statuses(points []point) *figure {
	c := newTimeChart("seconds since the phase began", "responses/s")
	floor := steps(points, func(point) float64 { return 0 })
	accepted := steps(points, func(s point) float64 { return s.accepted })
	limited := steps(points, func(s point) float64 { return s.accepted + s.limited })
	failed := steps(points, func(s point) float64 { return s.accepted + s.limited + s.failed })
	var all, n429, nFailed float64
	for _, s := range points {
		all, n429, nFailed = all+s.seconds*(s.accepted+s.limited+s.failed), n429+s.seconds*s.limited, nFailed+s.seconds*s.failed
	}
	if all == 0 {
		return nil
	}
	c.band(line{Name: "accepted", ink: blue}, floor, accepted)
	if n429 > 0 {
		c.band(line{Name: "limited (429)", ink: orange}, accepted, limited)
	}
	if nFailed > 0 {
		c.band(line{Name: "failed", ink: red}, limited, failed)
	}
	return c.figure(fmt.Sprintf("Responses by second: %s limited, %s failed", percent(n429/all), percent(nFailed/all)))
}

// steps returns the points of a rate that is constant during each stretch.
func steps(points []point, of func(point) float64) plotter.XYs {
	var drawn plotter.XYs
	for i, s := range points {
		until := s.from + s.seconds
		if i+1 < len(points) {
			until = points[i+1].from
		}
		drawn = append(drawn, plotter.XY{X: s.from, Y: of(s)}, plotter.XY{X: until, Y: of(s)})
	}
	return drawn
}

// point is a stretch of a phase as the charts show it: the mean of its rates per second,
// and the maximum of its latencies.
type point struct {
	from, seconds                          float64
	asked, sent, accepted, limited, failed float64
	response, service                      *load.Brief
}

func (p point) middle() float64 { return p.from + p.seconds/2 }

// when names the stretch.
func (p point) when() string {
	if p.seconds <= 1 {
		return "in second " + page.Whole(int64(p.from))
	}
	return fmt.Sprintf("in seconds %s to %s", page.Whole(int64(p.from)), page.Whole(int64(p.from+p.seconds)))
}

// whole returns the intervals of a phase, without a last one that is cut short and in
// which no request was due: a chart would show it as a drop.
func whole(p load.Phase) []load.Interval {
	n := len(p.Series) - 1
	if n < 1 || p.Series[n].Asked > 0 || float64(p.Series[n].T+p.IntervalSeconds) <= p.Seconds {
		return p.Series
	}
	return p.Series[:n]
}

// thinned returns the points of a phase. It joins adjacent intervals of a long series. The
// rates of a last interval that is cut short count for the time that it lasted.
func thinned(p load.Phase) []point {
	each := float64(p.IntervalSeconds)
	series := whole(p)
	var few []point
	for group := range slices.Chunk(series, max(1, (len(series)+maxPoints-1)/maxPoints)) {
		joined := point{from: float64(group[0].T), seconds: each * float64(len(group))}
		if lasted := p.Seconds - joined.from; lasted > 0.1*each && lasted < joined.seconds {
			joined.seconds = lasted
		}
		for _, s := range group {
			joined.asked += float64(s.Asked) / joined.seconds
			joined.sent += float64(s.Sent) / joined.seconds
			joined.accepted += float64(s.Accepted) / joined.seconds
			joined.limited += float64(s.Limited) / joined.seconds
			joined.failed += float64(s.Failed) / joined.seconds
			joined.response, joined.service = worse(joined.response, s.Response), worse(joined.service, s.Service)
		}
		few = append(few, joined)
	}
	return few
}

func worse(a, b *load.Brief) *load.Brief {
	if a == nil || b == nil {
		if a == nil {
			return b
		}
		return a
	}
	return &load.Brief{P50MS: max(a.P50MS, b.P50MS), P90MS: max(a.P90MS, b.P90MS), P99MS: max(a.P99MS, b.P99MS), MaxMS: max(a.MaxMS, b.MaxMS), Open: a.Open || b.Open, MedianOpen: a.MedianOpen || b.MedianOpen}
}
