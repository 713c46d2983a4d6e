package page

import (
	"fmt"
	"math"

	"outreach.example/conformance/internal/printable"

	"gonum.org/v1/plot/plotter"

	"outreach.example/conformance/reports/load"
)

// maxPoints is the maximum number of points in a series. A chart cannot show more.
const maxPoints = 600

// phaseFigures returns the charts of a phase.
func phaseFigures(p load.Phase) []*figure {
	seconds := thinned(p.Series)
	return drawn(latencyOverTime(seconds), percentileCurve(p), rates(p, seconds), statuses(seconds))
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

func latencyOverTime(seconds []load.Second) *figure {
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
		of   func(load.Second) *load.Brief
	}{{"response", func(s load.Second) *load.Brief { return s.Response }}, {"service", func(s load.Second) *load.Brief { return s.Service }}} {
		for _, q := range quantiles {
			points := make(plotter.XYs, len(seconds))
			for i, s := range seconds {
				points[i] = plotter.XY{X: float64(s.T) + 0.5, Y: math.NaN()}
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
	var worst *load.Second
	for i, s := range seconds {
		if s.Response != nil && (worst == nil || s.Response.P99MS > worst.Response.P99MS) {
			worst = &seconds[i]
		}
	}
	if worst != nil {
		title += fmt.Sprintf(": p99 is worst in second %s, %s ms", whole(worst.T), printable.Figure(worst.Response.P99MS))
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
		title += fmt.Sprintf(": slowest response %s ms", printable.Figure(d.MaxMS))
	}
	return c.figure(title)
}

func rates(p load.Phase, seconds []load.Second) *figure {
	c := newTimeChart("seconds since the phase began", "requests/s")
	asked, sent, done := make(plotter.XYs, len(seconds)), make(plotter.XYs, len(seconds)), make(plotter.XYs, len(seconds))
	for i, s := range seconds {
		x := float64(s.T) + 0.5
		asked[i], sent[i], done[i] = plotter.XY{X: x, Y: float64(s.Asked)}, plotter.XY{X: x, Y: float64(s.Sent)}, plotter.XY{X: x, Y: float64(s.Done)}
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

func statuses(seconds []load.Second) *figure {
	c := newTimeChart("seconds since the phase began", "responses/s")
	floor := steps(seconds, func(load.Second) int64 { return 0 })
	accepted := steps(seconds, func(s load.Second) int64 { return s.Accepted })
	limited := steps(seconds, func(s load.Second) int64 { return s.Accepted + s.Limited })
	failed := steps(seconds, func(s load.Second) int64 { return s.Done })
	var all, n429, nFailed int64
	for _, s := range seconds {
		all, n429, nFailed = all+s.Done, n429+s.Limited, nFailed+s.Failed
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
	return c.figure(fmt.Sprintf("Answers by second: %s limited, %s failed", percent(float64(n429)/float64(all)), percent(float64(nFailed)/float64(all))))
}

// steps returns the points of a count that is constant during each second.
func steps(seconds []load.Second, of func(load.Second) int64) plotter.XYs {
	var points plotter.XYs
	for i, s := range seconds {
		until := float64(s.T) + 1
		if i+1 < len(seconds) {
			until = float64(seconds[i+1].T)
		}
		points = append(points, plotter.XY{X: float64(s.T), Y: float64(of(s))}, plotter.XY{X: until, Y: float64(of(s))})
	}
	return points
}

// thinned joins adjacent seconds of a long series. It takes the mean of counts and the
// maximum of latencies.
func thinned(seconds []load.Second) []load.Second {
	every := (len(seconds) + maxPoints - 1) / maxPoints
	if every <= 1 {
		return seconds
	}
	var few []load.Second
	for start := 0; start < len(seconds); start += every {
		group := seconds[start:min(start+every, len(seconds))]
		joined := load.Second{T: group[0].T}
		for _, s := range group {
			joined.Asked += s.Asked
			joined.Sent += s.Sent
			joined.Accepted += s.Accepted
			joined.Limited += s.Limited
			joined.Failed += s.Failed
			joined.Response, joined.Service = worse(joined.Response, s.Response), worse(joined.Service, s.Service)
		}
		n := int64(len(group))
		joined.Asked, joined.Sent = joined.Asked/n, joined.Sent/n
		joined.Accepted, joined.Limited, joined.Failed = joined.Accepted/n, joined.Limited/n, joined.Failed/n
		joined.Done = joined.Accepted + joined.Limited + joined.Failed
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
	return &load.Brief{P50MS: max(a.P50MS, b.P50MS), P90MS: max(a.P90MS, b.P90MS), P99MS: max(a.P99MS, b.P99MS), MaxMS: max(a.MaxMS, b.MaxMS)}
}
