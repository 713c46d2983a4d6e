package view

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"outreach.example/conformance/internal/printable"
	"outreach.example/conformance/reports/load"
)

// metricsOfLoad writes the figures of a load run in the OpenMetrics text format, for time
// series databases. They have the units and the rounding of every other report.
func metricsOfLoad(w io.Writer, r load.Results, _ Options) error {
	e := exposition{byName: map[string]*family{}}
	e.run(r)
	_, err := io.WriteString(w, e.text())
	return err
}

// exposition collects metric families in the order of first use.
type exposition struct {
	families []*family
	byName   map[string]*family
}

// family is a metric with its series, a line each.
type family struct {
	name, kind, help string
	series           strings.Builder
}

// text returns the families as OpenMetrics text.
func (e *exposition) text() string {
	var b strings.Builder
	for _, f := range e.families {
		fmt.Fprintf(&b, "# HELP %s %s\n# TYPE %s %s\n%s", f.name, f.help, f.name, f.kind, f.series.String())
	}
	return b.String() + "# EOF\n"
}

// labels alternates names and values. A label with an empty value is omitted.
type labels []string

func (l labels) with(more ...string) labels { return append(slices.Clone(l), more...) }

func (l labels) String() string {
	var pairs []string
	for i := 0; i+1 < len(l); i += 2 {
		if value := l[i+1]; value != "" {
			pairs = append(pairs, l[i]+`="`+strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(value)+`"`)
		}
	}
	if len(pairs) == 0 {
		return ""
	}
	return "{" + strings.Join(pairs, ",") + "}"
}

// prefix begins the name of every metric.
const prefix = "outreach_load_"

// add adds a series. The suffix is part of its name, but not of the family's.
func (e *exposition) add(kind, name, suffix, help string, l labels, value string) {
	name = prefix + name
	f := e.byName[name]
	if f == nil {
		f = &family{name: name, kind: kind, help: help}
		e.byName[name] = f
		e.families = append(e.families, f)
	}
	fmt.Fprintf(&f.series, "%s%s%s %s\n", name, suffix, l, value)
}

// gauge adds a figure with its value at the end of the run.
func (e *exposition) gauge(name, help string, value float64, l labels) {
	e.add("gauge", name, "", help, l, metricValue(printable.Rounded(value)))
}

// counter adds a count. Its name ends in _total.
func (e *exposition) counter(name, help string, count int64, l labels) {
	e.add("counter", name, "_total", help, l, metricValue(float64(count)))
}

// summary adds a distribution in milliseconds. It adds nothing if d is nil.
func (e *exposition) summary(name, help string, d *load.Distribution, l labels) {
	if d == nil {
		return
	}
	for _, q := range d.Quantiles {
		e.add("summary", name, "", help, l.with("quantile", metricValue(q.P)), metricValue(printable.Rounded(q.ValueMS)))
	}
	e.add("summary", name, "_sum", help, l, metricValue(d.MeanMS*float64(d.Count)))
	e.add("summary", name, "_count", help, l, strconv.FormatInt(d.Count, 10))
}

// metricValue formats a number: one that is whole ends in .0.
func metricValue(v float64) string {
	s := strconv.FormatFloat(v, 'g', -1, 64)
	if !strings.ContainsAny(s, ".eIN") { // infinity and NaN stay
		s += ".0"
	}
	return s
}

// uniqueNames makes names unique: the second "name" becomes "name #2".
type uniqueNames map[string]int

func (n uniqueNames) unique(name string) string {
	n[name]++
	if n[name] == 1 {
		return name
	}
	return n.unique(name + " #" + strconv.Itoa(n[name]))
}
