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

// curve returns a point for each entry of a list.
func curve[T any](list []T, at func(T) xy) []xy {
	points := make([]xy, len(list))
	for i, entry := range list {
		points[i] = at(entry)
	}
	return points
}

// phaseCharts returns the charts of a phase.
func phaseCharts(p load.Phase) []*chart {
	points := thinned(p)
	return drawn(latencyOverTime(points), percentileCurve(p), rates(p, points), statuses(points))
}

// medianAndTail adds the p50 and the p99 of a latency.
func (c *chart) medianAndTail(p50, p99 []xy) *chart {
	c.spread = true
	c.addSeries(series{Name: "p50", Ink: "blue", Kind: "solid", Dotted: true, points: p50})
	c.addSeries(series{Name: "p99", Ink: "red", Kind: "solid", Dotted: true, points: p99})
	return c
}

// figures are the figures of a stretch of time.
var figures = []struct {
	name, ink string
	of        func(load.Brief) float64
}{
	{"p50", "blue", func(b load.Brief) float64 { return b.P50MS }},
	{"p90", "green", func(b load.Brief) float64 { return b.P90MS }},
	{"p99", "red", func(b load.Brief) float64 { return b.P99MS }},
}

// addFigure adds a figure over time.
func (c *chart) addFigure(name string, figure int, kind string, points []point, of func(point) *load.Brief) []xy {
	all := curve(points, func(p point) xy {
		if b := of(p); b != nil {
			return xy{p.middle(), figures[figure].of(*b)}
		}
		return xy{p.middle(), math.NaN()}
	})
	c.add(name+figures[figure].name, figures[figure].ink, kind, all)
	return all
}

func responseOf(p point) *load.Brief { return p.response }

func latencyOverTime(points []point) *chart {
	c := overTime("ms")
	for i := range figures {
		c.addFigure("response ", i, "solid", points, responseOf)
	}
	for i := range figures {
		c.addFigure("service ", i, "dashed", points, func(p point) *load.Brief { return p.service })
	}
	var worst *point
	for i, p := range points {
		if p.response != nil && (worst == nil || p.response.P99MS > worst.response.P99MS) {
			worst = &points[i]
		}
	}
	title := "Latency by second"
	if worst != nil {
		title += fmt.Sprintf(": p99 is worst %s, %s ms", worst.when(), load.AtLeast(worst.response.Open, worst.response.P99MS))
	}
	return c.titled(title)
}

// nines is the scale of a percentile curve: each further nine has the same width.
func nines(p float64) float64 { return -math.Log10(1 - p) }

func percentileCurve(p load.Phase) *chart {
	c := &chart{XLabel: "percentile (logarithmic: each further nine has the same width)", YLabel: "ms", spread: true}
	end := 0.0
	for _, of := range []struct {
		name, ink, kind string
		*load.Distribution
	}{
		{"response", "blue", "solid", p.Response.Accepted}, {"service", "blue", "dashed", p.Service.Accepted},
		{"limited (429), response", "orange", "solid", p.Response.Limited}, {"failed, response", "red", "solid", p.Response.Failed},
		{"send lag", "green", "dashed", p.Lag},
	} {
		if of.Distribution == nil {
			continue
		}
		last := math.Log10(float64(max(of.Count, 2))) // there are no data beyond the last request
		points := curve(of.Curve, func(at load.CurvePoint) xy { return xy{nines(at.P), at.ValueMS} })
		points = slices.DeleteFunc(points, func(at xy) bool { return at.x > last })
		c.add(of.name, of.ink, of.kind, append(points, xy{last, of.MaxMS}))
		end = max(end, last)
	}
	for _, p := range []float64{0, 0.5, 0.9, 0.99, 0.999, 0.9999, 0.99999, 0.999999} {
		if x := nines(p); x <= end+1e-9 {
			c.XTicks = append(c.XTicks, tick{value: x, Label: strings.TrimPrefix(quantileName(p), "p") + " %"})
		}
	}
	title := "Latency distribution"
	if d := p.Response.Accepted; d != nil {
		title += fmt.Sprintf(": slowest response %s ms", d.Longest())
	}
	return c.titled(title)
}

func rates(p load.Phase, points []point) *chart {
	c := overTime("requests/s")
	c.add("asked", "text", "dashed", curve(points, func(p point) xy { return xy{p.middle(), p.asked} }))
	c.add("sent", "green", "solid", curve(points, func(p point) xy { return xy{p.middle(), p.sent} }))
	c.add("answered", "blue", "solid", curve(points, func(p point) xy { return xy{p.middle(), p.answered()} }))
	title := "Rate by second: "
	if !p.ClosedLoop && p.RatePerSecond > 0 { // a schedule with several rates asks for none
		title += printable.Figure(p.RatePerSecond) + "/s asked, "
	}
	title += printable.Figure(p.AchievedPerSecond) + "/s "
	if p.ClosedLoop {
		return c.titled(title + "in a closed loop")
	}
	return c.titled(title + "achieved")
}

