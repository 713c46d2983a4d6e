package view

import (
	"fmt"
	"math"
	"testing"

	. "github.com/onsi/gomega"

	"outreach.example/conformance/reports/load"
)

func TestTicks(t *testing.T) {
	for want, ticks := range map[string][]tick{
		" 0 100 200 300 400": rounded(axis{most: 437}, 5), " 0 0.2 0.4 0.6 0.8": rounded(axis{most: 0.9}, 5),
		" 100,000,000,000,000,000": rounded(axis{least: 1e17, most: 1e17 + 16}, 5)[:1], " 1 2 5 10 20 50": decades(axis{least: 0.9, most: 60}), " 1 10 100 1,000": decades(axis{least: 0.9, most: 6000}),
	} {
		got := ""
		for _, tick := range ticks {
			got += " " + tick.Label
		}
		NewWithT(t).Expect(got).To(Equal(want))
	}
}

func TestMarkdownIsPlainText(t *testing.T) {
	NewWithT(t).Expect(markdown("WWW.evil.example __proto__ _a_b [c](d)")).To(Equal("WWW&#46;evil.example &#95;&#95;proto&#95;&#95; &#95;a_b &#91;c&#93;&#40;d&#41;"))
}

// A line breaks where there is no figure. A part of one point is a dot.
func TestALineBreaksWhereThereIsNoFigure(t *testing.T) {
	g, none := NewWithT(t), math.NaN()
	c := &chart{}
	c.add("a", "blue", "solid", []xy{{0, none}, {1, 10}, {2, 20}, {3, none}, {4, 5}, {5, none}, {5, 20}, {6, 10}})
	c.add("none", "red", "solid", []xy{{0, none}})
	s := c.titled("t").Series
	g.Expect(s).To(HaveLen(1))
	g.Expect(s[0].Lines).To(HaveLen(2))
	g.Expect(s[0].Lines[0]).To(Equal("123.7,104.3 191.3,18.6"))
	g.Expect(s[0].Dots).To(HaveLen(1))
}

// A last second that is cut short is no drop. A long series is thinned.
func TestThePointsOfAPhase(t *testing.T) {
	for _, c := range []struct {
		seconds float64
		last    int64 // asked in the last interval
		want    string
	}{{2.4, 40, "100 100 100"}, {2.4, 0, "100 100"}, {3, 40, "100 100 40"}} {
		p := load.Phase{Seconds: c.seconds, IntervalSeconds: 1, Series: []load.Interval{{Asked: 100}, {T: 1, Asked: 100}, {T: 2, Asked: c.last}}}
		got := ""
		for _, at := range thinned(p) {
			got += fmt.Sprintf(" %.0f", at.asked)
		}
		NewWithT(t).Expect(got).To(Equal(" " + c.want))
	}
	p := load.Phase{Seconds: 1500, IntervalSeconds: 1}
	for i := range 1500 {
		p.Series = append(p.Series, load.Interval{T: int64(i), Asked: 10})
	}
	NewWithT(t).Expect(thinned(p)).To(HaveLen(500))
	NewWithT(t).Expect(thinned(p)[7].asked).To(BeNumerically("~", 10, 1e-9))
}

func TestAddressesHaveNoSecrets(t *testing.T) {
	for address, want := range map[string]string{
		"https://a.example/x": "https://a.example/x", "https://u:p@a.example": "https://a.example", "http://u:p@q@a.example/u@v": "http://a.example/u@v",
		"http://u:\x01p@a.example?u@v": "http://a.example?u@v", "": "", "a@b": "a@b",
	} {
		NewWithT(t).Expect(withoutUser(address)).To(Equal(want))
	}
}
