// Package scenario is the format of load scenarios: what is requested, how fast and
// for how long. It reads and checks scenario files, and says what is known of a
// scenario before it runs. Package runner runs scenarios.
//
// It sends nothing. It must not import a client, the target profile or the results
// model.
package scenario

import (
	_ "embed"
	"errors"
	"fmt"
	"strings"
	"time"

	"outreach.example/conformance/internal/disk"
	"outreach.example/conformance/internal/printable"
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
	Limits []int          `yaml:"page_sizes,omitempty"` // page sizes; if empty, no limit is sent, but by depth 1

	Rate     float64       `yaml:"rate,omitempty"`
	Duration time.Duration `yaml:"duration,omitempty"` // of a phase; of the whole budget for rate-limit
	Warmup   time.Duration `yaml:"warmup,omitempty"`   // before the first phase, at its rate; not counted

	Burst   float64       `yaml:"burst,omitempty"`        // spike: rate of the burst, which lasts a third of the duration
	MaxRate float64       `yaml:"max_rate,omitempty"`     // sustained: the upper end of the search
	Confirm time.Duration `yaml:"confirm,omitempty"`      // sustained: how long the found rate must hold
	Pages   []int         `yaml:"pages,omitempty"`        // depth: places in the list, from 1; the last page is always added
	Clients int           `yaml:"clients,omitempty"`      // walk: concurrent clients
	Budget  int           `yaml:"probe_budget,omitempty"` // rate-limit: maximum number of requests
	Probe   string        `yaml:"probe,omitempty"`        // rate-limit: the paged list to request; if empty, one that the target implements

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
	data, err := disk.Read(file, maxFile)
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
	source := disk.New("scenario file", name)
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
		wrong = append(wrong, fmt.Errorf("scenario %s: %s: %s", printable.Text(s.Name), p.field, p.what))
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

// Settings formats the settings.
func (s Scenario) Settings() string {
	var parts []string
	add := func(given bool, format string, args ...any) {
		if given {
			parts = append(parts, fmt.Sprintf(format, args...))
		}
	}
	add(s.Rate > 0, "%v requests/s", s.Rate)
	add(s.Burst > 0, "burst %v/s", s.Burst)
	add(s.MaxRate > 0, "up to %v/s", s.MaxRate)
	add(s.Clients > 0, "%d clients", s.Clients)
	add(s.Duration > 0, "%s", s.Duration)
	add(s.Confirm > 0, "confirmed for %s", s.Confirm)
	join := func(numbers []int) string {
		return strings.ReplaceAll(strings.Trim(fmt.Sprint(numbers), "[]"), " ", ", ")
	}
	add(len(s.Limits) > 0, "page size %s", join(s.Limits))
	add(len(s.Pages) > 0, "pages %s and the last", join(s.Pages))
	add(s.Budget > 0, "at most %d requests", s.Budget)
	add(s.Probe != "", "of %s", s.Probe)
	add(len(s.Thresholds) > 0, "thresholds: %s", strings.Join(s.Thresholds, ", "))
	return strings.Join(parts, "; ")
}