func statuses(points []point) *chart {
	c := overTime("responses/s")
	var all, limited, failed float64
	for _, p := range points {
		all, limited, failed = all+p.seconds*p.answered(), limited+p.seconds*p.limited, failed+p.seconds*p.failed
	}
	if all == 0 {
		return nil
	}
	floor := steps(points, func(point) float64 { return 0 })
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
func steps(points []point, of func(point) float64) (all []xy) {
	for i, p := range points {
		until := p.from + p.seconds
		if i+1 < len(points) {
			until = points[i+1].from
		}
		all = append(all, xy{p.from, of(p)}, xy{until, of(p)})
	}
	return all
}

// sizes returns the phases that request one page size each, and the sizes.
func sizes(phases []load.Phase) (some []load.Phase, limits []string) {
	for _, p := range phases {
		limit, ok := strings.CutPrefix(p.Name, "limit=")
		if _, err := strconv.Atoi(limit); ok && err == nil && p.Response.Accepted != nil {
			some, limits = append(some, p), append(limits, limit)
		}
	}
	return some, limits
}

// measuredAt returns a quantile of each phase whose plan supports it, by the number of the phase.
func measuredAt(phases []load.Phase, from int, quantile float64) (all []xy) {
	for i, p := range phases {
		if q := quantileAt(p, quantile); q != nil && p.Supports(quantile) {
			all = append(all, xy{float64(from + i), q.ValueMS})
		}
	}
	return all
}

// sizesChart shows the response time by page size.
func sizesChart(phases []load.Phase, limits []string) *chart {
	c := &chart{XLabel: "page size (limit)", YLabel: "ms"}
	for i, limit := range limits {
		c.XTicks = append(c.XTicks, tick{value: float64(i), Label: limit})
	}
	p50 := measuredAt(phases, 0, 0.5)
	title := "Response time by page size"
	if n := len(p50); n > 1 {
		title += fmt.Sprintf(": p50 is %s ms at limit=%s, %s ms at limit=%s", printable.Figure(p50[0].y), limits[0], printable.Figure(p50[n-1].y), limits[int(p50[n-1].x)])
	}
	return c.medianAndTail(p50, measuredAt(phases, 0, 0.99)).titled(title)
}

// phasesChart shows the response time of one phase after the other.
func phasesChart(phases []load.Phase) *chart {
	c := &chart{XLabel: "phase, in order of time", YLabel: "ms"}
	return c.medianAndTail(few(measuredAt(phases, 1, 0.5)), few(measuredAt(phases, 1, 0.99))).titled("Response time by phase")
}

// rateChart shows the achieved rate by requested rate.
func rateChart(s load.Sustained) *chart {
	c := &chart{XLabel: "requests/s asked", YLabel: "requests/s achieved"}
	achieved := func(k load.KneePoint) xy { return xy{k.AskedPerSecond, k.AchievedPerSecond} }
	met := func(k load.KneePoint) bool { return k.OK }
	missed := func(k load.KneePoint) bool { return !k.OK }
	c.add("as asked", "text", "dashed", curve(s.Knee, func(k load.KneePoint) xy { return xy{k.AskedPerSecond, k.AskedPerSecond} }))
	c.add("achieved", "blue", "solid", curve(s.Knee, achieved))
	c.add("met the thresholds", "blue", "mark", curve(slices.DeleteFunc(slices.Clone(s.Knee), missed), achieved))
	c.add("did not", "red", "triangle", curve(slices.DeleteFunc(slices.Clone(s.Knee), met), achieved))
	return c.titled(fmt.Sprintf("Served by rate tried: %s/s sustained", printable.Figure(s.RatePerSecond)))
}

// kneeCharts shows the latency by requested rate.
func kneeCharts(s load.Sustained) []*chart {
	c := &chart{XLabel: "requests/s asked", YLabel: "ms"}
	return drawn(c.medianAndTail(
		curve(s.Knee, func(k load.KneePoint) xy { return xy{k.AskedPerSecond, k.P50MS} }),
		curve(s.Knee, func(k load.KneePoint) xy { return xy{k.AskedPerSecond, k.P99MS} }),
	).titled("Latency at each rate tried"))
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
	for i, d := range all[:min(len(all), len(inks))] {
		if len(d.Points) > len(c.XTicks) {
			c.XTicks = pageTicks(d.Points)
		}
		if len(d.Points) > 0 && d.Points[0].P50MS > 0 {
			points := curve(d.Points, func(at load.DepthPoint) xy { return xy{pageAt(at), at.P50MS / d.Points[0].P50MS} })
			c.addSeries(series{Name: d.Operation, Ink: inks[i], Kind: "solid", Dotted: true, points: points})
		}
	}
	return c.titled("Cost of deep pages: median response time, as a multiple of the first page's")
}

func depthCharts(all []load.Depth) (charts []*chart) {
	for _, d := range all {
		c := &chart{XLabel: "page", YLabel: "ms", XTicks: pageTicks(d.Points)}
		title := d.Operation + ": response time by page number"
		if d.Ratio > 0 {
			title += fmt.Sprintf("; the deepest page takes %s times as long as the first", load.AtLeast(d.Open, d.Ratio))
		}
		charts = append(charts, c.medianAndTail(
			curve(d.Points, func(at load.DepthPoint) xy { return xy{pageAt(at), at.P50MS} }),
			curve(d.Points, func(at load.DepthPoint) xy { return xy{pageAt(at), at.P99MS} }),
		).titled(title))
	}
	return drawn(charts...)
}

func memoryCharts(all []load.Memory) []*chart {
	c := &chart{XLabel: "seconds since the scenario began", YLabel: "MiB", fromZero: true}
	for i, m := range all {
		for _, s := range []struct {
			name, kind string
			bytes      func(load.MemoryPoint) int64
		}{
			{"heap", "solid", func(at load.MemoryPoint) int64 { return at.HeapBytes }}, {"resident", "dashed", func(at load.MemoryPoint) int64 { return at.RSSBytes }},
		} {
			known := slices.DeleteFunc(slices.Clone(m.Points), func(at load.MemoryPoint) bool { return s.bytes(at) <= 0 })
			c.add(m.Of+": "+s.name, inks[i%len(inks)], s.kind, curve(known, func(at load.MemoryPoint) xy { return xy{at.Seconds, float64(s.bytes(at)) / (1 << 20)} }))
		}
	}
	return drawn(c.titled("Memory over time"))
}

// limiterCharts shows the accepted requests so far. The line is level while requests are
// refused.
func limiterCharts(l load.Limiter) []*chart {
	c := &chart{XLabel: "seconds since the probing began", YLabel: "requests accepted so far", fromZero: true}
	points, n := map[string][]xy{}, 0.0
	for _, p := range l.Probes {
		if p.Verdict == "accepted" {
			n++
		}
		points[p.Verdict] = append(points[p.Verdict], xy{p.Seconds, n})
	}
	c.add("accepted", "blue", "solid", few(points["accepted"]))
	c.add("limited (429)", "orange", "triangle", few(points["limited"]))
	c.add("failed", "red", "mark", few(points["failed"]))
	return drawn(c.titled(fmt.Sprintf("Probes accepted over time (%s of %s)", printable.Figure(n), printable.Number(len(l.Probes)))))
}

// comparedCharts shows B ÷ A of each figure with its interval.
func comparedCharts(all load.Comparison) []*chart {
	c := &chart{XLabel: "figure", YLabel: "B ÷ A"}
	var ratios, intervals []xy
	for _, f := range all.Figures {
		if f.Ratio <= 0 {
			continue
		}
		x := float64(len(ratios))
		c.XTicks = append(c.XTicks, tick{value: x, Label: f.Name[strings.LastIndex(f.Name, " ")+1:]})
		ratios = append(ratios, xy{x, f.Ratio})
		if f.RatioLow > 0 && f.RatioHigh > 0 {
			intervals = append(intervals, xy{x, f.RatioLow}, xy{x, f.RatioHigh}, xy{x, math.NaN()})
		}
	}
	if len(ratios) == 0 {
		return nil
	}
	c.x.least, c.x.most = -0.5, float64(len(ratios))-0.5
	c.add("A and B are equal", "text", "dashed", []xy{{c.x.least, 1}, {c.x.most, 1}})
	c.add("interval", "blue", "solid", intervals)
	c.add("B ÷ A", "blue", "mark", ratios)
	return drawn(c.titled("B ÷ A of each figure, with its interval"))
}

// spikeChart shows the latency over time with the begin and the end of the burst.
func spikeChart(p load.Phase, parts []stretch) *chart {
	c, points := overTime("ms"), thinned(p)
	shown := append(c.addFigure("", 0, "solid", points, responseOf), c.addFigure("", 2, "solid", points, responseOf)...)
	if len(c.Series) == 0 {
		return nil
	}
	least, most := math.Inf(1), 0.0
	for _, at := range shown {
		if at.y > 0 {
			least, most = min(least, at.y), max(most, at.y)
		}
	}
	from, until := parts[1].From, parts[1].Until
	c.add("the burst begins, ends", "text", "dashed", []xy{{from, least}, {from, most}, {0, math.NaN()}, {until, least}, {until, most}})
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
