package verdict

import (
	"testing"

	"outreach.example/conformance/loadtest/compare"
	"outreach.example/conformance/reports/load"
)

// The tested figure gives the direction of an effect. One slow block of A reverses
// the mean difference, but not the ratio.
func TestEffectsPointWhereTheTestDoes(t *testing.T) {
	ratio := func(value float64) *compare.Effect {
		return &compare.Effect{Value: value, Low: value / 2, High: value * 2}
	}
	for name, tc := range map[string]struct {
		result compare.Result
		want   load.Effect
	}{
		"worse, with an outlier in A":  {compare.Result{Verdict: compare.Different, Difference: compare.Effect{Value: -0.45}, Ratio: ratio(3.4)}, load.Worse},
		"better, with an outlier in B": {compare.Result{Verdict: compare.Different, Difference: compare.Effect{Value: 0.45}, Ratio: ratio(0.3)}, load.Better},
		"worse, without a ratio":       {compare.Result{Verdict: compare.Different, Difference: compare.Effect{Value: 0.45}}, load.Worse},
		"better, without a ratio":      {compare.Result{Verdict: compare.Different, Difference: compare.Effect{Value: -0.45}}, load.Better},
		"no difference":                {compare.Result{Verdict: compare.NotShown, Difference: compare.Effect{Value: 0.45}, Ratio: ratio(1.1)}, load.NoDifference},
		"not known":                    {compare.Result{Verdict: compare.Inconclusive}, load.EffectNotKnown},
	} {
		if got := Effects([]compare.Result{tc.result})[0].Verdict; got != tc.want {
			t.Errorf("%s: %s, want %s", name, got, tc.want)
		}
	}
}
