package view

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"outreach.example/conformance/internal/printable"
	"outreach.example/conformance/reports/load"
)

// maxPoints is the maximum number of points in a series. A chart cannot show more.
const maxPoints = 600

var inks = []string{"blue", "orange", "green", "red"}

// drawn returns the charts that are not nil.
func drawn(all ...*chart) []*chart {
	return slices.DeleteFunc(all, func(c *chart) bool { return c == nil })
}

// phaseCharts returns the charts of a phase.
func phaseCharts(p load.Phase) []*chart {
	points := thinned(p)
	return drawn(latencyOverTime(points), percentileCurve(p), rates(p, points), statuses(points))
}

// medianAndTail adds the p50 and the p99 of a latency.
func (c *chart) medianAndTail(p50, p99 []xy) *chart {
	c.spread = true
	c.addDotted("p50", "blue", p50)
	c.addDotted("p99", "red", p99)
	return c
}

func latencyOverTime(points []point) *chart {
	c := overTime("ms")
	c.spread = true
	var worst *point
	for i, p := range points {
		if p.response != nil && (worst == nil || p.response.P99MS > worst.response.P99MS) {
			worst = &points[i]
		}
	}
	for _, kind := range []struct {
		name, line string
		of         func(point) *load.Brief
	}{{"response", "solid", func(p point) *load.Brief { return p.response }}, {"service", "dashed", func(p point) *load.Brief { return p.service }}} {
		for _, q := range []struct {
			name, ink string
			of        func(*load.Brief) float64
		}{
			{"p50", "blue", func(b *load.Brief) float64 { return b.P50MS }},
			{"p90", "green", func(b *load.Brief) float64 { return b.P90MS }},
			{"p99", "red", func(b *load.Brief) float64 { return b.P99MS }},
		} {
			c.add(kind.name+" "+q.name, q.ink, kind.line, briefs(points, kind.of, q.of))
		}
	}
	loadTitle := "Latency by second"
	if worst != nil {
		loadTitle += fmt.Sprintf(": p99 is worst %s, %s ms", worst.when(), load.AtLeast(worst.response.Open, worst.response.P99MS))
	}
	return c.titled(loadTitle)
}

// briefs returns one figure of the points over time.
func briefs(points []point, of func(point) *load.Brief, figure func(*load.Brief) float64) []xy {
	all := make([]xy, len(points))
	for i, p := range points {
		all[i] = xy{p.middle(), math.NaN()}
		if b := of(p); b != nil {
			all[i].y = figure(b)
		}
	}
	return all
}

// nines is the scale of a percentile curve: each further nine has the same width.
func nines(p float64) float64 { return -math.Log10(1 - p) }

func percentileCurve(p load.Phase) *chart {
	c := &chart{XLabel: "percentile (logarithmic: each further nine has the same width)", YLabel: "ms", spread: true}
	end := 0.0
	for _, curve := range []struct {
		name, ink, kind string
		of              *load.Distribution
	}{
		{"response", "blue", "solid", p.Response.Accepted},
		{"service", "blue", "dashed", p.Service.Accepted},
		{"limited (429), response", "orange", "solid", p.Response.Limited},
		{"failed, response", "red", "solid", p.Response.Failed},
		{"send lag", "green", "dashed", p.Lag},
	} {
		if curve.of == nil {
			continue
		}
		var points []xy
		last := math.Log10(float64(max(curve.of.Count, 2))) // there are no data beyond the last request
		for _, at := range curve.of.Curve {
			if x := nines(at.P); x <= last {
				points = append(points, xy{x, at.ValueMS})
			}
		}
		c.add(curve.name, curve.ink, curve.kind, append(points, xy{last, curve.of.MaxMS}))
		end = max(end, last)
	}
	for _, p := range []float64{0, 0.5, 0.9, 0.99, 0.999, 0.9999, 0.99999, 0.999999} {
		if x := nines(p); x <= end+1e-9 {
			c.XTicks = append(c.XTicks, tick{value: x, Label: strings.TrimPrefix(quantileName(p), "p") + " %"})
		}
	}
	loadTitle := "Latency distribution"
	if d := p.Response.Accepted; d != nil {
		loadTitle += fmt.Sprintf(": slowest response %s ms", d.Longest())
	}
	return c.titled(loadTitle)
}

