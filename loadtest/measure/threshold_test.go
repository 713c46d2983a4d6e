package measure

import (
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

func TestParseThreshold(t *testing.T) {
	for text, want := range map[string]Threshold{
		"p99<250ms":                    {Metric: Quantile, P: 0.99, Op: Less, Bound: 0.25},
		"p99<250ms@500/s":              {Metric: Quantile, P: 0.99, Op: Less, Bound: 0.25, Rate: 500},
		"p99.9<1s":                     {Metric: Quantile, P: 0.999, Op: Less, Bound: 1},
		" p99 < 250ms @ 0.5/s ":        {Metric: Quantile, P: 0.99, Op: Less, Bound: 0.25, Rate: 0.5},
		"max<2s":                       {Metric: Max, Op: Less, Bound: 2},
		"errors<0.1%":                  {Metric: Errors, Op: Less, Bound: 0.001},
		"errors=0":                     {Metric: Errors, Op: Equal},
		"errors<99.9%":                 {Metric: Errors, Op: Less, Bound: 0.999},
		"limited<1%@100/s":             {Metric: LimitedShare, Op: Less, Bound: 0.01, Rate: 100},
		"sustained>=800/s":             {Metric: Sustained, Op: AtLeast, Bound: 800},
		"depth<2x":                     {Metric: Depth, Op: Less, Bound: 2},
		"worse<10% vs baseline.json":   {Metric: Worse, Op: Less, Bound: 0.1, Baseline: "baseline.json"},
		"worse<10% vs my old run.json": {Metric: Worse, Op: Less, Bound: 0.1, Baseline: "my old run.json"},
		"mixed: p99<250ms":             {Scenario: "mixed", Metric: Quantile, P: 0.99, Op: Less, Bound: 0.25},
		"mixed[campaigns.list limit=100]: max<2s": {Scenario: "mixed", Label: "campaigns.list limit=100", Metric: Max, Op: Less, Bound: 2},
		"[leads.move]: errors<1%":                 {Label: "leads.move", Metric: Errors, Op: Less, Bound: 0.01},
		"mixed: worse<10% vs a:b<c.json":          {Scenario: "mixed", Metric: Worse, Op: Less, Bound: 0.1, Baseline: "a:b<c.json"},
	} {
		got, err := ParseThreshold(text)
		want.Text = text
		if err != nil || got != want {
			t.Errorf("%q: %+v, %v; want %+v", text, got, err, want)
		}
	}
}

func TestParseErrors(t *testing.T) {
	for _, c := range []struct{ text, found, wanted string }{
		{"", "", "want a metric: a percentile such as p99"},
		{"<250ms", "<250ms", "want a metric"},
		{"p99", "", "want < or <=: less is better, as in p99<250ms"},
		{"p99>250ms", ">", "less is better"},
		{"p99=250ms", "=", "less is better"},
		{"p99<", "", "with a unit, such as 250ms"},
		{"p99<250", "250", "with a unit, such as 250ms"},
		{"p99<0s", "0s", "above 0"},
		{"p99<11m", "11m", "up to 10m0s"},
		{"p99<250ms@500", "500", "such as 500/s"},
		{"p99<250ms@0/s", "0/s", "above 0"},
		{"p99<250ms@9000000/s", "9000000/s", "up to 1,000,000 requests"},
		{"p0<1s", "p0", "below p100"},
		{"p100<1s", "p100", "the longest time is max"},
		{"P99<1s", "P99", "did you mean p99?"},
		{"mean<1s", "mean", "did you mean p50?"},
		{"zzzzzzzz<1s", "zzzzzzzz", "unknown metric: want"},
		{"errors<0.1", "0.1", "such as 0.1%"},
		{"errors<100%", "100%", "every run meets this"},
		{"errors=100%", "100%", "only errors=0 (none at all)"},
		{"errors<0%", "0%", "write errors=0"},
		{"errors=1%", "1%", "write errors<1%"},
		{"sustained<800/s", "<", "a higher rate is better"},
		{"sustained>=800", "800", "such as 800/s"},
		{"sustained>=800/s@500/s", "@", "applies to a whole scenario"},
		{"depth<2", "2", "such as 2x"},
		{"worse<10% baseline.json", "baseline.json", "want a file to compare with"},
		{": p99<1s", ": p99<1s", "the name of a scenario"},
		{"mixed[x: p99<1s", "mixed[x", "want ] and a colon"},
		{"mixed[x]: sustained>1/s", "sustained", "not to labelled requests"},
		{strings.Repeat("x", 501), "", "501 characters, want at most 500"},
	} {
		at := "at its end: "
		if c.found != "" {
			at = fmt.Sprintf("at %q (character ", c.found)
		}
		if _, err := ParseThreshold(c.text); err == nil || !strings.Contains(err.Error(), at) || !strings.Contains(err.Error(), c.wanted) {
			t.Errorf("%q: %v; want %q and %q", c.text, err, at, c.wanted)
		}
	}
}

// Every text gives a valid threshold or an error in valid characters.
func FuzzParseThreshold(f *testing.F) {
	for _, text := range []string{"p99<250ms@500/s", "mixed[a b]: errors=0", "worse<10% vs x", "sustained>=800/s", "depth<2x", "[", "p<1s", "\xff:<"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, err := ParseThreshold(text)
		if err != nil {
			if s := err.Error(); utf8.ValidString(text) && !utf8.ValidString(s) {
				t.Fatalf("%q: broken characters in %q", text, s)
			}
			return
		}
		if again, err := ParseThreshold(" " + text + " "); err != nil || again.Metric != got.Metric || again.Bound != got.Bound || again.Rate != got.Rate || again.Scenario != got.Scenario || again.Label != got.Label {
			t.Fatalf("%q with spaces around it: %+v, %v; without: %+v", text, again, err, got)
		}
		if got.Metric == "" || got.Op == "" || got.Bound < 0 || got.Rate < 0 || got.Metric == Quantile && (got.P <= 0 || got.P >= 1) ||
			(got.Metric == Errors || got.Metric == LimitedShare) && got.Bound >= 1 {
			t.Fatalf("%q: %+v", text, got)
		}
	})
}

