package threshold

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"outreach.example/conformance/internal/printable"
)

// sentence describes the figure and how it compares with the bound.
func (r Result) sentence() string {
	t, f := r.Threshold, r.Figure
	if !f.Known {
		return t.unknown(f)
	}
	var b strings.Builder
	b.WriteString(t.name() + " is " + t.figure(f))
	switch r.Verdict {
	case Met:
		b.WriteString(", " + t.bound())
	case Missed:
		b.WriteString(", not " + t.bound())
	default:
		b.WriteString(r.undecided())
	}
	if f.Besides > 0 {
		fmt.Fprintf(&b, "; excludes %s that got 429 or failed sooner", requests(f.Besides))
	}
	return b.String()
}

func (t Threshold) unknown(f Figure) string {
	switch {
	case f.Besides > 0:
		return fmt.Sprintf("none of %s was accepted", requests(f.Besides))
	case t.OfPhases() && t.Label != "":
		return fmt.Sprintf("no request has the label %q", t.Label)
	case t.OfPhases():
		return "no request was sent"
	default:
		return t.name() + " was not measured"
	}
}

func (r Result) undecided() string {
	t := r.Threshold
	switch {
	case r.Figure.AtLeast:
		return fmt.Sprintf("; too few requests were accepted to tell whether it is %s (a longer --timeout may show it)", t.bound())
	case r.Figure.Late:
		return fmt.Sprintf("; requests went out late, so it is open whether it is %s (use an idle machine or a lower rate)", t.bound())
	case r.dependent():
		return fmt.Sprintf("; not enough data to tell whether it is %s: responses are correlated, so %s count as about %s; run %s times longer",
			t.bound(), requests(r.Figure.Samples), count(int64(float64(r.Figure.Samples)/r.Figure.Design)),
			printable.Figure(math.Ceil(float64(r.Need)/float64(r.Figure.Samples))))
	case r.Need > 0:
		return fmt.Sprintf("; not enough data to tell whether it is %s: %s, about %s needed", t.bound(), requests(r.Figure.Samples),
			count(r.Need))
	case r.Figure.Samples > 0:
		return fmt.Sprintf("; not enough data to tell whether it is %s: %s", t.bound(), requests(r.Figure.Samples))
	default:
		return "; the interval does not show whether it is " + t.bound()
	}
}

// dependent reports whether correlation, not the sample size, prevents a
// decision. The needed number grows with the design effect, so independent
// requests would suffice.
func (r Result) dependent() bool {
	return r.Need > 0 && !r.Figure.Open && float64(r.Need) <= r.Figure.Design*float64(r.Figure.Samples)
}

// name returns the metric in words.
func (t Threshold) name() string {
	switch t.Metric {
	case Quantile:
		return "p" + strconv.FormatFloat(math.Round(t.P*1e8)/1e6, 'g', -1, 64)
	case Max:
		return "the maximum response time"
	case Errors:
		return "the share of failed requests"
	case Limited:
		return "the share of limited requests"
	case Sustained:
		return "the highest rate that meets the thresholds"
	case Depth:
		return "the latency of the deepest page relative to the first"
	default:
		return "the change"
	}
}

// Brief formats the figure without its interval.
func (t Threshold) Brief(f Figure) string {
	text := t.amount(t.Shown(f).Value)
	if f.AtLeast {
		return "at least " + text
	}
	return text
}

// figure formats the value with its interval, in the display unit.
func (t Threshold) figure(f Figure) string {
	text := t.Brief(f)
	f = t.Shown(f)
	switch {
	case f.Open:
		return fmt.Sprintf("%s (%s or more)", text, printable.Figure(f.Low))
	case f.Low != f.High:
		return fmt.Sprintf("%s (%s to %s)", text, printable.Figure(f.Low), printable.Figure(f.High))
	default:
		return text
	}
}

func (t Threshold) bound() string {
	words := map[Op]string{Less: "below ", AtMost: "at most ", More: "above ", AtLeast: "at least ", Equal: "equal to "}
	return words[t.Op] + t.amount(t.Bound*t.scale().by)
}

func (t Threshold) amount(v float64) string {
	return printable.Amount(v, t.Unit())
}

// count formats a number of requests with two significant digits, rounded up.
func count(n int64) string {
	unit := int64(1)
	for n/unit >= 100 {
		unit *= 10
	}
	return printable.Number((n + unit - 1) / unit * unit)
}

func requests(n int64) string {
	if n == 1 {
		return "1 request"
	}
	return printable.Number(n) + " requests"
}
