package page

import (
	"bytes"
	"fmt"
	"html/template"
	"image/color"
	"math"
	"regexp"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"

	"outreach.example/conformance/reports"
)

// Size of a chart, in points of its own coordinates: it is stretched to the
// width that the page has, and still legible on a phone.
const (
	chartWidth  = 480
	chartHeight = 230
)

// ink is a colour of the page. The charts are drawn in stand-ins, which then
// become the page's own variables: so charts follow its light and dark dress.
type ink uint8

const (
	text ink = iota + 1
	grid
	blue
	green
	orange
	red
)

var variables = map[ink]string{text: "var(--text)", grid: "var(--grid)", blue: "var(--blue)", green: "var(--green)", orange: "var(--orange)", red: "var(--red)"}

// filling, added to an ink, stands for the same ink of an area.
const filling ink = 8

func (i ink) color() color.Color { return color.NRGBA{uint8(i), uint8(i), uint8(i), 255} }

// css is what a stand-in becomes; empty for a colour that is none.
func (i ink) css() string {
	if i > filling && variables[i-filling] != "" {
		return "color-mix(in srgb, " + variables[i-filling] + " 55%, transparent)"
	}
	return variables[i]
}

// line is how one series is drawn, and what it is called in the legend.
type line struct {
	Name   string
	ink    ink
	dashed bool
	marks  draw.GlyphDrawer // nil for a line without marks
	marked bool             // marks alone, without a line
	area   bool
}

// Ink is the line's colour, for the legend.
func (l line) Ink() template.CSS { return template.CSS(variables[l.ink]) }

// Kind says how the line looks, for the legend.
func (l line) Kind() string {
	switch {
	case l.area:
		return "area"
	case l.marked:
		return "mark"
	case l.dashed:
		return "dashed"
	default:
		return "solid"
	}
}

// figure is a chart with what one sees on it and what the lines mean. No string
// that comes from outside is drawn: the chart holds numbers, the page the words.
type figure struct {
	Title  string
	Legend []line
	SVG    template.HTML
}

// chart is a plot while it is drawn.
type chart struct {
	plot   *plot.Plot
	legend []line
}

func newChart(x, y string) *chart {
	c := &chart{plot: plot.New()}
	sans := font.Font{Typeface: "Liberation", Variant: "Sans"}
	for _, axis := range []*plot.Axis{&c.plot.X, &c.plot.Y} {
		axis.Color, axis.Tick.Color = text.color(), text.color()
		axis.Label.TextStyle.Color, axis.Tick.Label.Color = text.color(), text.color()
		axis.Label.TextStyle.Font, axis.Tick.Label.Font = font.From(sans, 12), font.From(sans, 12)
		axis.Padding = 0
	}
	c.plot.X.Label.Text, c.plot.Y.Label.Text = x, y
	c.plot.Y.Min = 0
	c.plot.BackgroundColor = color.Transparent
	lines := plotter.NewGrid()
	lines.Horizontal.Color, lines.Vertical.Color = grid.color(), grid.color()
	c.plot.Add(lines)
	return c
}

// newTimeChart begins at 0.
func newTimeChart(x, y string) *chart {
	c := newChart(x, y)
	c.plot.X.Min = 0
	return c
}

// add draws a series. Points that are no number break the line.
func (c *chart) add(l line, points plotter.XYs) {
	drawn := false
	for _, part := range unbroken(points) {
		c.part(l, part)
		drawn = true
	}
	if drawn {
		c.legend = append(c.legend, l)
	}
}

func (c *chart) part(l line, points plotter.XYs) {
	style := draw.LineStyle{Color: l.ink.color(), Width: 1.6}
	if l.dashed {
		style.Dashes = []vg.Length{4, 3}
	}
	glyphs := draw.GlyphStyle{Color: l.ink.color(), Radius: 3, Shape: l.marks}
	if !l.marked && len(points) == 1 && l.marks == nil {
		glyphs.Shape = draw.CircleGlyph{} // a line of one point is invisible
	}
	if !l.marked {
		c.plot.Add(&plotter.Line{XYs: points, LineStyle: style})
	}
	if glyphs.Shape != nil {
		c.plot.Add(&plotter.Scatter{XYs: points, GlyphStyle: glyphs})
	}
}

