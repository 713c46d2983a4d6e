package verdict

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"outreach.example/conformance/loadtest/compare"
	"outreach.example/conformance/loadtest/measure"
	"outreach.example/conformance/loadtest/threshold"
	"outreach.example/conformance/reports/load"
)

// Compare compares the blocks of two targets, pair by pair. The thresholds of b that bound
// how much worse it may be are judged by the results. The seed makes them reproducible.
func Compare(seed uint64, a, b *Draft) []compare.Result {
	var figures []compare.Figure
	for _, kind := range comparedKinds {
		f := compare.Figure{Name: kind.name, Unit: kind.unit}
		for i := range min(len(a.phases), len(b.phases)) {
			f.Pairs = append(f.Pairs, compare.Pair{A: kind.of(a.phases[i]), B: kind.of(b.phases[i])})
		}
		figures = append(figures, f)
	}
	b.compared = compare.Judge(seed, figures...)
	for i, kind := range comparedKinds {
		r := &b.compared[i]
		differs := r.Verdict == compare.Different
		r.AAtLeast, r.BAtLeast = a.atLeast(kind.p), b.atLeast(kind.p)
		if r.AAtLeast && !(differs && r.B < r.A) || r.BAtLeast && !(differs && r.B > r.A) {
			r.Verdict, r.Why = compare.Inconclusive, "so many requests failed that a figure is a lower bound"
		}
	}
	return doubted(b.compared, a.Voided(), b.Voided())
}

// doubted returns the results, without the claim that there is no difference if the blocks
// of a side do not show the target.
func doubted(results []compare.Result, a, b bool) []compare.Result {
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
		if results[i].Verdict == compare.NotShown {
			results[i].Verdict, results[i].Why = compare.Inconclusive, why
		}
	}
	return results
}

// holdCompared judges the response times of the second target by the intervals of their
// ratios to those of the first. A share of failed requests has thresholds of its own.
func (d *Draft) holdCompared(t threshold.Threshold) {
	for i, c := range d.compared {
		p := comparedKinds[i].p
		if p == 0 {
			continue
		}
		if c.Ratio == nil {
			d.enter(t, c.Name, threshold.Result{Threshold: t, Verdict: threshold.Inconclusive, Sentence: cmp.Or(c.Why, "a block has no response time above 0")})
			continue
		}
		change := threshold.Figure{Value: c.Ratio.Value - 1, Low: c.Ratio.Low - 1, High: c.Ratio.High - 1, Samples: d.served(), Known: true, Open: d.atLeast(p), AtLeast: d.atLeast(p)}
		result := t.Hold(change)
		if result.Need > 0 {
			pairs := math.Ceil(float64(result.Need) / float64(change.Samples) * float64(c.Pairs))
			result.Sentence += " for each target (" + morePairs(pairs) + ")"
		}
		result.Sentence = fmt.Sprintf("%s %s, A has %s %s; %s", load.AtLeast(c.BAtLeast, c.B), c.Unit, load.AtLeast(c.AAtLeast, c.A), c.Unit, result.Sentence)
		d.list(t, c.Name, result)
		d.because(t, c.Name, result, t.Brief(change))
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
func LeastPairs() int { return compare.LeastPairs(len(comparedKinds)) }

// comparedKinds are the figures of a block.
var comparedKinds = []comparedKind{{"response p50", "ms", 0.5}, {"response p90", "ms", 0.9}, {"response p99", "ms", 0.99}, {"failed", "%", 0}}

type comparedKind struct {
	name, unit string
	p          float64 // of the response time; 0 for the share of failed requests
}

func (k comparedKind) of(p Phase) float64 {
	if k.p == 0 {
		return 100 * p.Share("", measure.Failed).Value
	}
	return ms(p.Response[measure.Accepted].Value(k.p))
}

// atLeast reports whether the p-quantile is only a lower bound in a phase.
func (d *Draft) atLeast(p float64) bool {
	return slices.ContainsFunc(d.phases, func(one Phase) bool { return one.Response[measure.Accepted].AtLeast(p) })
}

// Effects converts the results of a comparison to the results model. In all
// figures more is worse.
func Effects(results []compare.Result) []load.ComparedFigure {
	var figures []load.ComparedFigure
	for _, r := range results {
		f := load.ComparedFigure{Name: r.Name, Unit: r.Unit, Why: r.Why, Verdict: load.EffectNotKnown}
		if r.Verdict == compare.Inconclusive && r.Confidence == 0 { // it was not tested
			figures = append(figures, f)
			continue
		}
		f.A, f.B, f.AOpen, f.BOpen, f.P, f.Confidence = &r.A, &r.B, r.AAtLeast, r.BAtLeast, r.Adjusted, r.Confidence
		if f.AOpen && f.BOpen {
			figures = append(figures, f)
			continue
		}
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
