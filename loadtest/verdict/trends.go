package verdict

import (
	"cmp"
	"fmt"
	"math"
	"time"

	"outreach.example/conformance/internal/printable"

	"outreach.example/conformance/loadtest/measure"
	"outreach.example/conformance/loadtest/scenario"

	"outreach.example/conformance/reports/load"
)

// A rise fails the scenario if it certainly exceeds both: a share of the level,
// and a time that users notice.
const (
	steepRise = 0.5
	leastRise = 5 // ms
)

// Drift reports how latency and errors changed in a soak. Latency that certainly rose by
// half and a certain rise of errors fail the scenario. A soak that was cut short is only
// reported, because its end may have distorted the figures.
func (d *Draft) Drift(rec measure.Recording) {
	for _, t := range rec.Drifts() {
		d.Result.Drift = append(d.Result.Drift, t.Drift)
		switch {
		case t.Verdict != load.Drifts || d.cut != "":
		case t.Name == "failed" && t.Change.Low > 0:
			d.fail("the share of failed requests rose under steady load by at least %s percentage points", printable.Figure(t.Change.Low))
		case t.Unit == "ms" && t.Change.Low > max(leastRise, steepRise*t.Level):
			beyond := t.Change.Low - max(leastRise, steepRise*t.Level)
			d.failBeyondLag(rec, time.Duration(beyond*float64(time.Millisecond)), "%s rose under steady load by at least %s ms, from %s ms", t.Name, printable.Figure(t.Change.Low), printable.Figure(t.Level))
		}
	}
}

// Recovery reports how long after a burst the target was as fast as before it.
func (d *Draft) Recovery(rec measure.Recording, third time.Duration) {
	const times = 2 // factor within which response times count as recovered
	before, usual := time.Duration(0), 0
	for _, s := range rec.Series {
		median := s.Response[measure.Accepted].Value(0.5)
		if at := s.Begins(); at+rec.Width <= third && median > 0 {
			before += median
			usual++
		}
	}
	if usual == 0 {
		return
	}
	before /= time.Duration(usual)
	allowed := max(times*before, before+5*time.Millisecond)
	least := time.Duration(math.MaxInt64)
	for _, s := range rec.Series {
		at := s.Begins()
		h := s.Response[measure.Accepted]
		if at < 2*third || h.Count() == 0 {
			continue
		}
		if least = min(least, h.Value(0.5)); least <= allowed {
			d.Note("after the burst the median response time recovered to %s ms within %s", formatMS(before), printable.Seconds(at+rec.Width-2*third))
			return
		}
	}
	d.failBeyondLag(rec, least-allowed, "after the burst the median response time did not recover to %s ms", formatMS(before))
}

// failBeyondLag fails the scenario for response times, which count from when requests were due. The
// generator may have caused what is no further beyond a limit than it was late: then the scenario is
// inconclusive, as after another load.
func (d *Draft) failBeyondLag(rec measure.Recording, beyond time.Duration, format string, args ...any) {
	why := rec.OtherLoad()
	if rec.Lag.Value(0.999) >= beyond {
		why = cmp.Or(rec.SentLate(), why)
	}
	if why == "" || d.tolerates(rec) {
		d.fail(format, args...)
		return
	}
	d.Void("%s, but %s", fmt.Sprintf(format, args...), why)
}

// Page is a page of a list whose latency was measured.
type Page struct {
	Operation string
	Page      int    // from 1
	Rows      int    // before it in the list
	Cursor    string // that leads to it; empty for the first page
}

// Depths compares the latency of pages by their place in the list. The pages of an
// operation follow each other, the first page first.
func (d *Draft) Depths(pages []Page, rec measure.Recording) {
	for len(pages) > 0 {
		operation := pages[0].Operation
		depth := load.Depth{Operation: operation}
		var first, last measure.Figure
		for all := len(pages); len(pages) > 0 && pages[0].Operation == operation; pages = pages[1:] {
			page := pages[0]
			h := rec.Labels[scenario.PageLabel(operation, page.Page)][measure.Accepted]
			p50, alone := h.Quantile(0.5), h.Independent().Quantile(0.5)
			if len(pages) == all {
				first = measure.OfQuantile(p50)
				first.High, first.Open = alone.High.Seconds(), alone.Open
			}
			if p50.Samples > 0 {
				last = measure.OfQuantile(p50)
				last.Low, last.Open = alone.Low.Seconds(), last.AtLeast
				depth.Points = append(depth.Points, load.DepthPoint{Page: int64(page.Page), Rows: int64(page.Rows), Count: h.Count(),
					P50MS: ms(p50.Value), P99MS: ms(h.Value(0.99)), Open: h.AtLeast(0.99), MedianOpen: p50.AtLeast})
			}
		}
		if slower := against(last, first, true); len(depth.Points) > 1 && !first.AtLeast && slower.Known {
			ratio := measure.Figure{Value: 1 + slower.Value, Low: 1 + slower.Low, High: 1 + slower.High, Open: slower.Open, AtLeast: slower.AtLeast, Known: true}
			depth.Ratio, depth.Open = ratio.Value, ratio.AtLeast
			if ratio.Value > d.figures[measure.Depth].Value {
				d.figures[measure.Depth] = ratio
			}
		}
		d.Result.Depth = append(d.Result.Depth, depth)
	}
}