func mustParse(t *testing.T, text string) Threshold {
	t.Helper()
	parsed, err := ParseThreshold(text)
	if err != nil {
		t.Fatal(err)
	}
	return parsed
}

func TestHold(t *testing.T) {
	known := func(value, low, high float64) Figure {
		return Figure{Value: value, Low: low, High: high, Samples: 1000, Known: true}
	}
	open := known(0.1, 0.09, 0.11)
	open.Open = true
	failed := known(1, 0.9, 1)
	failed.Open, failed.AtLeast = true, true
	for _, c := range []struct {
		text     string
		f        Figure
		want     ThresholdVerdict
		point    bool
		sentence string // part of it
	}{
		{"p99<250ms", known(0.1, 0.09, 0.11), Met, true, "p99 is 100 ms (90 to 110), below 250 ms"},
		{"p99<250ms", known(0.3, 0.28, 0.31), Missed, false, "p99 is 300 ms (280 to 310), not below 250 ms"},
		{"p99<250ms", known(0.24, 0.22, 0.26), Inconclusive, true, "; not enough data to tell from chance whether it is below 250 ms: 1,000 requests, about 4,000 needed"},
		{"p99<250ms", known(0.25, 0.25, 0.25), Missed, false, "p99 is 250 ms, not below 250 ms"},
		{"p99<=250ms", known(0.25, 0.25, 0.25), Met, true, "at most 250 ms"},
		{"p99<250ms", open, Inconclusive, true, "(90 or more)"},
		{"p99<250ms", Figure{}, Inconclusive, false, "no request was sent"},
		{"p99<250ms", Figure{beyond: Share{Excluded: 7}}, Inconclusive, false, "none of 7 requests was accepted"},
		{"[x]: p99<250ms", Figure{}, Inconclusive, false, `no request has the label "x"`},
		{"p99<250ms", Figure{Value: 0.1, Low: 0.1, High: 0.1, Known: true, beyond: Share{Excluded: 1}}, Met, true, "; excludes 1 request that got 429 or failed sooner"},
		{"p99<250ms", failed, Missed, false, "p99 is at least 1,000 ms (900 or more), not below 250 ms"},
		{"p99<2s", failed, Inconclusive, false, "at least 1,000 ms (900 or more); too few requests were accepted to tell whether it is below 2,000 ms"},
		{"max<2s", known(1, 1, 1), Met, true, "the maximum response time is 1,000 ms, below 2,000 ms"},
		{"errors<0.1%", known(0, 0, 0.0037), Inconclusive, true, "the share of failed requests is 0 % (0 to 0.37); not enough data to tell from chance whether it is below 0.1 %: 1,000 requests, about 3,700 needed"},
		{"errors<1%", known(0.05, 0.04, 0.06), Missed, false, "5 % (4 to 6)"},
		{"errors=0", ofShare(Share{Of: 1000, High: 0.0037}), Met, true, ", equal to 0 %"},
		{"errors=0", ofShare(Share{Count: 1, Sure: 1, Of: 1000, Value: 0.001, Low: 0.0001, High: 0.006}), Missed, false, ", not equal to 0 %"},
		{"sustained>=800/s", Figure{Value: 900, Low: 900, High: 990, Known: true}, Met, true, "is 900/s (900 to 990), at least 800/s"},
		{"sustained>800/s", Figure{Value: 800, Low: 800, High: 880, Known: true}, Inconclusive, false, "; the interval does not show whether it is above 800/s"},
		{"sustained>=800/s", Figure{Value: 750, Low: 750, High: 800, Known: true}, Missed, false, ""},
		{"sustained>=800/s", Figure{Value: 750, Low: 750, High: 820, Known: true}, Inconclusive, false, ""},
		{"sustained>=800/s", Figure{Value: 700, Low: 700, Open: true, Known: true}, Inconclusive, false, "700/s (700 or more)"},
		{"sustained>=800/s", Figure{}, Inconclusive, false, "was not measured"},
		{"worse<10% vs x", Figure{Value: 0.2, Low: 0.15, High: 0.25, Known: true}, Missed, false, "the change is 20 % (15 to 25)"},
	} {
		got := mustParse(t, c.text).Hold(c.f)
		if got.Verdict != c.want || got.PointMeets != c.point || !strings.Contains(got.Sentence, c.sentence) {
			t.Errorf("%s of %+v: %s, point %v, %q; want %s, %v, %q", c.text, c.f, got.Verdict, got.PointMeets, got.Sentence, c.want, c.point, c.sentence)
		}
	}
}

