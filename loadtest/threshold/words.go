package threshold

import (
	"fmt"
	"strings"

	"outreach.example/conformance/internal/suggest"
)

// figures lists the metrics, for errors.
const figures = "a percentile such as p99, max, errors, limited, sustained, depth or regression"

// meant maps common words to metrics.
var meant = map[string]string{
	"mean": "p50", "avg": "p50", "average": "p50", "median": "p50", "latency": "p99",
	"failed": "errors", "failures": "errors", "error": "errors", "429": "limited", "throttled": "limited",
	"rate": "sustained", "rps": "sustained", "throughput": "sustained", "maximum": "max",
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
	for _, m := range []Metric{Max, Errors, Limited, Sustained, Depth, Regression} {
		names = append(names, string(m))
	}
	return suggest.Near(word, names)
}

// example returns a valid threshold of the same metric.
func (t Threshold) example() string {
	return map[Metric]string{
		Quantile: "p99<250ms", Max: "max<2s", Errors: "errors<0.1%", Limited: "limited<1%",
		Sustained: "sustained>=800/s", Depth: "depth<2x", Regression: "regression<10% vs baseline.json",
	}[t.Metric]
}

// form describes the syntax of the bound.
func (t Threshold) form() string {
	switch t.Metric {
	case Quantile, Max:
		return fmt.Sprintf("a time above 0 and up to %s with a unit, such as 250ms", maxLatency)
	case Errors, Limited:
		return "a share from 0% to below 100%, such as 0.1%"
	case Regression:
		return "a change in percent, such as 10%"
	case Sustained:
		return fmt.Sprintf("a rate above 0 and up to %s requests per second, such as 800/s", digits(maxRate))
	default:
		return "a ratio above 0, such as 2x"
	}
}
