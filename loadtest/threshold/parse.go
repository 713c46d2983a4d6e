package threshold

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"outreach.example/conformance/internal/printable"

	"outreach.example/conformance/internal/suggest"
)

// Limits of a threshold's text: generous, and short enough to quote in an
// error.
const (
	maxText    = 500 // bytes
	maxRate    = 1e6 // requests per second
	maxLatency = 10 * time.Minute
	maxRatio   = 1e6
)

// Error describes a syntax error in a threshold and its position.
type Error struct {
	Text   string
	At     int    // byte of Text
	Found  string // the text at that position; empty at the end
	Wanted string // what was expected
}

func (e *Error) Error() string {
	if e.Found == "" {
		return fmt.Sprintf("threshold %q, at its end: %s", e.Text, e.Wanted)
	}
	return fmt.Sprintf("threshold %q, at %q (character %d): %s", e.Text, e.Found, utf8.RuneCountInString(e.Text[:e.At])+1, e.Wanted)
}

// Parse reads a threshold:
//
//	[SCENARIO [ '[' LABEL ']' ] ':'] FIGURE OPERATOR BOUND [@RATE/s] [vs FILE]
//
//	p99<250ms@500/s                      of every phase at 500 requests per second
//	mixed: p99.9<1s                      of the scenario mixed
//	mixed[campaigns.list]: max<2s        of its requests with that label
//	errors<0.1%   errors=0   limited<1%  shares of the requests
//	sustained>=800/s                     the outcome of a search for the highest rate
//	depth<2x                             the deepest page beside the first
//	worse<5% vs baseline.json            than an earlier run
//	worse<5%                             than --baseline, or than the other target
//
// Its errors are of type *Error.
func Parse(text string) (Threshold, error) {
	if len(text) > maxText {
		return Threshold{}, &Error{Text: text[:20] + "…", Wanted: fmt.Sprintf("%d characters, want at most %d", len(text), maxText)}
	}
	p, t := &parser{text: text}, Threshold{Text: text}
	p.scope(&t)
	p.metric(&t)
	p.operator(&t)
	p.bound(&t)
	p.rate(&t)
	p.baseline(&t)
	p.end()
	if p.failed != nil {
		return Threshold{}, p.failed
	}
	return t, nil
}

// ParseAll parses several thresholds. It returns those that are right, and an error
// for each of the others.
func ParseAll(texts []string) ([]Threshold, error) {
	var parsed []Threshold
	var wrong []error
	for _, text := range texts {
		t, err := Parse(text)
		if err != nil {
			wrong = append(wrong, err)
			continue
		}
		parsed = append(parsed, t)
	}
	return parsed, errors.Join(wrong...)
}

// parser reads a text from left to right. It keeps the first error and then
// stops reading.
type parser struct {
	text   string
	at     int
	failed *Error
}

func (p *parser) fail(at int, found, wanted string, args ...any) {
	if found == "" {
		found = p.text[at:]
	}
	if p.failed == nil {
		p.failed = &Error{Text: p.text, At: at, Found: found, Wanted: fmt.Sprintf(wanted, args...)}
	}
}

func (p *parser) rest() string { return p.text[p.at:] }

func (p *parser) space() {
	p.at += len(p.rest()) - len(strings.TrimLeft(p.rest(), " \t"))
}

// token reads up to one of the characters, or space, or the end.
func (p *parser) token(until string) (at int, token string) {
	p.space()
	at = p.at
	end := strings.IndexAny(p.rest(), until+" \t")
	if end < 0 {
		end = len(p.rest())
	}
	p.at += end
	return at, p.text[at:p.at]
}

// take consumes the prefix if it comes next.
func (p *parser) take(prefix string) bool {
	p.space()
	if !strings.HasPrefix(p.rest(), prefix) {
		return false
	}
	p.at += len(prefix)
	return true
}

const operators = "<>="

