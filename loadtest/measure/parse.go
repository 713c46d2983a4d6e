package measure

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"outreach.example/conformance/internal/pattern"
)

// Limits of a threshold's text: generous, and short enough to quote in an
// error.
const (
	maxText    = 500 // bytes
	maxRate    = 1e6 // requests per second
	maxLatency = 10 * time.Minute
	maxRatio   = 1e6
)

// syntax matches every text. Its groups are the parts of a threshold, in the order of the
// constants below.
var syntax = regexp.MustCompile(`(?s)^\s*(?:([^\[:<>=]*)(\[[^\]]*\])?\s*:)?\s*([^<>=@:\s]*)\s*([<>=]*)\s*([^@\s]*)\s*(?:(@)\s*(\S*))?\s*(.*?)\s*$`)

const (
	inScenario = iota + 1
	inLabel
	inMetric
	inOp
	inBound
	inAt
	inRate
	inRest
)

var percentile = regexp.MustCompile(`^p[0-9.]+$`)

// ParseThreshold reads a threshold:
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
func ParseThreshold(text string) (Threshold, error) {
	if len(text) > maxText {
		return Threshold{}, fmt.Errorf("threshold %q, at its end: %d characters, want at most %d", text[:20]+"…", len(text), maxText)
	}
	p := parser{text: text, parts: syntax.FindStringSubmatchIndex(text)}
	t := Threshold{Text: text, Scenario: strings.TrimSpace(p.part(inScenario)), Label: strings.TrimSpace(strings.Trim(p.part(inLabel), "[]")),
		Op: Op(p.part(inOp))}
	for _, read := range []func(*Threshold) error{p.scope, p.metric, p.operator, p.bound, p.rate, p.baseline} {
		if err := read(&t); err != nil {
			return Threshold{}, err
		}
	}
	return t, nil
}

// ParseThresholds parses several thresholds. It returns those that are right, and an error
// for each of the others.
func ParseThresholds(texts []string) ([]Threshold, error) {
	var parsed []Threshold
	var wrong []error
	for _, text := range texts {
		t, err := ParseThreshold(text)
		if err != nil {
			wrong = append(wrong, err)
			continue
		}
		parsed = append(parsed, t)
	}
	return parsed, errors.Join(wrong...)
}

// parser is a text and its parts.
type parser struct {
	text  string
	parts []int
}

func (p parser) has(part int) bool { return p.parts[2*part] >= 0 }

func (p parser) part(part int) string {
	if !p.has(part) {
		return ""
	}
	return p.text[p.parts[2*part]:p.parts[2*part+1]]
}

// fail returns an error at the part, or at what stands there instead.
func (p parser) fail(part int, wanted string, args ...any) error {
	at, found := max(p.parts[2*part], 0), p.part(part)
	if found == "" {
		found = strings.TrimSpace(p.text[at:])
	}
	wanted = fmt.Sprintf(wanted, args...)
	if found == "" {
		return fmt.Errorf("threshold %q, at its end: %s", p.text, wanted)
	}
	return fmt.Errorf("threshold %q, at %q (character %d): %s", p.text, found, utf8.RuneCountInString(p.text[:at])+1, wanted)
}

func (p parser) scope(t *Threshold) error {
	switch {
	case p.has(inLabel) && t.Label == "":
		return p.fail(inLabel, "the label is empty: want one such as [campaigns.list]")
	case p.has(inScenario) && t.Scenario == "" && t.Label == "":
		return p.fail(inScenario, "want the name of a scenario before the colon, or no colon")
	}
	return nil
}

func (p parser) metric(t *Threshold) error {
	const known = "a percentile such as p99, max, errors, limited, sustained, depth or worse"
	word := p.part(inMetric)
	_, simple := kinds[Metric(word)]
	switch {
	case percentile.MatchString(word):
		share, err := strconv.ParseFloat(word[1:]+percent, 64)
		if err != nil || share <= 0 || share >= 1 {
			return p.fail(inMetric, "want a percentile above p0 and below p100, such as p99 or p99.9; the longest time is max")
		}
		t.Metric, t.P = Quantile, share
	case simple && word != string(Quantile):
		t.Metric = Metric(word)
	case word == "":
		return p.fail(inMetric, "want a metric: %s", known)
	case strings.Contains(word, "["):
		return p.fail(inMetric, "want ] and a colon after the label, as in mixed[campaigns.list]: p99<250ms")
	default:
		return p.fail(inMetric, "unknown metric%s: want %s", closeTo(word), known)
	}
	if t.Label != "" && !t.OfPhases() {
		return p.fail(inMetric, "%s applies to a whole scenario, not to labelled requests", word)
	}
	return nil
}

