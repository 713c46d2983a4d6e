package loadtest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"time"

	"outreach.example/conformance/internal/disk"
	"outreach.example/conformance/loadtest/measure"
	"outreach.example/conformance/loadtest/scenario"
	"outreach.example/conformance/loadtest/verdict"
	"outreach.example/conformance/reports"
	"outreach.example/conformance/reports/load"
)

// PartVersion is the version of the part format. It increases when readers of
// the previous version could misread the new one.
const PartVersion = "4"

// maxParts limits the size of a source of parts, in bytes.
const maxParts = 512 << 20

// Part is the result of one of several generators: counters and histograms for each
// phase.
type Part struct {
	Version    string              `json:"version"`
	LagLimit   time.Duration       `json:"lag_limit_ns,omitempty"` // Config.LagLimit
	Thresholds []string            `json:"thresholds,omitempty"`   // the texts of Config.Thresholds
	Scenarios  []scenario.Scenario `json:"scenarios"`
	Results    load.Results        `json:"results"` // the generator's own results, without phases
	Outcomes   []verdict.Outcome   `json:"outcomes"`

	Source string `json:"-"` // file and line it was read from; else empty
}

// named returns the shard's number and source for messages.
func (p Part) named() string {
	name := fmt.Sprintf("shard %d", p.Results.Run.Shard.Index)
	if p.Source != "" {
		name += " (" + p.Source + ")"
	}
	return name
}

// errShards means that the parts are not one complete run, so nothing can be
// said about the target.
var errShards = errors.New("the parts are not one complete run")

// WritePart writes the outcome of a shard as one line of JSON.
func WritePart(w io.Writer, o Outcome, scenarios []scenario.Scenario, terms verdict.Terms) error {
	results := o.Results
	results.Scenarios = slices.Clone(results.Scenarios)
	for i := range results.Scenarios {
		results.Scenarios[i].Phases = nil // they follow from the recordings
	}
	p := Part{Version: PartVersion, LagLimit: terms.LagLimit, Scenarios: scenarios, Results: results, Outcomes: o.Parts}
	for _, t := range terms.Thresholds {
		p.Thresholds = append(p.Thresholds, t.Text)
	}
	encoded, err := json.Marshal(p)
	if err != nil {
		return fmt.Errorf("loadtest: a part: %w", err)
	}
	_, err = w.Write(append(encoded, '\n'))
	return err
}

// ReadParts reads parts, one JSON object per line. name stands for the source
// in errors. Blank lines are skipped.
func ReadParts(name string, r io.Reader) ([]Part, error) {
	data, err := io.ReadAll(io.LimitReader(disk.Text(r), maxParts+1))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if len(data) > maxParts {
		return nil, fmt.Errorf("%s: exceeds %d bytes (is it the right file?)", name, maxParts)
	}
	var parts []Part
	line := 0
	for text := range bytes.Lines(data) {
		line++
		if len(bytes.TrimSpace(text)) == 0 {
			continue
		}
		p, err := readPart(text)
		p.Source = fmt.Sprintf("%s:%d", name, line)
		if err != nil {
			return nil, fmt.Errorf("%s: not a part of a load run: %w (want the part.json of load --shard)", p.Source, err)
		}
		parts = append(parts, p)
	}
	if len(parts) == 0 {
		return nil, fmt.Errorf("%s: contains no part of a load run", name)
	}
	return parts, nil
}

func readPart(text []byte) (p Part, err error) {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	err = decoder.Decode(&p)
	switch {
	case p.Version != "" && p.Version != PartVersion:
		return p, fmt.Errorf("its version is %q, want %q: merge the parts with the release that wrote them", p.Version, PartVersion)
	case err != nil:
		return p, err
	case decoder.More():
		return p, errors.New("trailing data after the JSON object")
	case p.Version == "":
		return p, errors.New("it has no version")
	case p.Results.Run.Shard == nil:
		return p, errors.New("it is a whole run, not a shard")
	case len(p.Scenarios) == 0 || len(p.Outcomes) > len(p.Scenarios) || len(p.Results.Scenarios) != len(p.Outcomes):
		return p, errors.New("its scenarios and outcomes do not match")
	}
	_, err = measure.ParseThresholds(p.Thresholds)
	for _, s := range p.Scenarios {
		err = errors.Join(err, s.Check())
	}
	for i, s := range p.Results.Scenarios {
		if s.Name != p.Scenarios[i].Name {
			err = errors.Join(err, fmt.Errorf("found the outcome of %q, want that of %q", s.Name, p.Scenarios[i].Name))
		}
		p.Outcomes[i].Scenario = s
	}
	return p, err
}

// Thresholds returns what the parts are judged by: the given thresholds, and those of the
// shards for figures that the given ones do not bound.
func Thresholds(parts []Part, given []measure.Threshold) []measure.Threshold {
	own, _ := measure.ParseThresholds(parts[0].Thresholds) // ReadParts has already parsed them
	own = slices.DeleteFunc(own, func(t measure.Threshold) bool {
		return slices.ContainsFunc(given, func(g measure.Threshold) bool { return g.Replaces(t) })
	})
	return slices.Concat(own, given)
}