// scope reads the optional scenario and label.
func (p *parser) scope(t *Threshold) {
	p.space()
	start := p.at
	_, word := p.token("[:" + operators)
	labelled := p.take("[")
	if labelled {
		from, end := p.at, strings.IndexByte(p.rest(), ']')
		if end < 0 {
			p.fail(start, p.text[start:], "the label is not closed: want ] after it")
			return
		}
		if t.Label = strings.TrimSpace(p.text[from : from+end]); t.Label == "" {
			p.fail(start, p.text[start:from+end+1], "the label is empty: want one such as [campaigns.list]")
			return
		}
		p.at = from + end + 1
	}
	switch {
	case p.take(":"):
		t.Scenario = word
		if word == "" && !labelled {
			p.fail(start, ":", "want the name of a scenario before the colon, or no colon")
		}
	case labelled:
		p.fail(p.at, p.rest(), "want a colon after the label, as in mixed[campaigns.list]: p99<250ms")
	default:
		p.at = start
	}
}

// metric reads the metric.
func (p *parser) metric(t *Threshold) {
	at, word := p.token(operators + "@:%")
	switch m := Metric(word); {
	case p.failed != nil:
	case m == Max || m == Errors || m == Limited || m == Sustained || m == Depth || m == Worse:
		t.Metric = m
	case isPercentile(word):
		share, err := strconv.ParseFloat(word[1:]+percent, 64)
		if err != nil || share <= 0 || share >= 1 {
			p.fail(at, word, "want a percentile above p0 and below p100, such as p99 or p99.9; the longest time is max")
		}
		t.Metric, t.P = Quantile, share
	case word == "":
		p.fail(at, p.rest(), "want a metric: %s", figures)
	default:
		p.fail(at, word, "unknown metric%s: want %s", near(word), figures)
	}
	if t.Label != "" && !t.OfPhases() {
		p.fail(at, word, "%s applies to a whole scenario, not to labelled requests", word)
	}
}

func isPercentile(word string) bool {
	return len(word) > 1 && word[0] == 'p' && strings.Trim(word[1:], "0123456789.") == ""
}

// operator reads the comparison operator.
func (p *parser) operator(t *Threshold) {
	p.space()
	at := p.at
	length := len(p.rest()) - len(strings.TrimLeft(p.rest(), operators))
	t.Op = Op(p.text[at : at+length])
	p.at += length
	upper, lower := t.Op == Less || t.Op == AtMost, t.Op == More || t.Op == AtLeast
	switch {
	case t.Metric == Sustained && lower, t.Metric != Sustained && upper:
	case t.Op == Equal && (t.Metric == Errors || t.Metric == Limited):
	case t.Metric == Sustained:
		p.fail(at, string(t.Op), "want > or >=: a higher rate is better, as in sustained>=800/s")
	default:
		p.fail(at, string(t.Op), "want < or <=: less is better, as in %s", t.example())
	}
}

// bound reads the bound.
func (p *parser) bound(t *Threshold) {
	at, word := p.token("@")
	if p.failed != nil {
		return
	}
	var ok bool
	switch t.Metric {
	case Quantile, Max:
		d, err := time.ParseDuration(word)
		t.Bound, ok = d.Seconds(), err == nil && d > 0 && d <= maxLatency
	case Errors, Limited:
		t.Bound, ok = number(word, "%", 1)
		if word == "0" {
			t.Bound, ok = 0, true
		}
		p.checkShareBound(t, at, word, ok)
	case Worse:
		t.Bound, ok = number(word, "%", maxRatio)
	case Sustained:
		t.Bound, ok = number(word, "/s", maxRate)
		ok = ok && t.Bound > 0
	case Depth:
		t.Bound, ok = number(word, "x", maxRatio)
		ok = ok && t.Bound > 0
	}
	if !ok {
		p.fail(at, word, "want %s", t.form())
	}
}

// checkShareBound rejects bounds that can never or always hold. Zero needs "=",
// and "=" needs zero: nothing is below 0, and no sample proves any other exact
// share. No share exceeds 100 %.
func (p *parser) checkShareBound(t *Threshold, at int, word string, ok bool) {
	switch {
	case ok && t.Op == Equal && t.Bound != 0:
		p.fail(at, word, "only %s=0 (none at all) is possible; for an upper bound write %s<%s", t.Metric, t.Metric, word)
	case ok && t.Op != Equal && t.Bound == 0:
		p.fail(at, word, "no sample proves a share of 0: write %s=0 for none at all, or a bound above 0", t.Metric)
	case ok && t.Bound >= 1:
		p.fail(at, word, "every run meets this: no share exceeds 100 %% (want a bound below 100 %%, such as %s)", t.example())
	}
}

