package verdict

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"outreach.example/conformance/loadtest/measure"

	"outreach.example/conformance/reports/load"
)

// Compare compares the blocks of two targets, pair by pair. The thresholds of b that bound
// how much worse it may be are judged by the results.
func Compare(a, b *Draft) []load.ComparedFigure {
	b.pairs = min(len(a.phases), len(b.phases))
	var figures []Figure
	for _, kind := range comparedKinds {
		f := Figure{Name: kind.name, Unit: kind.unit, AOpen: a.atLeast(kind.p), BOpen: b.atLeast(kind.p)}
		for i := range b.pairs {
			f.A, f.B = append(f.A, kind.of(a.phases[i])), append(f.B, kind.of(b.phases[i]))
		}
		figures = append(figures, f)
	}
	b.compared = judgePairs(figures...)
	return doubted(b.compared, a.Voided(), b.Voided())
}

// doubted returns the results, without the claim that there is no difference if the blocks
// of a side do not show the target.
func doubted(results []load.ComparedFigure, a, b bool) []load.ComparedFigure {
	why := "blocks of A are inconclusive"
	switch {
	case a && b:
		why = "blocks of A and B are inconclusive"
	case b:
		why = "blocks of B are inconclusive"
	case !a:
		return results
	}
	results = slices.Clone(results)
	for i := range results {
		if results[i].Verdict == load.NoDifference {
			results[i].Verdict, results[i].Why = load.EffectNotKnown, why
		}
	}
	return results
}

// holdCompared judges the response times of the second target by the intervals of their
// ratios to those of the first. A share of failed requests has thresholds of its own.
func (d *Draft) holdCompared(t measure.Threshold) {
	for i, c := range d.compared {
		p := comparedKinds[i].p
		if p == 0 {
			continue
		}
		result := t.Unknown(cmp.Or(c.Why, "a block has no response time above 0"))
		if c.Ratio > 0 {
			open := d.atLeast(p)
			result = t.Hold(measure.Figure{Value: c.Ratio - 1, Low: c.RatioLow - 1, High: c.RatioHigh - 1, Samples: d.served(), Known: true, Open: open, AtLeast: open})
			if result.Need > 0 {
				pairs := math.Ceil(float64(result.Need) / float64(result.Figure.Samples) * float64(d.pairs))
				result.Sentence += " for each target (" + morePairs(pairs) + ")"
			}
			result.Sentence = fmt.Sprintf("%s %s, A has %s %s; %s", load.AtLeast(c.BOpen, *c.B), c.Unit, load.AtLeast(c.AOpen, *c.A), c.Unit, result.Sentence)
		}
		d.enter(c.Name, result)
	}
}

// morePairs says how to compare that many pairs of blocks.
func morePairs(pairs float64) string {
	if pairs > MostPairs {
		return "more than --pairs allows: use a longer --duration, or an idle machine"
	}
	return fmt.Sprintf("--pairs %.0f", pairs)
}

// MostPairs is the largest number of pairs of blocks to compare. More is a typing error.
const MostPairs = 1000

// served returns how many requests of all phases were accepted.
func (d *Draft) served() int64 {
	var n int64
	for _, p := range d.phases {
		n += p.Count(measure.Accepted)
	}
	return n
}

// LeastPairs returns how many pairs of blocks Compare needs to show a
// difference.
func LeastPairs() int { return LeastPairsOf(len(comparedKinds)) }

// comparedKinds are the figures of a block.
var comparedKinds = []comparedKind{{"response p50", "ms", 0.5}, {"response p90", "ms", 0.9}, {"response p99", "ms", 0.99}, {"failed", "%", 0}}

type comparedKind struct {
	name, unit string
	p          float64 // of the response time; 0 for the share of failed requests
}

func (k comparedKind) of(p phase) float64 {
	if k.p == 0 {
		return 100 * p.Share("", measure.Failed).Value
	}
	return ms(p.Response[measure.Accepted].Value(k.p))
}

// atLeast reports whether the p-quantile is only a lower bound in a phase.
func (d *Draft) atLeast(p float64) bool {
	return slices.ContainsFunc(d.phases, func(one phase) bool { return one.Response[measure.Accepted].AtLeast(p) })
}
