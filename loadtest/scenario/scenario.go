// Package scenario holds the load scenarios: data in one format, which says
// what is asked, how fast and for how long, and, a file each, what the kinds of
// scenario do with it.
//
// It sends through packages client and generate, and turns what was measured
// into the model of package reports/load. It must not import the suites, the
// reference server or a test framework.
package scenario

import (
	_ "embed"
	"errors"
	"fmt"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"outreach.example/conformance/internal/strictyaml"
	"outreach.example/conformance/loadtest/threshold"
	"outreach.example/conformance/spec"
)

// Kind says what is done with a scenario's requests.
type Kind string

// The kinds of scenario.
const (
	Steady    Kind = "steady"     // a fixed rate; with several limits a phase for each
	Spike     Kind = "spike"      // a base rate, a burst, and the base rate again
	Soak      Kind = "soak"       // a fixed rate for long, looked through for drift
	Sustained Kind = "sustained"  // searches the highest rate that meets the thresholds
	Depth     Kind = "depth"      // the cost of pages by their place in the list
	Walk      Kind = "walk"       // clients that walk whole lists, every page checked
	RateLimit Kind = "rate-limit" // provokes 429 answers and infers the limiter
)

// Kinds lists the kinds.
func Kinds() []Kind { return []Kind{Steady, Spike, Soak, Sustained, Depth, Walk, RateLimit} }

// Scenario is one load scenario. Rates are requests per second.
type Scenario struct {
	Name  string `yaml:"name"`
	About string `yaml:"about"` // what it finds out, in a sentence
	Kind  Kind   `yaml:"kind"`

	// Mix weighs what is asked: operation ids, or patterns of them as in
	// path.Match, each with its share.
	Mix    map[string]int `yaml:"mix,omitempty"`
	Limits []int          `yaml:"limits,omitempty"` // page sizes; without any, none is asked for

	Rate     float64       `yaml:"rate,omitempty"`
	Duration time.Duration `yaml:"duration,omitempty"` // of a phase; of the whole budget for rate-limit
	Warmup   time.Duration `yaml:"warmup,omitempty"`   // before the first phase, at its rate, not counted

	Burst   float64       `yaml:"burst,omitempty"`    // spike: rate of the burst, of a third of the duration
	MaxRate float64       `yaml:"max_rate,omitempty"` // sustained: where the search ends
	Confirm time.Duration `yaml:"confirm,omitempty"`  // sustained: how long the found rate must hold
	Pages   []int         `yaml:"pages,omitempty"`    // depth: places in the list, from 1; the last page is always added
	Clients int           `yaml:"clients,omitempty"`  // walk: how many walk at the same time
	Budget  int           `yaml:"budget,omitempty"`   // rate-limit: requests at most

	Thresholds []string `yaml:"thresholds,omitempty"`
}

//go:embed scenarios.yaml
var builtin []byte

// Builtin returns the scenarios that come with the program, in order.
func Builtin() []Scenario {
	all, err := Parse("loadtest/scenario/scenarios.yaml", builtin)
	if err != nil {
		panic(err) // the file is part of the program and a test reads it
	}
	return all
}

// maxFile bounds the text of a file of scenarios.
const maxFile = 1 << 20

// Load reads a file of scenarios. Errors name the file and the line.
func Load(file string) ([]Scenario, error) {
	info, err := os.Stat(file)
	if err != nil {
		return nil, fmt.Errorf("scenarios: %w", err)
	}
	if info.Size() > maxFile {
		return nil, fmt.Errorf("scenarios: %s has more than %d bytes: is it the right file?", file, maxFile)
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("scenarios: %w", err)
	}
	return Parse(file, data)
}

// Parse reads scenarios from YAML, whose only key is scenarios, and judges
// every entry; name stands for the file in errors.
func Parse(name string, data []byte) ([]Scenario, error) {
	var file struct {
		Scenarios []Scenario `yaml:"scenarios"`
	}
	source := strictyaml.New("file of scenarios", name)
	if len(data) > maxFile {
		return nil, source.ErrorOn(1, "", "a file of scenarios has at most %d bytes, this one has %d", maxFile, len(data))
	}
	if err := source.Decode(data, &file); err != nil {
		return nil, err
	}
	if len(file.Scenarios) == 0 {
		return nil, source.ErrorOn(1, "scenarios", "holds none")
	}
	var wrong []error
	names := map[string]bool{}
	for i, s := range file.Scenarios {
		at := fmt.Sprintf("scenarios[%d]", i)
		for _, p := range s.problems() {
			wrong = append(wrong, source.ErrorAt(at+"."+p.field, "%s", p.what))
		}
		if names[s.Name] {
			wrong = append(wrong, source.ErrorAt(at+".name", "%q names another scenario already", s.Name))
		}
		names[s.Name] = true
	}
	return file.Scenarios, errors.Join(wrong...)
}

// Check says what is wrong with a scenario that flags have changed.
func (s Scenario) Check() error {
	var wrong []error
	for _, p := range s.problems() {
		wrong = append(wrong, fmt.Errorf("scenario %s: %s: %s", s.Name, p.field, p.what))
	}
	return errors.Join(wrong...)
}

// Names lists the scenarios' names.
func Names(all []Scenario) []string {
	names := make([]string, len(all))
	for i, s := range all {
		names[i] = s.Name
	}
	return names
}

// operations returns the operations that the mix names and their shares, in the
// catalogue's order.
func (s Scenario) operations() []share {
	var shares []share
	for _, op := range spec.Operations() {
		weight := 0
		for _, pattern := range slices.Sorted(maps.Keys(s.Mix)) {
			if matched, _ := path.Match(pattern, op.ID); matched {
				weight = s.Mix[pattern]
				if pattern == op.ID { // its own name goes before a pattern
					break
				}
			}
		}
		if exact, named := s.Mix[op.ID]; named {
			weight = exact
		}
		if weight > 0 {
			shares = append(shares, share{op, weight})
		}
	}
	return shares
}

// share is an operation and its weight in a mix.
type share struct {
	op     spec.Operation
	weight int
}

// problem is one thing that is wrong with a scenario's field.
type problem struct{ field, what string }

// thresholds parses the scenario's own thresholds.
func (s Scenario) thresholds() ([]threshold.Threshold, error) {
	var parsed []threshold.Threshold
	for _, text := range s.Thresholds {
		t, err := threshold.Parse(text)
		if err != nil {
			return nil, err
		}
		parsed = append(parsed, t)
	}
	return parsed, nil
}

func joinKinds() string {
	var names []string
	for _, k := range Kinds() {
		names = append(names, string(k))
	}
	return strings.Join(names, ", ")
}
