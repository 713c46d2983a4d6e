package loadpage

import (
	"math"
	"strconv"

	"outreach.example/conformance/internal/printable"

	"gonum.org/v1/plot"

	"outreach.example/conformance/reports/load"
	"outreach.example/conformance/reports/page"
)

// evenly marks round values on an axis, about that many.
type evenly struct{ about int }

func (e evenly) Ticks(least, most float64) []plot.Tick {
	step := math.Pow(10, math.Floor(math.Log10((most-least)/float64(e.about))))
	for _, times := range []float64{1, 2, 5, 10} {
		if (most-least)/(step*times) <= float64(e.about) {
			step *= times
			break
		}
	}
	var ticks []plot.Tick
	for i := math.Ceil(least / step); i*step <= most+step*1e-9; i++ {
		ticks = append(ticks, plot.Tick{Value: i * step, Label: printable.Figure(i * step)})
	}
	return ticks
}

// decades marks 1, 2 and 5 times the powers of 10, or only the powers if there are
// many.
type decades struct{}

func (decades) Ticks(least, most float64) []plot.Tick {
	labelled := map[float64]bool{1: true}
	if most/least < 2000 {
		labelled = map[float64]bool{1: true, 2: true, 5: true}
	}
	var ticks []plot.Tick
	for power := math.Floor(math.Log10(least)); power <= math.Log10(most); power++ {
		for _, times := range []float64{1, 2, 5} {
			value := times * math.Pow(10, power)
			if value < least || value > most {
				continue
			}
			tick := plot.Tick{Value: value}
			if labelled[times] {
				tick.Label = printable.Figure(value)
			}
			ticks = append(ticks, tick)
		}
	}
	return ticks
}

// nines is the scale of a percentile curve: each further nine has the same width.
func nines(p float64) float64 { return -math.Log10(1 - p) }

// percentiles marks the axis of a percentile curve.
type percentiles struct{}

func (percentiles) Ticks(least, most float64) []plot.Tick {
	var ticks []plot.Tick
	for _, p := range []float64{0, 0.5, 0.9, 0.99, 0.999, 0.9999, 0.99999, 0.999999} {
		if x := nines(p); x >= least-1e-9 && x <= most+1e-9 {
			ticks = append(ticks, plot.Tick{Value: x, Label: strconv.FormatFloat(math.Round(p*1e8)/1e6, 'g', -1, 64) + " %"})
		}
	}
	return ticks
}

// pages marks the requested pages on a logarithmic axis.
type pages struct{ points []load.DepthPoint }

func (p pages) Ticks(_, _ float64) []plot.Tick {
	var ticks []plot.Tick
	for _, at := range p.points {
		ticks = append(ticks, plot.Tick{Value: math.Log10(float64(at.Page)), Label: page.Whole(at.Page)})
	}
	return ticks
}
