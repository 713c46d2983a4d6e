package loadpage

import (
	"fmt"
	"math"

	"outreach.example/conformance/internal/printable"

	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg/draw"

	"outreach.example/conformance/reports/load"
	"outreach.example/conformance/reports/page"
)

// rateFigure returns the chart of the achieved rate by requested rate.
func rateFigure(s load.Sustained) *figure {
	rate := newChart("requests/s asked", "requests/s achieved")
	var ideal, achieved, good, bad plotter.XYs
	for _, k := range s.Knee {
		at := plotter.XY{X: k.AskedPerSecond, Y: k.AchievedPerSecond}
		ideal = append(ideal, plotter.XY{X: k.AskedPerSecond, Y: k.AskedPerSecond})
		achieved = append(achieved, at)
		if k.OK {
			good = append(good, at)
		} else {
			bad = append(bad, at)
		}
	}
	rate.add(line{Name: "as asked", ink: text, dashed: true}, ideal)
	rate.add(line{Name: "achieved", ink: blue}, achieved)
	rate.add(line{Name: "met the thresholds", ink: blue, marks: draw.CircleGlyph{}, marked: true}, good)
	rate.add(line{Name: "did not", ink: red, marks: draw.PyramidGlyph{}, marked: true}, bad)
	return rate.figure(fmt.Sprintf("Served by rate tried: %s/s sustained", printable.Figure(s.RatePerSecond)))
}

// kneeFigures returns the chart of latency by requested rate.
func kneeFigures(s load.Sustained) []*figure {
	latency := newChart("requests/s asked", "ms")
	var p50, p99 plotter.XYs
	for _, k := range s.Knee {
		p50 = append(p50, plotter.XY{X: k.AskedPerSecond, Y: k.P50MS})
		p99 = append(p99, plotter.XY{X: k.AskedPerSecond, Y: k.P99MS})
	}
	latency.logY(p50, p99)
	latency.add(line{Name: "p50", ink: blue, marks: draw.CircleGlyph{}}, p50)
	latency.add(line{Name: "p99", ink: red, marks: draw.CircleGlyph{}}, p99)
	return drawn(latency.figure("Latency at each rate tried"))
}

func depthFigures(all []load.Depth) []*figure {
	var figures []*figure
	for _, d := range all {
		figures = append(figures, depthFigure(d))
	}
	return drawn(figures...)
}

func depthFigure(d load.Depth) *figure {
	c := newChart("page", "ms")
	var p50, p99 plotter.XYs
	for _, at := range d.Points {
		p50 = append(p50, plotter.XY{X: math.Log10(float64(at.Page)), Y: at.P50MS})
		p99 = append(p99, plotter.XY{X: math.Log10(float64(at.Page)), Y: at.P99MS})
	}
	c.plot.X.Tick.Marker = pages{d.Points}
	c.add(line{Name: "p50", ink: blue, marks: draw.CircleGlyph{}}, p50)
	c.add(line{Name: "p99", ink: red, marks: draw.CircleGlyph{}}, p99)
	title := d.Operation + ": response time by page number"
	if d.Ratio > 0 {
		title += fmt.Sprintf("; the deepest page takes %s times as long as the first", load.AtLeast(d.Open, d.Ratio))
	}
	return c.figure(title)
}

func memoryFigures(all []load.Memory) []*figure {
	c := newTimeChart("seconds since the scenario began", "MiB")
	inks := []ink{blue, green, red, orange}
	for i, m := range all {
		var heap, rss plotter.XYs
		for _, at := range m.Points {
			if at.HeapBytes > 0 {
				heap = append(heap, plotter.XY{X: at.Seconds, Y: float64(at.HeapBytes) / (1 << 20)})
			}
			if at.RSSBytes > 0 {
				rss = append(rss, plotter.XY{X: at.Seconds, Y: float64(at.RSSBytes) / (1 << 20)})
			}
		}
		c.add(line{Name: m.Of + ": heap", ink: inks[i%len(inks)]}, heap)
		c.add(line{Name: m.Of + ": resident", ink: inks[i%len(inks)], dashed: true}, rss)
	}
	return drawn(c.figure("Memory over time"))
}

// limiterFigures returns the chart of accepted requests so far. It is level while
// requests are refused.
func limiterFigures(l load.Limiter) []*figure {
	c := newTimeChart("seconds since the probing began", "requests accepted so far")
	var accepted, limited, failed plotter.XYs
	n := 0.0
	for _, p := range l.Probes {
		switch p.Verdict {
		case "accepted":
			n++
			accepted = append(accepted, plotter.XY{X: p.Seconds, Y: n})
		case "limited":
			limited = append(limited, plotter.XY{X: p.Seconds, Y: n})
		default:
			failed = append(failed, plotter.XY{X: p.Seconds, Y: n})
		}
	}
	c.add(line{Name: "accepted", ink: blue}, few(accepted))
	c.add(line{Name: "limited (429)", ink: orange, marks: draw.PyramidGlyph{}, marked: true}, few(limited))
	c.add(line{Name: "failed", ink: red, marks: draw.BoxGlyph{}, marked: true}, few(failed))
	return drawn(c.figure(fmt.Sprintf("Probes accepted over time (%s of %s)", printable.Figure(n), page.Whole(int64(len(l.Probes))))))
}

// few returns evenly spaced points of a long series, including the last.
func few(points plotter.XYs) plotter.XYs {
	const most = 2 * maxPoints
	if len(points) <= most {
		return points
	}
	var some plotter.XYs
	for i := range most {
		some = append(some, points[i*(len(points)-1)/(most-1)])
	}
	return some
}
