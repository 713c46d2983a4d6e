package threshold

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestParse(t *testing.T) {
	for text, want := range map[string]Threshold{
		"p99<250ms":                    {Metric: Quantile, P: 0.99, Op: Less, Bound: 0.25},
		"p99<250ms@500/s":              {Metric: Quantile, P: 0.99, Op: Less, Bound: 0.25, Rate: 500},
		"p99.9<1s":                     {Metric: Quantile, P: 0.999, Op: Less, Bound: 1},
		"p50<=1.5ms":                   {Metric: Quantile, P: 0.5, Op: AtMost, Bound: 0.0015},
		" p99 < 250ms @ 0.5/s ":        {Metric: Quantile, P: 0.99, Op: Less, Bound: 0.25, Rate: 0.5},
		"max<2s":                       {Metric: Max, Op: Less, Bound: 2},
		"errors<0.1%":                  {Metric: Errors, Op: Less, Bound: 0.001},
		"errors=0":                     {Metric: Errors, Op: Equal},
		"errors=0%":                    {Metric: Errors, Op: Equal},
		"errors<99.9%":                 {Metric: Errors, Op: Less, Bound: 0.999},
		"limited<1%@100/s":             {Metric: Limited, Op: Less, Bound: 0.01, Rate: 100},
		"sustained>=800/s":             {Metric: Sustained, Op: AtLeast, Bound: 800},
		"depth<2x":                     {Metric: Depth, Op: Less, Bound: 2},
		"worse<10% vs baseline.json":   {Metric: Worse, Op: Less, Bound: 0.1, Baseline: "baseline.json"},
		"worse<10% vs my old run.json": {Metric: Worse, Op: Less, Bound: 0.1, Baseline: "my old run.json"},
		"worse<=10%":                   {Metric: Worse, Op: AtMost, Bound: 0.1},
		"mixed: p99<250ms":             {Scenario: "mixed", Metric: Quantile, P: 0.99, Op: Less, Bound: 0.25},
		"page-depth:depth<1.5x":        {Scenario: "page-depth", Metric: Depth, Op: Less, Bound: 1.5},
		"mixed[campaigns.list limit=100]: max<2s": {Scenario: "mixed", Label: "campaigns.list limit=100", Metric: Max, Op: Less, Bound: 2},
		"[leads.move]: errors<1%":                 {Label: "leads.move", Metric: Errors, Op: Less, Bound: 0.01},
		"mixed: worse<10% vs a:b<c.json":          {Scenario: "mixed", Metric: Worse, Op: Less, Bound: 0.1, Baseline: "a:b<c.json"},
	} {
		got, err := Parse(text)
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
		{"p99<<250ms", "<<", "less is better"},
		{"p99=250ms", "=", "less is better"},
		{"p99@500/s<250ms", "@500/s<250ms", "want < or <="},
		{"p99<", "", "with a unit, such as 250ms"},
		{"p99<250", "250", "with a unit, such as 250ms"},
		{"p99<250@500/s", "250", "with a unit"},
		{"p99<-1s", "-1s", "above 0"},
		{"p99<0s", "0s", "above 0"},
		{"p99<11m", "11m", "up to 10m0s"},
		{"p99<250ms@500", "500", "such as 500/s"},
		{"p99<250ms@0/s", "0/s", "above 0"},
		{"p99<250ms@1e3/s", "1e3/s", "such as 500/s"},
		{"p99<250ms@9000000/s", "9000000/s", "up to 1,000,000 requests"},
		{"p99<250ms@", "", "such as 500/s"},
		{"p99<250ms now", "now", "unexpected text"},
		{"p99<250ms vs x", "vs x", "unexpected text"},
		{"p0<1s", "p0", "below p100"},
		{"p100<1s", "p100", "the longest time is max"},
		{"p9.9.9<1s", "p9.9.9", "want a percentile"},
		{"P99<1s", "P99", "did you mean p99?"},
		{"percentile99.9<1s", "percentile99.9", "did you mean p99.9?"},
		{"mean<1s", "mean", "did you mean p50?"},
		{"error<1%", "error", "did you mean errors?"},
		{"sustaned>8/s", "sustaned", "did you mean sustained?"},
		{"zzzzzzzz<1s", "zzzzzzzz", "unknown metric: want"},
		{"errors<0.1", "0.1", "such as 0.1%"},
		{"errors<101%", "101%", "below 100"},
		{"errors<100%", "100%", "every run meets this"},
		{"errors<=100%", "100%", "every run meets this"},
		{"limited<=100.0%", "100.0%", "every run meets this"},
		{"errors=100%", "100%", "only errors=0 (none at all)"},
		{"errors<0%", "0%", "write errors=0"},
		{"errors<=0%", "0%", "write errors=0"},
		{"errors=1%", "1%", "write errors<1%"},
		{"errors<NaN%", "NaN%", "such as 0.1%"},
		{"sustained<800/s", "<", "a higher rate is better"},
		{"sustained>=800", "800", "such as 800/s"},
		{"sustained>=0/s", "0/s", "above 0"},
		{"sustained>=800/s@500/s", "@", "applies to a whole scenario"},
		{"depth<2", "2", "such as 2x"},
		{"depth<0x", "0x", "above 0"},
		{"worse<10", "10", "such as 10%"},
		{"worse<10% vs", "vs", "want a file to compare with"},
		{"worse<10% baseline.json", "baseline.json", "want a file to compare with"},
		{"worse<10%@5/s vs x", "@", "applies to a whole scenario"},
		{": p99<1s", ": p99<1s", "the name of a scenario"},
		{"mixed[x: p99<1s", "mixed[x", "want ] and a colon"},
		{"mixed[ ]: p99<1s", "[ ]", "label is empty"},
		{"mixed[x] p99<1s", "mixed[x]", "a colon after the label"},
		{"mixed[x]: sustained>1/s", "sustained", "not to labelled requests"},
		{"a: b: p99<1s", "b", "unknown metric"},
		{strings.Repeat("x", 501), "", "501 characters, want at most 500"},
	} {
		at := "at its end: "
		if c.found != "" {
			at = fmt.Sprintf("at %q (character ", c.found)
		}
		if _, err := Parse(c.text); err == nil || !strings.Contains(err.Error(), at) || !strings.Contains(err.Error(), c.wanted) {
			t.Errorf("%q: %v; want %q and %q", c.text, err, at, c.wanted)
		}
	}
}

// Every text gives a valid threshold or an error in valid characters.
func FuzzParse(f *testing.F) {
	for _, text := range []string{"p99<250ms@500/s", "mixed[a b]: errors=0", "worse<10% vs x", "sustained>=800/s", "depth<2x", "[", "p<1s", "\xff:<"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, err := Parse(text)
		if err != nil {
			if s := err.Error(); utf8.ValidString(text) && !utf8.ValidString(s) {
				t.Fatalf("%q: broken characters in %q", text, s)
			}
			return
		}
		if again, err := Parse(" " + text + " "); err != nil || again.Metric != got.Metric || again.Bound != got.Bound || again.Rate != got.Rate || again.Scenario != got.Scenario || again.Label != got.Label {
			t.Fatalf("%q with spaces around it: %+v, %v; without: %+v", text, again, err, got)
		}
		if got.Metric == "" || got.Op == "" || got.Bound < 0 || got.Rate < 0 || got.Metric == Quantile && (got.P <= 0 || got.P >= 1) ||
			(got.Metric == Errors || got.Metric == Limited) && got.Bound >= 1 {
			t.Fatalf("%q: %+v", text, got)
		}
	})
}