// A miss that independent requests show needs no more data. Otherwise the sentence names what
// leaves the bound open: chance, correlation or lag.
func TestReasons(t *testing.T) {
	// Every request takes 2 ms, but some take 300 ms or go out 300 ms late, in groups.
	made := func(n int, slow func(i int) (took, lag time.Duration)) Recording {
		r := NewRecorder("steady", time.Time{}, Constant(100, time.Duration(n)*10*time.Millisecond))
		for i := range n {
			took, lag := slow(i)
			due := time.Duration(i) * 10 * time.Millisecond
			r.Add(Sample{Label: "list", Due: due, Sent: due + lag, Done: due + lag + took, Status: 200})
		}
		return r.Recording()
	}
	group := func(from, to int) func(int) (time.Duration, time.Duration) {
		return func(i int) (time.Duration, time.Duration) {
			if i >= from && i < to {
				return 300 * time.Millisecond, 0
			}
			return 2 * time.Millisecond, 0
		}
	}
	for name, c := range map[string]struct {
		rec  Recording
		want ThresholdVerdict
		says string
	}{
		"one stall":    {made(1000, group(510, 560)), Missed, ", not below 250 ms: 50 of 1,000 requests took over 250 ms, all due between 5 s and 6 s"},
		"all the time": {made(1000, func(i int) (time.Duration, time.Duration) { return group(0, 6)(i % 100) }), Missed, ": 60 of 1,000 requests took over 250 ms"},
		"chance":       {made(100, group(50, 51)), Inconclusive, "; not enough data to tell from chance whether it is below 250 ms: 100 requests"},
		"correlation":  {made(4000, group(500, 520)), Inconclusive, "responses are correlated, so 4,000 requests count as about "},
		"lag": {made(1000, func(i int) (time.Duration, time.Duration) {
			took, _ := group(510, 560)(i)
			return 2 * time.Millisecond, took
		}), Inconclusive, "the generator's lag leaves open whether it is below 250 ms"},
	} {
		bound := mustParse(t, "p99<250ms")
		r := bound.Hold(bound.Of(c.rec))
		if r.Verdict != c.want || !strings.Contains(r.Sentence, c.says) {
			t.Errorf("%s: %s: %s; want %s: %s", name, r.Verdict, r.Sentence, c.want, c.says)
		}
		if r.Late != (name == "lag") || name == "all the time" && strings.Contains(r.Sentence, " due between ") {
			t.Errorf("%s: %s", name, r.Sentence)
		}
	}
}
