package loadpage

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

// Size of a chart in points. The page scales it to its width, down to that of a phone.
const (
	chartWidth  = 480
	chartHeight = 230
)

// ink is a colour of the page. Charts are drawn in placeholder colours, which CSS
// variables then replace, so that charts follow the light and dark theme.
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

// filling, added to an ink, is that ink for an area.
const filling ink = 8

func (i ink) color() color.Color { return color.NRGBA{uint8(i), uint8(i), uint8(i), 255} }

// css returns the CSS of a placeholder colour, or "" for other colours.
func (i ink) css() string {
	if i > filling && variables[i-filling] != "" {
		return "color-mix(in srgb, " + variables[i-filling] + " 55%, transparent)"
	}
	return variables[i]
}

// line is the style of one series and its name in the legend.
type line struct {
	Name   string
	ink    ink
	dashed bool
	marks  draw.GlyphDrawer // nil without marks
	marked bool             // marks without a line
	area   bool
}

// Ink returns the line's colour, for the legend.
func (l line) Ink() template.CSS { return template.CSS(variables[l.ink]) }

// Kind returns the line's style, for the legend.
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

// figure is a chart with its title and legend. Charts contain only numbers: strings
// from outside are in the page, which escapes them.
type figure struct {
	Title  string
	Legend []line
	SVG    template.HTML
}

// chart builds a plot.
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

// newTimeChart returns a chart with a horizontal axis from 0.
func newTimeChart(x, y string) *chart {
	c := newChart(x, y)
	c.plot.X.Min = 0
	return c
}

// add draws a series. NaN interrupts the line.
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
		glyphs.Shape = draw.CircleGlyph{} // a line of 1 point is invisible
	}
	if !l.marked {
		c.plot.Add(&plotter.Line{XYs: points, LineStyle: style})
	}
	if glyphs.Shape != nil {
		c.plot.Add(&plotter.Scatter{XYs: points, GlyphStyle: glyphs})
	}
}

// band fills the area between two series with the same x values.
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

// logY makes the vertical axis logarithmic if values differ by more than a factor of 30.
// Otherwise small values would be indistinguishable.
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

// figure draws the chart. It returns nil if there is nothing to draw.
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
		panic(err) // a buffer returns no errors
	}
	// The head of an SVG file, with its fixed size, is omitted within a page.
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
