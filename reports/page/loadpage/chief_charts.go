package loadpage

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg/draw"

	"outreach.example/conformance/internal/printable"
	"outreach.example/conformance/reports/load"
)

// named marks places on an axis by the names of a series: the first is at 0. The names are
// our own or numbers, because charts hold no text from outside.
type named []string

func (n named) Ticks(_, _ float64) []plot.Tick {
	var ticks []plot.Tick
	for i, name := range n {
		ticks = append(ticks, plot.Tick{Value: float64(i), Label: name})
	}
	return ticks
}

// size is a phase that requests one page size.
type size struct {
	limit int
	load.Phase
}

// sizes returns the phases that request one page size each.
func sizes(phases []load.Phase) []size {
	var some []size
	for _, p := range phases {
		text, ok := strings.CutPrefix(p.Name, "limit=")
		if limit, err := strconv.Atoi(text); ok && err == nil && p.Response.Accepted != nil {
			some = append(some, size{limit, p})
		}
	}
	return some
}

// sizesFigure returns the chart of the response time by page size.
func sizesFigure(phases []load.Phase) *figure {
	c := newChart("page size (limit)", "ms")
	var p50, p99 plotter.XYs
	var names named
	for i, s := range sizes(phases) {
		names = append(names, strconv.Itoa(s.limit))
		for _, q := range s.Response.Accepted.Quantiles {
			at := plotter.XY{X: float64(i), Y: q.ValueMS}
			switch {
			case !s.Supports(q.P):
			case q.P == 0.5:
				p50 = append(p50, at)
			case q.P == 0.99:
				p99 = append(p99, at)
			}
		}
	}
	c.plot.X.Tick.Marker = names
	c.logY(p50, p99)
	c.add(line{Name: "p50", ink: blue, marks: draw.CircleGlyph{}}, p50)
	c.add(line{Name: "p99", ink: red, marks: draw.CircleGlyph{}}, p99)
	title := "Response time by page size"
	if n := len(p50); n > 1 {
		title += fmt.Sprintf(": p50 is %s ms at limit=%s, %s ms at limit=%s", printable.Figure(p50[0].Y), names[0], printable.Figure(p50[n-1].Y), names[int(p50[n-1].X)])
	}
	return c.figure(title)
}

// phasesFigure returns the chart of the response time of one phase after the other.
func phasesFigure(phases []load.Phase) *figure {
	c := newChart("phase, in order of time", "ms")
	var p50, p99 plotter.XYs
	for i, p := range phases {
		if p.Response.Accepted == nil {
			continue
		}
		for _, q := range p.Response.Accepted.Quantiles {
			at := plotter.XY{X: float64(i + 1), Y: q.ValueMS}
			switch {
			case !p.Supports(q.P):
			case q.P == 0.5:
				p50 = append(p50, at)
			case q.P == 0.99:
				p99 = append(p99, at)
			}
		}
	}
	p50, p99 = few(p50), few(p99)
	c.logY(p50, p99)
	c.add(line{Name: "p50", ink: blue, marks: draw.CircleGlyph{}}, p50)
	c.add(line{Name: "p99", ink: red, marks: draw.CircleGlyph{}}, p99)
	return c.figure("Response time by phase")
}

// maxLists is the maximum number of lists in a chart.
const maxLists = 4

// depthsFigure returns the chart of the median by page number, as a multiple of the first page's, of the
// first few lists.
func depthsFigure(all []load.Depth) *figure {
	c := newChart("page", "times the first page (p50)")
	inks := []ink{blue, orange, green, red}
	var longest load.Depth
	var lines []line
	var series []plotter.XYs
	for i, d := range all[:min(len(all), maxLists)] {
		if len(d.Points) > len(longest.Points) {
			longest = d
		}
		if len(d.Points) == 0 || d.Points[0].P50MS <= 0 {
			continue
		}
		var points plotter.XYs
		for _, at := range d.Points {
			points = append(points, plotter.XY{X: math.Log10(float64(max(at.Page, 1))), Y: at.P50MS / d.Points[0].P50MS})
		}
		lines, series = append(lines, line{Name: d.Operation, ink: inks[i], marks: draw.CircleGlyph{}}), append(series, points)
	}
	c.logY(series...)
	for i := range lines {
		c.add(lines[i], series[i])
	}
	c.plot.X.Tick.Marker = pages{longest.Points}
	return c.figure("Cost of deep pages: median response time, as a multiple of the first page's")
}

// comparedFigures returns the chart of B ÷ A of each figure with its interval.
func comparedFigures(c load.Comparison) []*figure {
	chart := newChart("figure", "B ÷ A")
	var names named
	var ratios, equal, intervals plotter.XYs
	for _, f := range c.Figures {
		if f.Ratio <= 0 {
			continue
		}
		x := float64(len(names))
		names = append(names, short(f.Name))
		ratios = append(ratios, plotter.XY{X: x, Y: f.Ratio})
		equal = append(equal, plotter.XY{X: x, Y: 1})
		if f.RatioLow > 0 && f.RatioHigh > 0 {
			intervals = append(intervals, plotter.XY{X: x, Y: f.RatioLow}, plotter.XY{X: x, Y: f.RatioHigh}, plotter.XY{X: x, Y: math.NaN()})
		}
	}
	if len(names) == 0 {
		return nil
	}
	chart.plot.X.Min, chart.plot.X.Max = -0.5, float64(len(names))-0.5
	equal = append(plotter.XYs{{X: chart.plot.X.Min, Y: 1}}, append(equal, plotter.XY{X: chart.plot.X.Max, Y: 1})...)
	chart.plot.X.Tick.Marker = names
	chart.add(line{Name: "A and B are equal", ink: text, dashed: true}, equal)
	chart.add(line{Name: "interval", ink: blue}, intervals)
	chart.add(line{Name: "B ÷ A", ink: blue, marks: draw.CircleGlyph{}, marked: true}, ratios)
	return drawn(chart.figure("B ÷ A of each figure, with its interval"))
}

// short returns the last word of a figure that the harness names, e.g. "p99", or "other".
func short(name string) string {
	last := name[strings.LastIndex(name, " ")+1:]
	switch last {
	case "p50", "p90", "p99", "failed", "limited", "accepted", "throughput", "served":
		return last
	}
	return "other"
}

// comparedInWords sums up a comparison.
func comparedInWords(c load.Comparison) string {
	var said []string
	unknown := 0
	for _, f := range c.Figures {
		change := ""
		if f.Ratio > 0 {
			change = fmt.Sprintf(" (%s%s times A)", load.Bound(f.BOpen, f.AOpen), printable.Figure(f.Ratio))
		}
		switch f.Verdict {
		case load.Worse, load.Better:
			said = append(said, f.Name+" is "+string(f.Verdict)+change)
		case load.EffectNotKnown:
			unknown++
		}
	}
	switch {
	case len(said) > 0:
		return strings.Join(said, "; ")
	case unknown > 0 && unknown == len(c.Figures):
		return "inconclusive"
	default:
		return "no difference shown"
	}
}