// Merge joins the parts of a run and judges the whole as one process would, by Thresholds.
// If the parts are not one complete run, the results are inconclusive and name the
// shard that is missing, duplicated or foreign. There must be at least one part.
func Merge(parts []Part, thresholds []measure.Threshold, baselines map[string]*verdict.Baseline) Outcome {
	parts = slices.Clone(parts)
	slices.SortStableFunc(parts, func(a, b Part) int { return a.Results.Run.Shard.Index - b.Results.Run.Shard.Index })
	first := parts[0].Results
	thresholds = Thresholds(parts, thresholds)
	o := Outcome{Results: load.Results{Version: load.ModelVersion, Tool: first.Tool, Target: first.Target, Run: first.Run,
		Calibration: first.Calibration, Traffic: verdict.Traffic(nil)}}
	o.Results.Run.Shard = nil
	shards := make([]verdict.Outcome, len(parts))
	terms := verdict.Terms{Thresholds: thresholds, Baselines: baselines, LagLimit: parts[0].LagLimit}
	for i, p := range parts {
		o.Results.Run.Seconds = max(o.Results.Run.Seconds, p.Results.Run.Seconds)
		o.Results.Run.Interrupted = o.Results.Run.Interrupted || p.Results.Run.Interrupted
		// The slowest generator limits them all, because each sends as much.
		if c := p.Results.Calibration; c != nil && (i == 0 || c.CeilingPerSecond*float64(len(parts)) < terms.Calibration.Ceiling) {
			terms.Calibration.Ceiling = c.CeilingPerSecond * float64(len(parts))
		}
	}
	if err := whole(parts); err != nil {
		o.Results.Verdict, o.Results.Reasons = reports.Inconclusive, []string{err.Error()}
		return o
	}
	for i, s := range parts[0].Scenarios {
		for k, p := range parts {
			shards[k] = p.Outcomes[i]
		}
		o.add(verdict.Join(s, shards, terms))
	}
	o.conclude(true, thresholds)
	return o
}

// whole returns an error unless the parts, in the order of their shards, are all shards
// of one run, each once.
func whole(parts []Part) error {
	first := parts[0]
	of := first.Results.Run.Shard.Of
	for i, p := range parts {
		shard := *p.Results.Run.Shard
		switch {
		case shard.Of != of:
			return fmt.Errorf("%w: %s is of %d shards, %s of %d", errShards, first.named(), of, p.named(), shard.Of)
		case shard.Index < 1 || shard.Index > of:
			return fmt.Errorf("%w: there is no shard %d of %d", errShards, shard.Index, of)
		case i > 0 && shard.Index == parts[i-1].Results.Run.Shard.Index:
			return fmt.Errorf("%w: shard %d of %d is present twice (it ran twice, or its file was given twice)", errShards, shard.Index, of)
		case p.Results.Target != first.Results.Target:
			return fmt.Errorf("%w: %s loaded %s, %s loaded %s", errShards, first.named(), first.Results.Target.BaseURL, p.named(),
				p.Results.Target.BaseURL)
		case !reflect.DeepEqual(p.Scenarios, first.Scenarios) || p.Results.Run.Seed != first.Results.Run.Seed || p.LagLimit != first.LagLimit ||
			!slices.Equal(p.Thresholds, first.Thresholds):
			return fmt.Errorf("%w: %s has different scenarios, settings or seed", errShards, p.named())
		case len(p.Outcomes) != len(p.Scenarios):
			return fmt.Errorf("%w: %s stopped after %d of %d scenarios", errShards, p.named(), len(p.Outcomes), len(p.Scenarios))
		}
		for n, o := range p.Outcomes {
			if err := sameStart(first.named(), p.named(), first.Outcomes[n], o); err != nil {
				return err
			}
		}
	}
	for i := range of {
		if i >= len(parts) || parts[i].Results.Run.Shard.Index != i+1 {
			return fmt.Errorf("%w: shard %d of %d is missing", errShards, i+1, of)
		}
	}
	return nil
}

// sameStart returns an error if phases of a scenario began at different times in two
// parts: requests due at one moment were then sent at two.
func sameStart(first, second string, a, b verdict.Outcome) error {
	instant := func(at time.Time) string { return at.UTC().Format(time.RFC3339Nano) }
	for k := range min(len(a.Recordings), len(b.Recordings)) {
		if x, y := a.Recordings[k], b.Recordings[k]; !x.Start.Equal(y.Start) {
			return fmt.Errorf("%w: different start times: phase %s of %s began at %s in %s, at %s in %s (give all shards the same --start-at)",
				errShards, x.Name, a.Name, instant(x.Start), first, instant(y.Start), second)
		}
	}
	return nil
}
