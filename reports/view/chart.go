package view

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"outreach.example/conformance/internal/printable"
)

// Size of a chart and its margins, in units that the page scales to its width.
const (
	chartWidth, chartHeight                          = 480, 230
	marginLeft, marginRight, marginTop, marginBottom = 56, 18, 10, 40
)

// xy is a point of a series. Y is NaN where nothing was measured.
type xy struct{ x, y float64 }

// tick is a mark on an axis. At is its place in the drawing.
type tick struct {
	value float64
	Label string
	At    float64
}

// series is what a chart shows with one style.
type series struct {
	Name   string
	Ink    string // a colour of the page: text, blue, green, orange or red
	Kind   string // solid, dashed, area, mark or triangle
	Dotted bool   // a line with a mark at each point
	points []xy
	floor  []xy // the lower edge of an area, with the same x values

	Lines []string // the unbroken parts in the drawing, as SVG points
	Dots  []dot
}

type dot struct{ X, Y float64 }

// chart is a chart with its axes. The template "charts" draws it once it is laid out.
type chart struct {
	Title          string
	XLabel, YLabel string
	Series         []series
	XTicks, YTicks []tick // those of x are round values unless they are given

	x, y     axis // x is given if it begins before it ends
	fromZero bool // x begins at 0
	// spread allows a logarithmic scale for y, for values that differ by more than a
	// factor of 30. Otherwise small ones would be indistinguishable.
	spread bool
}

// axis maps the values between least and most to the drawing.
type axis struct {
	least, most float64
	from, until float64 // in the drawing
	log         bool
}

func (a axis) at(v float64) float64 {
	least, most := a.least, a.most
	if a.log {
		v, least, most = math.Log(v), math.Log(least), math.Log(most)
	}
	return math.Round(10*(a.from+(a.until-a.from)*(v-least)/(most-least))) / 10
}

// overTime returns a chart of a phase, which begins at 0.
func overTime(y string) *chart {
	return &chart{XLabel: "seconds since the phase began", YLabel: y, fromZero: true, spread: y == "ms"}
}

// add adds a series, unless it is empty.
func (c *chart) add(name, ink, kind string, points []xy) {
	c.addSeries(series{Name: name, Ink: ink, Kind: kind, points: points})
}

func (c *chart) addSeries(s series) {
	if slices.ContainsFunc(s.points, func(p xy) bool { return !math.IsNaN(p.y) }) {
		c.Series = append(c.Series, s)
	}
}

// titled lays the chart out. It returns nil if there is nothing to draw.
func (c *chart) titled(title string) *chart {
	if len(c.Series) == 0 {
		return nil
	}
	c.Title = title
	c.scale()
	for i := range c.Series {
		c.Series[i].draw(c.x, c.y)
	}
	if c.XTicks == nil {
		c.XTicks = rounded(c.x, 6)
	}
	c.YTicks = rounded(c.y, 5)
	if c.y.log {
		c.YLabel += " (log scale)"
		c.YTicks = decades(c.y)
	}
	place(c.XTicks, c.x)
	place(c.YTicks, c.y)
	return c
}

// scale chooses the ends of the axes.
func (c *chart) scale() {
	least, most, smallest := math.Inf(1), math.Inf(-1), math.Inf(1) // smallest above 0
	highest := 0.0
	for _, s := range c.Series {
		for _, p := range s.points {
			least, most = min(least, p.x), max(most, p.x)
			if p.y > 0 {
				smallest, highest = min(smallest, p.y), max(highest, p.y)
			}
		}
	}
	if c.fromZero {
		least = 0
	}
	if c.x.least >= c.x.most {
		c.x.least, c.x.most = least, most
	}
	if c.x.most <= c.x.least {
		c.x.most = c.x.least + 1
	}
	c.y.most = highest * 1.05
	if c.spread && highest > 30*smallest {
		c.y = axis{log: true, least: smallest / 1.2, most: highest * 1.2}
	}
	if c.y.most <= c.y.least {
		c.y.most = c.y.least + 1
	}
	c.x.from, c.x.until = marginLeft, chartWidth-marginRight
	c.y.from, c.y.until = chartHeight-marginBottom, marginTop
}

// draw fills in the drawing of the series.
func (s *series) draw(x, y axis) {
	floor := slices.Clone(s.floor)
	slices.Reverse(floor)
	outline := slices.Concat(s.points, floor)
	marks := s.Kind == "mark" || s.Kind == "triangle"
	var part []string
	end := func() {
		if len(part) > 1 && !marks {
			s.Lines = append(s.Lines, strings.Join(part, " "))
		}
		part = nil
	}
	for i, p := range outline {
		if math.IsNaN(p.y) {
			end()
			continue
		}
		at := dot{x.at(p.x), y.at(max(p.y, y.least))}
		part = append(part, coordinate(at.X)+","+coordinate(at.Y))
		single := len(part) == 1 && (i+1 == len(outline) || math.IsNaN(outline[i+1].y)) // a line of 1 point is invisible
		if marks || s.Dotted || single {
			s.Dots = append(s.Dots, at)
		}
	}
	end()
}

func coordinate(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

func place(ticks []tick, a axis) {
	for i := range ticks {
		ticks[i].At = a.at(ticks[i].value)
	}
}

// rounded returns about so many round values on an axis.
func rounded(a axis, about float64) []tick {
	step := math.Pow(10, math.Floor(math.Log10((a.most-a.least)/about)))
	for _, times := range []float64{1, 2, 5, 10} {
		if (a.most-a.least)/(step*times) <= about {
			step *= times
			break
		}
	}
	var ticks []tick
	first := math.Ceil(a.least / step)
	for i := range int(2 * about) { // steps may be too small to change the first value
		value := (first + float64(i)) * step
		if value > a.most+step*1e-9 {
			break
		}
		ticks = append(ticks, tick{value: value, Label: printable.Figure(value)})
	}
	return ticks
}

// decades returns 1, 2 and 5 times the powers of 10, or only the powers if there are many.
func decades(a axis) []tick {
	times := []float64{1, 2, 5}
	if a.most/a.least >= 2000 {
		times = times[:1]
	}
	var ticks []tick
	for power := math.Floor(math.Log10(a.least)); power <= math.Log10(a.most); power++ {
		for _, n := range times {
			if value := n * math.Pow(10, power); value >= a.least && value <= a.most {
				ticks = append(ticks, tick{value: value, Label: printable.Figure(value)})
			}
		}
	}
	return ticks
}