func rates(p load.Phase, points []point) *chart {
	c := overTime("requests/s")
	for _, s := range []struct {
		name, ink, kind string
		of              func(point) float64
	}{
		{"asked", "text", "dashed", func(p point) float64 { return p.asked }},
		{"sent", "green", "solid", func(p point) float64 { return p.sent }},
		{"answered", "blue", "solid", point.answered},
	} {
		var all []xy
		for _, p := range points {
			all = append(all, xy{p.middle(), s.of(p)})
		}
		c.add(s.name, s.ink, s.kind, all)
	}
	loadTitle := fmt.Sprintf("Rate by second: %s/s asked, %s/s achieved", printable.Figure(p.RatePerSecond), printable.Figure(p.AchievedPerSecond))
	switch {
	case p.ClosedLoop:
		loadTitle = fmt.Sprintf("Rate by second: %s/s in a closed loop", printable.Figure(p.AchievedPerSecond))
	case p.RatePerSecond == 0: // a schedule with several rates
		loadTitle = fmt.Sprintf("Rate by second: %s/s achieved", printable.Figure(p.AchievedPerSecond))
	}
	return c.titled(loadTitle)
}

func statuses(points []point) *chart {
	c := overTime("responses/s")
	floor := steps(points, func(point) float64 { return 0 })
	var all, limited, failed float64
	for _, p := range points {
		all, limited, failed = all+p.seconds*p.answered(), limited+p.seconds*p.limited, failed+p.seconds*p.failed
	}
	if all == 0 {
		return nil
	}
	for _, band := range []struct {
		name, ink string
		n         float64
		upper     func(point) float64
	}{
		{"accepted", "blue", all, func(p point) float64 { return p.accepted }},
		{"limited (429)", "orange", limited, func(p point) float64 { return p.accepted + p.limited }},
		{"failed", "red", failed, point.answered},
	} {
		if band.n > 0 {
			upper := steps(points, band.upper)
			c.addSeries(series{Name: band.name, Ink: band.ink, Kind: "area", points: upper, floor: floor})
			floor = upper
		}
	}
	return c.titled(fmt.Sprintf("Responses by second: %s limited, %s failed", percent(limited/all), percent(failed/all)))
}

// steps returns the points of a rate that is constant during each stretch.
func steps(points []point, of func(point) float64) []xy {
	var all []xy
	for i, p := range points {
		until := p.from + p.seconds
		if i+1 < len(points) {
			until = points[i+1].from
		}
		all = append(all, xy{p.from, of(p)}, xy{until, of(p)})
	}
	return all
}

// size is a phase that requests one page size.
type size struct {
	limit string
	load.Phase
}

// sizes returns the phases that request one page size each.
func sizes(phases []load.Phase) []size {
	var some []size
	for _, p := range phases {
		limit, ok := strings.CutPrefix(p.Name, "limit=")
		if _, err := strconv.Atoi(limit); ok && err == nil && p.Response.Accepted != nil {
			some = append(some, size{limit, p})
		}
	}
	return some
}

// measuredAt returns the p50 and the p99 of a phase at x, if its plan supports them.
func measuredAt(x float64, p load.Phase) (p50, p99 []xy) {
	if p.Response.Accepted == nil {
		return nil, nil
	}
	for _, q := range p.Response.Accepted.Quantiles {
		switch at := (xy{x, q.ValueMS}); {
		case !p.Supports(q.P):
		case q.P == 0.5:
			p50 = append(p50, at)
		case q.P == 0.99:
			p99 = append(p99, at)
		}
	}
	return p50, p99
}

// sizesChart shows the response time by page size.
func sizesChart(all []size) *chart {
	c := &chart{XLabel: "page size (limit)", YLabel: "ms"}
	var p50, p99 []xy
	for i, s := range all {
		median, tail := measuredAt(float64(i), s.Phase)
		p50, p99 = append(p50, median...), append(p99, tail...)
		c.XTicks = append(c.XTicks, tick{value: float64(i), Label: s.limit})
	}
	loadTitle := "Response time by page size"
	if n := len(p50); n > 1 {
		loadTitle += fmt.Sprintf(": p50 is %s ms at limit=%s, %s ms at limit=%s", printable.Figure(p50[0].y), all[0].limit, printable.Figure(p50[n-1].y), all[int(p50[n-1].x)].limit)
	}
	return c.medianAndTail(p50, p99).titled(loadTitle)
}

