// Package diff compares the results of two runs, and merges those of several runs of one
// target. A comparison says which checks newly fail, newly pass or
// are no longer assessed, which observations changed, and how the figures of load runs
// changed. Its JSON form has the JSON Schema diff.schema.json.
//
// It compares checks by requirement and operation, and observations by their form, so
// that the order of a run and the ids of rows make no difference. It judges no server:
// thresholds on figures come from the caller, and a merged verdict follows the rules of
// package judge. It imports these, the results models and the catalogue.
package diff

import (
	"bytes"
	_ "embed"
	"slices"
	"time"

	"outreach.example/conformance/reports"
	"outreach.example/conformance/reports/jsonfile"
	"outreach.example/conformance/reports/load"
)

// modelVersion is the version of the model. It changes if a reader of the earlier
// version could misread the new one.
const modelVersion = "1"

//go:embed diff.schema.json
var schema []byte

// Schema returns the JSON Schema (draft-07) of the JSON form of Difference.
func Schema() []byte { return bytes.Clone(schema) }

// Difference is the difference between two runs, or between the runs whose results two
// directories hold.
type Difference struct {
	Version string       `json:"version"`
	Tool    reports.Tool `json:"tool"` // that compared them
	Outcome Outcome      `json:"outcome"`
	Parts   []Part       `json:"parts"` // never empty
}

// Part is the difference between two results files of one kind.
type Part struct {
	Kind    Kind     `json:"kind"`
	Old     Side     `json:"old"`
	New     Side     `json:"new"`
	Outcome Outcome  `json:"outcome"`
	Reasons []string `json:"reasons"` // why the outcome is worse or inconclusive
	// Notes say how the runs differ in what was judged, and by whom. A reader needs them
	// to understand the changes.
	Notes []string `json:"notes"`

	NewlyFailing []Change `json:"newly_failing"`
	NewlyPassing []Change `json:"newly_passing"`
	LostCoverage []Change `json:"lost_coverage"` // assessed before, and not now
	Other        []Change `json:"other"`         // newly assessed, or newly expected to fail
	StillFailing int      `json:"still_failing"`

	Observations []Observation `json:"observations"`
	Figures      []Figure      `json:"figures"`    // of load runs
	Thresholds   []Threshold   `json:"thresholds"` // such as worse<5%
}

// Kind is the kind of results that are compared.
type Kind string

// The kinds.
const (
	ofRun  Kind = "run"
	ofLoad Kind = "load"
)

// Side identifies one of the two runs.
type Side struct {
	File    string          `json:"file"`
	Tool    reports.Tool    `json:"tool"`
	Target  reports.Target  `json:"target"`
	Run     string          `json:"run"`
	Started time.Time       `json:"started"`
	Seed    int64           `json:"seed"`
	Verdict reports.Verdict `json:"verdict"`
}

// Change is a check, or a scenario of a load run, with another outcome than before.
type Change struct {
	Scenario    string `json:"scenario,omitempty"` // of a load run
	Requirement string `json:"requirement,omitempty"`
	Operation   string `json:"operation,omitempty"`
	Was         string `json:"was"` // an outcome or a verdict, or Absent
	Is          string `json:"is"`
	Why         string `json:"why,omitempty"` // the first violation, the missing input or the reason
}

// Absent stands for the outcome of a check that a run did not have.
const Absent = "absent"

// Observation is an open point at which an operation behaves otherwise than before.
// The values are in the form in which they are compared.
type Observation struct {
	OpenPoint string   `json:"open_point"`
	Operation string   `json:"operation,omitempty"`
	Was       []string `json:"was"` // empty if it was not observed
	Is        []string `json:"is"`
}

// Figure is a figure of a load scenario in both runs.
type Figure struct {
	Scenario string         `json:"scenario"`
	Phase    string         `json:"phase,omitempty"`
	Name     string         `json:"name"` // e.g. "response p99"
	Unit     string         `json:"unit"`
	Old      *load.Estimate `json:"old,omitempty"`
	New      *load.Estimate `json:"new,omitempty"`
	// Worse is how much worse the figure is, in percent, with the interval that both
	// intervals allow; nil if unknown. A negative value is an improvement.
	Worse   *load.Estimate `json:"worse,omitempty"`
	Open    bool           `json:"open,omitempty"` // too few requests for an upper bound of Worse
	Verdict load.Effect    `json:"verdict"`        // worse or better only if the intervals do not overlap
	Why     string         `json:"why,omitempty"`  // it is inconclusive
}

// Threshold is the result of a threshold on the change of a figure.
type Threshold struct {
	Scenario string       `json:"scenario"`
	Phase    string       `json:"phase,omitempty"`
	Text     string       `json:"text"`
	Outcome  load.Outcome `json:"outcome"`
	Why      string       `json:"why"`
}

// Outcome sums up a difference.
type Outcome string

// The outcomes.
const (
	Same         Outcome = "same"         // no difference
	Different    Outcome = "different"    // and nothing that fails the comparison
	Worse        Outcome = "worse"        // newly failing, lost coverage or a missed threshold
	Inconclusive Outcome = "inconclusive" // nothing to compare, or an open threshold
)

// ExitCode returns the exit code of a process with this outcome: 0, 1 or 3.
func (o Outcome) ExitCode() int {
	switch o {
	case Same, Different:
		return 0
	case Worse:
		return 1
	default:
		return 3
	}
}

// In returns the outcome in words, for people.
func (o Outcome) In() string {
	if o == Same {
		return "no difference"
	}
	return string(o)
}

// Join returns the difference that consists of the parts, which the tool compared. The worst of their outcomes
// counts.
func Join(tool reports.Tool, parts ...Part) Difference {
	order := []Outcome{Same, Different, Inconclusive, Worse}
	d := Difference{Version: modelVersion, Tool: tool, Outcome: Same, Parts: parts}
	for _, p := range parts {
		if slices.Index(order, p.Outcome) > slices.Index(order, d.Outcome) {
			d.Outcome = p.Outcome
		}
	}
	return d
}

var file = jsonfile.Kind[Difference]{Name: jsonfile.OfDifference, Version: modelVersion, Schema: schema, Indent: "  ", Prepare: complete}

// Encode returns the JSON form of d, indented. Equal differences give equal bytes.
func Encode(d Difference) ([]byte, error) { return file.Encode(d) }

// complete returns d with an empty array for each that is nil.
func complete(d Difference) Difference {
	d.Parts = slices.Clone(d.Parts)
	for i := range d.Parts {
		p := &d.Parts[i]
		p.Reasons, p.Notes = jsonfile.Listed(p.Reasons), jsonfile.Listed(p.Notes)
		p.NewlyFailing, p.NewlyPassing = jsonfile.Listed(p.NewlyFailing), jsonfile.Listed(p.NewlyPassing)
		p.LostCoverage, p.Other = jsonfile.Listed(p.LostCoverage), jsonfile.Listed(p.Other)
		p.Observations, p.Figures, p.Thresholds = jsonfile.Listed(p.Observations), jsonfile.Listed(p.Figures), jsonfile.Listed(p.Thresholds)
	}
	return d
}
