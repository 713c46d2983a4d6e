package loadpage

import (
	"math"
	"slices"
	"testing"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
)

func TestTicks(t *testing.T) {
	for name, c := range map[string]struct {
		ticker      plot.Ticker
		least, most float64
		want        string
	}{
		"evenly":       {evenly{5}, 0, 437, "0 100 200 300 400"},
		"small":        {evenly{5}, 0, 0.9, "0 0.2 0.4 0.6 0.8"},
		"decades":      {decades{}, 0.9, 60, "1 2 5 10 20 50"},
		"many decades": {decades{}, 0.9, 6000, "1   10   100   1,000  "},
		"percentiles":  {percentiles{}, 0, 3, "0 % 50 % 90 % 99 % 99.9 %"},
		"few requests": {percentiles{}, 0, 1.5, "0 % 50 % 90 %"},
	} {
		got := ""
		for _, tick := range c.ticker.Ticks(c.least, c.most) {
			got += " " + tick.Label
		}
		if got != " "+c.want {
			t.Errorf("%s: %q, want %q", name, got, " "+c.want)
		}
	}
}

func TestALineBreaksWhereThereIsNoFigure(t *testing.T) {
	none := math.NaN()
	var lengths []int
	for _, part := range unbroken(plotter.XYs{{Y: none}, {Y: 1}, {Y: 2}, {Y: none}, {Y: none}, {Y: 3}}) {
		lengths = append(lengths, len(part))
	}
	if !slices.Equal(lengths, []int{2, 1}) {
		t.Errorf("parts of %v points, want 2 and 1", lengths)
	}
}