// phasesChart shows the response time of one phase after the other.
func phasesChart(phases []load.Phase) *chart {
	var p50, p99 []xy
	for i, p := range phases {
		median, tail := measuredAt(float64(i+1), p)
		p50, p99 = append(p50, median...), append(p99, tail...)
	}
	c := &chart{XLabel: "phase, in order of time", YLabel: "ms"}
	return c.medianAndTail(few(p50), few(p99)).titled("Response time by phase")
}

// rateChart shows the achieved rate by requested rate.
func rateChart(s load.Sustained) *chart {
	c := &chart{XLabel: "requests/s asked", YLabel: "requests/s achieved"}
	var ideal, achieved, good, bad []xy
	for _, k := range s.Knee {
		at := xy{k.AskedPerSecond, k.AchievedPerSecond}
		ideal, achieved = append(ideal, xy{at.x, at.x}), append(achieved, at)
		if k.OK {
			good = append(good, at)
		} else {
			bad = append(bad, at)
		}
	}
	c.add("as asked", "text", "dashed", ideal)
	c.add("achieved", "blue", "solid", achieved)
	c.add("met the thresholds", "blue", "mark", good)
	c.add("did not", "red", "triangle", bad)
	return c.titled(fmt.Sprintf("Served by rate tried: %s/s sustained", printable.Figure(s.RatePerSecond)))
}

// kneeCharts shows the latency by requested rate.
func kneeCharts(s load.Sustained) []*chart {
	c := &chart{XLabel: "requests/s asked", YLabel: "ms"}
	var p50, p99 []xy
	for _, k := range s.Knee {
		p50, p99 = append(p50, xy{k.AskedPerSecond, k.P50MS}), append(p99, xy{k.AskedPerSecond, k.P99MS})
	}
	return drawn(c.medianAndTail(p50, p99).titled("Latency at each rate tried"))
}

// pageTicks marks the requested pages on a logarithmic axis.
func pageTicks(points []load.DepthPoint) []tick {
	var ticks []tick
	for _, at := range points {
		ticks = append(ticks, tick{value: pageAt(at), Label: printable.Number(at.Page)})
	}
	return ticks
}

func pageAt(at load.DepthPoint) float64 { return math.Log10(float64(max(at.Page, 1))) }

// depthsChart shows the median by page number of the first few lists, as a multiple of the
// first page's.
func depthsChart(all []load.Depth) *chart {
	c := &chart{XLabel: "page", YLabel: "times the first page (p50)", spread: true}
	longest := 0
	for i, d := range all[:min(len(all), len(inks))] {
		if len(d.Points) > longest {
			longest, c.XTicks = len(d.Points), pageTicks(d.Points)
		}
		var points []xy
		for _, at := range d.Points {
			if first := d.Points[0].P50MS; first > 0 {
				points = append(points, xy{pageAt(at), at.P50MS / first})
			}
		}
		c.addDotted(d.Operation, inks[i], points)
	}
	return c.titled("Cost of deep pages: median response time, as a multiple of the first page's")
}

func depthCharts(all []load.Depth) []*chart {
	var charts []*chart
	for _, d := range all {
		c := &chart{XLabel: "page", YLabel: "ms", XTicks: pageTicks(d.Points)}
		var p50, p99 []xy
		for _, at := range d.Points {
			p50, p99 = append(p50, xy{pageAt(at), at.P50MS}), append(p99, xy{pageAt(at), at.P99MS})
		}
		loadTitle := d.Operation + ": response time by page number"
		if d.Ratio > 0 {
			loadTitle += fmt.Sprintf("; the deepest page takes %s times as long as the first", load.AtLeast(d.Open, d.Ratio))
		}
		charts = append(charts, c.medianAndTail(p50, p99).titled(loadTitle))
	}
	return drawn(charts...)
}