// band fills the space between two series over the same x.
func (c *chart) band(l line, lower, upper plotter.XYs) {
	l.area = true
	outline := append(plotter.XYs{}, upper...)
	for i := len(lower) - 1; i >= 0; i-- {
		outline = append(outline, lower[i])
	}
	if len(outline) > 0 {
		c.plot.Add(&plotter.Polygon{XYs: []plotter.XYs{outline}, Color: (l.ink + filling).color(), LineStyle: draw.LineStyle{Color: l.ink.color(), Width: 0.5}})
		c.legend = append(c.legend, l)
	}
}

func unbroken(points plotter.XYs) []plotter.XYs {
	var parts []plotter.XYs
	start := 0
	for i := 0; i <= len(points); i++ {
		if i == len(points) || math.IsNaN(points[i].Y) {
			if i > start {
				parts = append(parts, points[start:i])
			}
			start = i + 1
		}
	}
	return parts
}

// logY makes the vertical axis logarithmic where values differ by more than
// thirty times; else their growth would look like a step.
func (c *chart) logY(values ...plotter.XYs) {
	least, most := math.Inf(1), 0.0
	for _, points := range values {
		for i := range points {
			if y := points[i].Y; y > 0 {
				least, most = min(least, y), max(most, y)
			}
		}
	}
	if most <= 30*least {
		return
	}
	for _, points := range values {
		for i := range points {
			points[i].Y = max(points[i].Y, least)
		}
	}
	c.plot.Y.Scale, c.plot.Y.Tick.Marker = plot.LogScale{}, decades{}
	c.plot.Y.Min = least / 1.2
	c.plot.Y.Max = most * 1.2
	c.plot.Y.Label.Text += " (log scale)"
}

var stand = regexp.MustCompile(`#(0[1-9A-F])(0[1-9A-F])(0[1-9A-F])`)

// figure draws the chart. The title says what one sees; nothing to draw gives no figure.
func (c *chart) figure(title string) *figure {
	if len(c.legend) == 0 {
		return nil
	}
	if c.plot.X.Tick.Marker == nil || c.plot.X.Tick.Marker == (plot.DefaultTicks{}) {
		c.plot.X.Tick.Marker = evenly{6}
	}
	if _, log := c.plot.Y.Tick.Marker.(decades); !log {
		c.plot.Y.Tick.Marker = evenly{5}
		c.plot.Y.Max *= 1.05
		if c.plot.Y.Max <= c.plot.Y.Min {
			c.plot.Y.Max = c.plot.Y.Min + 1
		}
	}
	if c.plot.X.Max <= c.plot.X.Min {
		c.plot.X.Max = c.plot.X.Min + 1
	}
	canvas := vgsvg.New(chartWidth, chartHeight)
	const margin = 18 // room for half a label at the right end
	c.plot.Draw(draw.Crop(draw.New(canvas), 0, -margin, 0, -margin/3))
	var b bytes.Buffer
	if _, err := canvas.WriteTo(&b); err != nil {
		panic(err) // a buffer takes everything
	}
	// The head is for a file of its own; within a page its names and its fixed
	// size are in the way.
	_, drawing, _ := strings.Cut(b.String(), "xlink\">")
	drawing = stand.ReplaceAllStringFunc(drawing, func(hex string) string {
		var i ink
		if _, err := fmt.Sscanf(hex[1:3], "%02X", &i); err != nil || i.css() == "" {
			return hex
		}
		return i.css()
	})
	title = reports.Printable(title)
	head := fmt.Sprintf(`<svg viewBox="0 0 %d %d" role="img" aria-label="%s">`, chartWidth, chartHeight, template.HTMLEscapeString(title))
	return &figure{Title: title, Legend: c.legend, SVG: template.HTML(head + drawing)}
}