func (p parser) operator(t *Threshold) error {
	upper, lower := t.Op == Less || t.Op == AtMost, t.Op == More || t.Op == AtLeast
	switch {
	case t.Metric == Sustained && !lower:
		return p.fail(inOp, "want > or >=: a higher rate is better, as in %s", kinds[Sustained].example)
	case t.Metric == Sustained, upper, t.Op == Equal && kinds[t.Metric].form == aShare:
		return nil
	}
	return p.fail(inOp, "want < or <=: less is better, as in %s", kinds[t.Metric].example)
}

func (p parser) bound(t *Threshold) error {
	word, kind := p.part(inBound), kinds[t.Metric]
	share, ok := kind.form == aShare, false
	switch {
	case kind.form == aTime:
		d, err := time.ParseDuration(word)
		t.Bound, ok = d.Seconds(), err == nil && d > 0 && d <= maxLatency
	case share && word == "0":
		ok = true
	default:
		t.Bound, ok = number(word, kind.unit)
		ok = ok && t.Bound <= kind.most && (t.Bound > 0 || kind.unit == "%")
	}
	switch {
	case !ok:
		return p.fail(inBound, "want %s", kind.form)
	case !share:
	// Nothing is below 0, no sample proves another exact share, and no share exceeds 100 %.
	case t.Op == Equal && t.Bound != 0:
		return p.fail(inBound, "only %s=0 (none at all) is possible; for an upper bound write %s<%s", t.Metric, t.Metric, word)
	case t.Op != Equal && t.Bound == 0:
		return p.fail(inBound, "no sample proves a share of 0: write %s=0 for none at all, or a bound above 0", t.Metric)
	case t.Bound == 1:
		return p.fail(inBound, "every run meets this: no share exceeds 100 %% (want a bound below 100 %%, such as %s)", kind.example)
	}
	return nil
}

func (p parser) rate(t *Threshold) error {
	if !p.has(inAt) {
		return nil
	}
	rate, ok := number(p.part(inRate), "/s")
	switch {
	case !t.OfPhases():
		return p.fail(inAt, "%s applies to a whole scenario, not to the phases at one rate", t.Metric)
	case !ok || rate == 0 || rate > maxRate:
		return p.fail(inRate, "want a rate above 0 and up to 1,000,000 requests per second, such as 500/s")
	}
	t.Rate = rate
	return nil
}

func (p parser) baseline(t *Threshold) error {
	rest := p.part(inRest)
	file, named := strings.CutPrefix(rest, "vs ")
	switch {
	case rest == "":
	case t.Metric != Worse:
		return p.fail(inRest, "unexpected text")
	case !named:
		return p.fail(inRest, "want a file to compare with, as in worse<10%% vs baseline.json")
	}
	t.Baseline = strings.TrimSpace(file)
	return nil
}

// percent turns the digits before it into an exact share: 99.9 / 100 is not
// exactly 0.999.
const percent = "e-2"

// number reads a plain number that ends in the unit. Percentages become shares.
func number(word, unit string) (float64, bool) {
	digits, found := strings.CutSuffix(word, unit)
	if !found || strings.Trim(digits, "0123456789.") != "" {
		return 0, false
	}
	if unit == "%" {
		digits += percent
	}
	v, err := strconv.ParseFloat(digits, 64)
	return v, err == nil
}

// meant maps common words to metrics.
var meant = map[string]string{
	"mean": "p50", "avg": "p50", "average": "p50", "median": "p50", "latency": "p99",
	"failed": "errors", "failures": "errors", "error": "errors", "429": "limited", "throttled": "limited",
	"rate": "sustained", "rps": "sustained", "throughput": "sustained", "maximum": "max", "regression": "worse", "slower": "worse",
}

// closeTo suggests a metric for an unknown word, if one is similar.
func closeTo(word string) string {
	word = strings.ToLower(word)
	if m, ok := meant[word]; ok {
		return pattern.Hint(m)
	}
	if p := "p" + strings.TrimLeft(word, "abcdefghijklmnopqrstuvwxyz"); percentile.MatchString(p) {
		return pattern.Hint(p)
	}
	return pattern.Near(word, []string{"max", "errors", "limited", "sustained", "depth", "worse"})
}
