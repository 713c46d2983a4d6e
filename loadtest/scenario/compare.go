package scenario

import (
	"context"
	"fmt"

	"outreach.example/conformance/loadtest/compare"
	"outreach.example/conformance/loadtest/measure"
	"outreach.example/conformance/loadtest/schedule"
	"outreach.example/conformance/reports/load"
)

// Compare loads two targets in turns, one block each, in the given order, with
// the scenario's requests at its rate, and compares their figures. Each outcome
// holds the blocks of its target.
func Compare(ctx context.Context, a, b *Env, s Scenario, order compare.Order) (outcomes [2]Outcome, figures []compare.Result) {
	sides := map[compare.Side]*runner{}
	for side, env := range map[compare.Side]*Env{compare.A: a, compare.B: b} {
		r := newRunner(ctx, env, s)
		defer r.close()
		r.inBlocks = true
		r.readsOnly = true // both may be the same server, where they would change the same rows
		sides[side] = r
		if err := r.prepare(); err != nil {
			r.void("%s", err)
			continue
		}
		if err := r.warmUp(s.Rate, inTurn); err != nil {
			r.void("%s", err)
		}
	}
	if len(sides[compare.A].voids)+len(sides[compare.B].voids) == 0 {
		for i, side := range order {
			r := sides[side]
			name := fmt.Sprintf("%c%d", side, i/2+1)
			if _, err := r.count(name, schedule.Constant(s.Rate, s.Duration), r.mix.from(inTurn)); err != nil {
				r.void("%s", err)
				break
			}
		}
		figures = compare.Judge(a.Seed, compared(sides[compare.A].counted, sides[compare.B].counted)...)
	}
	return [2]Outcome{sides[compare.A].outcome(), sides[compare.B].outcome()}, figures
}

// LeastPairs returns how many pairs of blocks Compare needs to show a
// difference.
func LeastPairs() int { return compare.LeastPairs(len(comparedKinds)) }

// comparedKinds are the figures of a block.
var comparedKinds = []struct {
	name, unit string
	of         func(measure.Recording) float64
}{
	{"response p50", "ms", latencyAt(0.5)},
	{"response p90", "ms", latencyAt(0.9)},
	{"response p99", "ms", latencyAt(0.99)},
	{"failed", "%", func(rec measure.Recording) float64 { return 100 * rec.Share(measure.Failed).Value }},
}

func latencyAt(p float64) func(measure.Recording) float64 {
	return func(rec measure.Recording) float64 { return ms(rec.Response[measure.Accepted].Quantile(p).Value) }
}

// compared returns the figures of the blocks, pair by pair.
func compared(a, b []counted) []compare.Figure {
	var figures []compare.Figure
	for _, kind := range comparedKinds {
		f := compare.Figure{Name: kind.name, Unit: kind.unit}
		for i := range min(len(a), len(b)) {
			f.Pairs = append(f.Pairs, compare.Pair{A: kind.of(a[i].recording), B: kind.of(b[i].recording)})
		}
		figures = append(figures, f)
	}
	return figures
}

// Effects converts the results of a comparison to the results model. In all
// figures more is worse.
func Effects(results []compare.Result) []load.ComparedFigure {
	var figures []load.ComparedFigure
	for _, r := range results {
		f := load.ComparedFigure{Name: r.Name, Unit: r.Unit, Why: r.Why, Verdict: load.EffectNotKnown}
		if r.Verdict == compare.Inconclusive {
			figures = append(figures, f)
			continue
		}
		f.A, f.B, f.P, f.Confidence = &r.A, &r.B, r.Adjusted, r.Confidence
		f.Difference = &load.Estimate{Value: r.Difference.Value, Low: r.Difference.Low, High: r.Difference.High}
		// The tested quantity gives the direction: an outlier in one block may
		// reverse the mean difference.
		more := r.Difference.Value > 0
		if r.Ratio != nil {
			f.Ratio, f.RatioLow, f.RatioHigh = r.Ratio.Value, r.Ratio.Low, r.Ratio.High
			more = r.Ratio.Value > 1
		}
		switch {
		case r.Verdict == compare.NotShown:
			f.Verdict = load.NoDifference
		case r.Verdict == compare.Different && more:
			f.Verdict = load.Worse
		case r.Verdict == compare.Different:
			f.Verdict = load.Better
		}
		figures = append(figures, f)
	}
	return figures
}
