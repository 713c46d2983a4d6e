// Package scenario runs the load scenarios. A scenario is data in one format:
// what is requested, how fast and for how long. Each kind of scenario has a
// file that says what is done with it.
//
// It sends through packages client and generate, and converts measurements to
// the model of package reports/load. It must not import the suites, the
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

// Kind is a kind of scenario.
type Kind string

// The kinds of scenario.
const (
	Steady    Kind = "steady"     // a fixed rate; one phase for each page size
	Spike     Kind = "spike"      // a base rate, a burst, and the base rate again
	Soak      Kind = "soak"       // a fixed rate for a long time, checked for drift
	Sustained Kind = "sustained"  // a search for the highest rate that meets the thresholds
	Depth     Kind = "depth"      // the latency of pages by their place in the list
	Walk      Kind = "walk"       // clients that walk whole lists, every page checked
	RateLimit Kind = "rate-limit" // 429 answers are provoked and the limiter is inferred
)

// Kinds returns all kinds.
func Kinds() []Kind { return []Kind{Steady, Spike, Soak, Sustained, Depth, Walk, RateLimit} }

// Scenario is one load scenario. Rates are requests per second.
type Scenario struct {
	Name  string `yaml:"name"`
	About string `yaml:"about"` // one sentence: what it measures
	Kind  Kind   `yaml:"kind"`

	// Mix maps operation ids, or patterns as in path.Match, to their weights.
	Mix    map[string]int `yaml:"mix,omitempty"`
	Limits []int          `yaml:"page_sizes,omitempty"` // page sizes; if empty, no limit is sent

	Rate     float64       `yaml:"rate,omitempty"`
	Duration time.Duration `yaml:"duration,omitempty"` // of a phase; of the whole budget for rate-limit
	Warmup   time.Duration `yaml:"warmup,omitempty"`   // before the first phase, at its rate; not counted

	Burst   float64       `yaml:"burst,omitempty"`    // spike: rate of the burst, which lasts a third of the duration
	MaxRate float64       `yaml:"max_rate,omitempty"` // sustained: the upper end of the search
	Confirm time.Duration `yaml:"confirm,omitempty"`  // sustained: how long the found rate must hold
	Pages   []int         `yaml:"pages,omitempty"`    // depth: places in the list, from 1; the last page is always added
	Clients int           `yaml:"clients,omitempty"`  // walk: concurrent clients
	Budget  int           `yaml:"probe_budget,omitempty"`   // rate-limit: maximum number of requests

	Thresholds []string `yaml:"thresholds,omitempty"`
}

//go:embed scenarios.yaml
var builtin []byte

// Builtin returns the built-in scenarios in order.
func Builtin() []Scenario {
	all, err := Parse("loadtest/scenario/scenarios.yaml", builtin)
	if err != nil {
		panic(err) // a test parses the embedded file
	}
	return all
}

// maxFile limits the size of a scenario file.
const maxFile = 1 << 20

// Load reads a scenario file. Errors name the file and the line.
func Load(file string) ([]Scenario, error) {
	info, err := os.Stat(file)
	if err != nil {
		return nil, fmt.Errorf("scenarios: %w", err)
	}
	if info.Size() > maxFile {
		return nil, fmt.Errorf("scenarios: %s exceeds %d bytes (is it the right file?)", file, maxFile)
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("scenarios: %w", err)
	}
	return Parse(file, data)
}

// Parse reads and checks scenarios from YAML with the single key scenarios.
// name stands for the file in errors.
func Parse(name string, data []byte) ([]Scenario, error) {
	var file struct {
		Scenarios []Scenario `yaml:"scenarios"`
	}
	source := strictyaml.New("scenario file", name)
	if len(data) > maxFile {
		return nil, source.ErrorOn(1, "", "a scenario file has at most %d bytes, this one has %d", maxFile, len(data))
	}
	if err := source.Decode(data, &file); err != nil {
		return nil, err
	}
	if len(file.Scenarios) == 0 {
		return nil, source.ErrorOn(1, "scenarios", "is empty")
	}
	var wrong []error
	names := map[string]bool{}
	for i, s := range file.Scenarios {
		at := fmt.Sprintf("scenarios[%d]", i)
		for _, p := range s.problems() {
			wrong = append(wrong, source.ErrorAt(at+"."+p.field, "%s", p.what))
		}
		if names[s.Name] {
			wrong = append(wrong, source.ErrorAt(at+".name", "duplicate name %q", s.Name))
		}
		names[s.Name] = true
	}
	return file.Scenarios, errors.Join(wrong...)
}

// Check returns what is wrong with a scenario that flags have changed.
func (s Scenario) Check() error {
	var wrong []error
	for _, p := range s.problems() {
		wrong = append(wrong, fmt.Errorf("scenario %s: %s: %s", s.Name, p.field, p.what))
	}
	return errors.Join(wrong...)
}

// Names returns the names of the scenarios.
func Names(all []Scenario) []string {
	names := make([]string, len(all))
	for i, s := range all {
		names[i] = s.Name
	}
	return names
}

// operations returns the operations of the mix and their weights, in the order
// of the catalogue.
func (s Scenario) operations() []share {
	var shares []share
	for _, op := range spec.Operations() {
		weight := 0
		for _, pattern := range slices.Sorted(maps.Keys(s.Mix)) {
			if matched, _ := path.Match(pattern, op.ID); matched {
				weight = s.Mix[pattern]
				if pattern == op.ID { // an exact id overrides a pattern
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

// problem is an error in one field of a scenario.
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