// rate reads the optional rate.
func (p *parser) rate(t *Threshold) {
	if p.failed != nil || !p.take("@") {
		return
	}
	at, word := p.token("")
	rate, ok := number(word, "/s", maxRate)
	switch {
	case !t.OfPhases():
		p.fail(at-1, p.text[at-1:p.at], "%s applies to a whole scenario, not to the phases at one rate", t.Metric)
	case !ok || rate == 0:
		p.fail(at, word, "want a rate above 0 and up to %s requests per second, such as 500/s", printable.Figure(maxRate))
	}
	t.Rate = rate
}

// baseline reads the optional baseline file.
func (p *parser) baseline(t *Threshold) {
	if p.failed != nil || t.Metric != Worse {
		return
	}
	if p.space(); p.rest() == "" {
		return
	}
	at, word := p.token("")
	if t.Baseline = strings.TrimSpace(p.rest()); word != "vs" || t.Baseline == "" {
		p.fail(at, p.text[at:], "want a file to compare with, as in worse<10%% vs baseline.json")
	}
	p.at = len(p.text)
}

func (p *parser) end() {
	if p.space(); p.failed == nil && p.rest() != "" {
		p.fail(p.at, p.rest(), "unexpected text")
	}
}

// percent turns the digits before it into an exact share: 99.9 / 100 is not
// exactly 0.999.
const percent = "e-2"

// number reads a plain number from 0 to most that ends in the unit. Percentages
// become shares.
func number(word, unit string, most float64) (float64, bool) {
	digits, found := strings.CutSuffix(word, unit)
	if !found || strings.Trim(digits, "0123456789.") != "" {
		return 0, false
	}
	if unit == "%" {
		digits += percent
	}
	v, err := strconv.ParseFloat(digits, 64)
	return v, err == nil && v <= most
}

// figures lists the metrics, for errors.
const figures = "a percentile such as p99, max, errors, limited, sustained, depth or worse"

// meant maps common words to metrics.
var meant = map[string]string{
	"mean": "p50", "avg": "p50", "average": "p50", "median": "p50", "latency": "p99",
	"failed": "errors", "failures": "errors", "error": "errors", "429": "limited", "throttled": "limited",
	"rate": "sustained", "rps": "sustained", "throughput": "sustained", "maximum": "max", "regression": "worse", "slower": "worse",
}

// near suggests a metric for an unknown word, if one is similar.
func near(word string) string {
	word = strings.ToLower(word)
	if m, ok := meant[word]; ok {
		return suggest.Hint(m)
	}
	if p := "p" + strings.TrimLeft(word, "abcdefghijklmnopqrstuvwxyz"); isPercentile(p) {
		return suggest.Hint(p)
	}
	var names []string
	for _, m := range []Metric{Max, Errors, Limited, Sustained, Depth, Worse} {
		names = append(names, string(m))
	}
	return suggest.Near(word, names)
}

// example returns a valid threshold of the same metric.
func (t Threshold) example() string {
	return map[Metric]string{
		Quantile: "p99<250ms", Max: "max<2s", Errors: "errors<0.1%", Limited: "limited<1%",
		Sustained: "sustained>=800/s", Depth: "depth<2x", Worse: "worse<10% vs baseline.json",
	}[t.Metric]
}

// form describes the syntax of the bound.
func (t Threshold) form() string {
	switch t.Metric {
	case Quantile, Max:
		return fmt.Sprintf("a time above 0 and up to %s with a unit, such as 250ms", maxLatency)
	case Errors, Limited:
		return "a share from 0% to below 100%, such as 0.1%"
	case Worse:
		return "a change in percent, such as 10%"
	case Sustained:
		return fmt.Sprintf("a rate above 0 and up to %s requests per second, such as 800/s", printable.Figure(maxRate))
	default:
		return "a ratio above 0, such as 2x"
	}
}