func memoryCharts(all []load.Memory) []*chart {
	c := &chart{XLabel: "seconds since the scenario began", YLabel: "MiB", fromZero: true}
	for i, m := range all {
		var heap, resident []xy
		for _, at := range m.Points {
			if at.HeapBytes > 0 {
				heap = append(heap, xy{at.Seconds, float64(at.HeapBytes) / (1 << 20)})
			}
			if at.RSSBytes > 0 {
				resident = append(resident, xy{at.Seconds, float64(at.RSSBytes) / (1 << 20)})
			}
		}
		c.add(m.Of+": heap", inks[i%len(inks)], "solid", heap)
		c.add(m.Of+": resident", inks[i%len(inks)], "dashed", resident)
	}
	return drawn(c.titled("Memory over time"))
}

// limiterCharts shows the accepted requests so far. The line is level while requests are
// refused.
func limiterCharts(l load.Limiter) []*chart {
	c := &chart{XLabel: "seconds since the probing began", YLabel: "requests accepted so far", fromZero: true}
	var accepted, limited, failed []xy
	n := 0.0
	for _, p := range l.Probes {
		switch p.Verdict {
		case "accepted":
			n++
			accepted = append(accepted, xy{p.Seconds, n})
		case "limited":
			limited = append(limited, xy{p.Seconds, n})
		default:
			failed = append(failed, xy{p.Seconds, n})
		}
	}
	c.add("accepted", "blue", "solid", few(accepted))
	c.add("limited (429)", "orange", "triangle", few(limited))
	c.add("failed", "red", "mark", few(failed))
	return drawn(c.titled(fmt.Sprintf("Probes accepted over time (%s of %s)", printable.Figure(n), printable.Number(len(l.Probes)))))
}

// comparedCharts shows B ÷ A of each figure with its interval.
func comparedCharts(c load.Comparison) []*chart {
	ch := &chart{XLabel: "figure", YLabel: "B ÷ A"}
	var ratios, intervals []xy
	for _, f := range c.Figures {
		if f.Ratio <= 0 {
			continue
		}
		x := float64(len(ratios))
		ch.XTicks = append(ch.XTicks, tick{value: x, Label: f.Name[strings.LastIndex(f.Name, " ")+1:]})
		ratios = append(ratios, xy{x, f.Ratio})
		if f.RatioLow > 0 && f.RatioHigh > 0 {
			intervals = append(intervals, xy{x, f.RatioLow}, xy{x, f.RatioHigh}, xy{x, math.NaN()})
		}
	}
	if len(ratios) == 0 {
		return nil
	}
	ch.x.least, ch.x.most = -0.5, float64(len(ratios))-0.5
	ch.add("A and B are equal", "text", "dashed", []xy{{ch.x.least, 1}, {ch.x.most, 1}})
	ch.add("interval", "blue", "solid", intervals)
	ch.add("B ÷ A", "blue", "mark", ratios)
	return drawn(ch.titled("B ÷ A of each figure, with its interval"))
}

// spikeChart shows the latency over time with the begin and the end of the burst.
func spikeChart(p load.Phase, parts []stretch) *chart {
	c := overTime("ms")
	c.spread = true
	points := thinned(p)
	response := func(p point) *load.Brief { return p.response }
	p50 := briefs(points, response, func(b *load.Brief) float64 { return b.P50MS })
	p99 := briefs(points, response, func(b *load.Brief) float64 { return b.P99MS })
	c.add("p50", "blue", "solid", p50)
	c.add("p99", "red", "solid", p99)
	if len(c.Series) == 0 {
		return nil
	}
	least, most := math.Inf(1), 0.0
	for _, at := range append(p50, p99...) {
		if at.y > 0 {
			least, most = min(least, at.y), max(most, at.y)
		}
	}
	c.add("the burst begins, ends", "text", "dashed", []xy{{parts[1].From, least}, {parts[1].From, most}, {0, math.NaN()}, {parts[1].Until, least}, {parts[1].Until, most}})
	return c.titled("Response time before, during and after the burst: " + spikeInWords(parts))
}

// few returns evenly spaced points of a long series, including the last.
func few(points []xy) []xy {
	const most = 2 * maxPoints
	if len(points) <= most {
		return points
	}
	var some []xy
	for i := range most {
		some = append(some, points[i*(len(points)-1)/(most-1)])
	}
	return some
}
