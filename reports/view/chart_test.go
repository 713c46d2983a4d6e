package view

import (
	"math"
	"testing"
)

func TestTicks(t *testing.T) {
	for name, c := range map[string]struct {
		ticks []tick
		want  string
	}{
		"rounded":      {rounded(axis{most: 437}, 5), "0 100 200 300 400"},
		"small":        {rounded(axis{most: 0.9}, 5), "0 0.2 0.4 0.6 0.8"},
		"decades":      {decades(axis{least: 0.9, most: 60}), "1 2 5 10 20 50"},
		"many decades": {decades(axis{least: 0.9, most: 6000}), "1 10 100 1,000"},
	} {
		got := ""
		for _, tick := range c.ticks {
			got += " " + tick.Label
		}
		if got != " "+c.want {
			t.Errorf("%s: %q, want %q", name, got, " "+c.want)
		}
	}
}

// A line breaks where there is no figure. A part of one point is a dot.
func TestALineBreaksWhereThereIsNoFigure(t *testing.T) {
	none := math.NaN()
	c := &chart{}
	c.add("a", "blue", "solid", []xy{{0, none}, {1, 10}, {2, 20}, {3, none}, {4, none}, {5, 20}, {6, 10}})
	c.add("none", "red", "solid", []xy{{0, none}})
	s := c.titled("t").Series
	if len(s) != 1 || len(s[0].Lines) != 2 || s[0].Lines[0] != "123.7,104.3 191.3,18.6" {
		t.Errorf("%+v", s)
	}
}
