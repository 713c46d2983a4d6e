package printable

import (
	"math"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestFigure(t *testing.T) {
	for v, want := range map[float64]string{
		0: "0", math.Copysign(0, -1): "0", 1e-7: "1e-07", 1e-5: "0.00001", 0.0012: "0.0012", 1.0041: "1.004", 12.346: "12.35", 250.5: "250.5",
		999.94: "999.9", 999.96: "1,000", 12345.6: "12,346", -1234: "-1,234", 1e6: "1,000,000", -0.5: "-0.5", 1e300: "1e+300", math.Inf(1): "+Inf",
	} {
		if got := Figure(v); got != want {
			t.Errorf("Figure(%v) = %s, want %s", v, got, want)
		}
	}
}

// What is shown differs from the figure by less than one in a thousand, and shows itself.
func TestFigureIsTheFigure(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := rapid.Float64Range(-1e12, 1e12).Draw(t, "figure") * rapid.SampledFrom([]float64{1, 1e-6, 1e-12}).Draw(t, "scale")
		shown, err := strconv.ParseFloat(strings.ReplaceAll(Figure(v), ",", ""), 64)
		if err != nil || math.Abs(shown-v) > math.Abs(v)/1000 {
			t.Fatalf("Figure(%v) = %s (%v)", v, Figure(v), err)
		}
		if again := Figure(shown); again != Figure(v) || Rounded(v) != shown {
			t.Fatalf("Figure(%v) = %s, of that %s; rounded %v", v, Figure(v), again, Rounded(v))
		}
	})
}
