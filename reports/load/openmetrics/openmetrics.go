// Package openmetrics writes the figures of a load run in the OpenMetrics text format, for
// time series databases. They have the units and the rounding of every other report:
// response times are in milliseconds.
//
// It imports the results models and is the only home of the Prometheus libraries.
package openmetrics

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"

	"outreach.example/conformance/internal/atomicfile"
	"outreach.example/conformance/internal/printable"
	"outreach.example/conformance/reports"
	"outreach.example/conformance/reports/load"
)

// prefix begins the name of every metric.
const prefix = "outreach_load_"

// Encode returns the figures of r as OpenMetrics text, in a stable order.
func Encode(r load.Results) ([]byte, error) {
	e := newExposition()
	e.run(r)
	return e.text()
}

func newExposition() *exposition { return &exposition{byName: map[string]*dto.MetricFamily{}} }

// text returns the families as OpenMetrics text.
func (e *exposition) text() ([]byte, error) {
	var b bytes.Buffer
	for _, family := range e.families {
		if _, err := expfmt.MetricFamilyToOpenMetrics(&b, family); err != nil {
			return nil, fmt.Errorf("OpenMetrics: %s: %w", family.GetName(), err)
		}
	}
	if _, err := expfmt.FinalizeOpenMetrics(&b); err != nil {
		return nil, fmt.Errorf("OpenMetrics: %w", err)
	}
	return b.Bytes(), nil
}

// Write replaces the file at path with the figures of r, atomically. It creates missing
// directories.
func Write(path string, r load.Results) error {
	body, err := Encode(r)
	if err != nil {
		return err
	}
	if err := atomicfile.Write(path, body); err != nil {
		return fmt.Errorf("write OpenMetrics: %w", err)
	}
	return nil
}

// exposition collects metric families in the order of first use.
type exposition struct {
	families []*dto.MetricFamily
	byName   map[string]*dto.MetricFamily
}

// labels alternates names and values. A label with an empty value is omitted.
type labels []string

func (l labels) with(more ...string) labels { return append(slices.Clone(l), more...) }

func (l labels) pairs() []*dto.LabelPair {
	var pairs []*dto.LabelPair
	for i := 0; i+1 < len(l); i += 2 {
		if value := reports.Printable(l[i+1]); value != "" {
			pairs = append(pairs, &dto.LabelPair{Name: &l[i], Value: &value})
		}
	}
	return pairs
}

func (e *exposition) add(kind dto.MetricType, name, help string, m *dto.Metric) {
	name = prefix + name
	family := e.byName[name]
	if family == nil {
		family = &dto.MetricFamily{Name: &name, Help: &help, Type: &kind}
		e.byName[name] = family
		e.families = append(e.families, family)
	}
	family.Metric = append(family.Metric, m)
}

// gauge adds a figure with its value at the end of the run.
func (e *exposition) gauge(name, help string, value float64, l labels) {
	value = printable.Rounded(value)
	e.add(dto.MetricType_GAUGE, name, help, &dto.Metric{Label: l.pairs(), Gauge: &dto.Gauge{Value: &value}})
}

// counter adds a count. Its name ends in _total.
func (e *exposition) counter(name, help string, count int64, l labels) {
	value := float64(count)
	e.add(dto.MetricType_COUNTER, name+"_total", help, &dto.Metric{Label: l.pairs(), Counter: &dto.Counter{Value: &value}})
}

// summary adds a distribution in milliseconds. It adds nothing if d is nil.
func (e *exposition) summary(name, help string, d *load.Distribution, l labels) {
	if d == nil {
		return
	}
	count, sum := uint64(d.Count), d.MeanMS*float64(d.Count)
	s := &dto.Summary{SampleCount: &count, SampleSum: &sum}
	for _, q := range d.Quantiles {
		p, value := q.P, printable.Rounded(q.ValueMS)
		s.Quantile = append(s.Quantile, &dto.Quantile{Quantile: &p, Value: &value})
	}
	e.add(dto.MetricType_SUMMARY, name, help, &dto.Metric{Label: l.pairs(), Summary: s})
}

// names makes names unique: the second "name" becomes "name #2".
type names map[string]int

func (n names) unique(name string) string {
	name = reports.Printable(name)
	n[name]++
	if n[name] == 1 {
		return name
	}
	return n.unique(name + " #" + strconv.Itoa(n[name]))
}
