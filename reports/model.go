// Package reports holds the one results model of a run and its views: JSON,
// JUnit and the console. A view adds nothing to the model and judges nothing.
//
// It imports the catalogue (spec) and nothing else of this module.
package reports

import (
	"strings"
	"time"
)

// ModelVersion is the version of the results model. It rises when a reader of
// the former version could misread the new one.
const ModelVersion = "2"

// Results is everything that one run has to tell. The committed JSON Schema
// results.schema.json describes its JSON form.
type Results struct {
	Version string `json:"version"`
	Tool    Tool   `json:"tool"`
	Target  Target `json:"target"`
	Run     Run    `json:"run"`

	Verdict Verdict `json:"verdict"`
	// Reasons says in words why the verdict is not a plain Passed: why it is
	// another, or how many failures were expected.
	Reasons []string `json:"reasons"`
	// ExpectedFailures counts the checks whose failure the target's owner has
	// announced. They do not fail the run.
	ExpectedFailures int `json:"expected_failures"`

	Checks       []Check       `json:"checks"`
	Observations []Observation `json:"observations"`
	Troubles     []Trouble     `json:"troubles"`
	Traffic      Traffic       `json:"traffic"`
}

// ToolName is the name of this program in results.
const ToolName = "outreach-conformance"

// Tool names the harness that made the results.
type Tool struct {
	Name    string `json:"name"`
	Version string `json:"version"`
	Go      string `json:"go"`
}

// Target names the implementation under judgement, as its profile does.
type Target struct {
	Name    string `json:"name"`
	Version string `json:"version,omitempty"`
	Vendor  string `json:"vendor,omitempty"`
	BaseURL string `json:"base_url"`
	Kind    string `json:"kind"` // embedded, url, image or dockerfile
}

// Run tells what was asked for and when.
type Run struct {
	ID          string    `json:"id"`
	Started     time.Time `json:"started"`
	Seconds     float64   `json:"seconds"`
	Seed        int64     `json:"seed"` // order of the specs and content of generated requests
	Profile     string    `json:"profile"`
	Selection   string    `json:"selection,omitempty"` // the filters, as flags; empty when nothing was filtered
	Interrupted bool      `json:"interrupted"`
	Specs       int       `json:"specs"` // Ginkgo specs that ran
}

// Verdict is the answer of a whole run, of a load run and of a load scenario.
type Verdict string

// The verdicts. Every other ending of the process is a usage error.
const (
	Passed       Verdict = "pass"
	Failed       Verdict = "fail"
	Inconclusive Verdict = "inconclusive" // the run proves nothing about the target
)

// Verdicts returns all verdicts, the best first.
func Verdicts() []Verdict { return []Verdict{Passed, Failed, Inconclusive} }

// ExitCode is the process exit code that stands for the verdict.
func (v Verdict) ExitCode() int {
	switch v {
	case Passed:
		return 0
	case Failed:
		return 1
	default:
		return 3
	}
}

// Word is the verdict as people see it: PASS, FAIL or INCONCLUSIVE.
func (v Verdict) Word() string {
	if v == "" {
		return "NO VERDICT"
	}
	return strings.ToUpper(Printable(string(v)))
}

// Outcome is the answer for one requirement on one operation.
type Outcome string

// The outcomes of a check.
const (
	Pass        Outcome = "pass"
	Fail        Outcome = "fail"
	NotAssessed Outcome = "not-assessed" // an input was missing; Check.Missing says which
	Error       Outcome = "error"        // the harness's own trouble, never blamed on the target
	// ExpectedFailure is a failure that the target's owner has announced; Check.Waiver says why.
	ExpectedFailure Outcome = "expected-failure"
)

// Check is one requirement × operation and what became of it.
type Check struct {
	Requirement string  `json:"requirement"`
	Operation   string  `json:"operation"`
	Group       string  `json:"group"`
	Level       string  `json:"level"` // stated or derived
	Outcome     Outcome `json:"outcome"`
	// Assessments counts how often the requirement was put to the test.
	Assessments int `json:"assessments"`
	// Missing lists the inputs without which the requirement could not be assessed.
	Missing []string `json:"missing,omitempty"`
	// Violations holds the first few; ViolationCount counts all.
	Violations     []Violation `json:"violations,omitempty"`
	ViolationCount int         `json:"violation_count,omitempty"`
	Waiver         *Waiver     `json:"waiver,omitempty"` // of an expected failure
	// Specs are the Ginkgo specs that judged the check: file and line of each.
	Specs []string `json:"specs,omitempty"`
	// Seconds is how long these specs took. A spec's time is shared equally among
	// the checks that it judges.
	Seconds float64 `json:"seconds,omitempty"`
}

// Waiver is the target's owner's word on an expected failure.
type Waiver struct {
	Reason  string `json:"reason"`
	Link    string `json:"link,omitempty"`
	Expires string `json:"expires"` // last day on which it holds, YYYY-MM-DD
}

// Violation is one sighting of a broken requirement, with all that is needed
// to understand it and to see it again.
type Violation struct {
	Statement string `json:"statement"` // the requirement in our own words
	Section   string `json:"section"`   // where the specification says so
	Spec      string `json:"spec,omitempty"`
	Location  string `json:"location,omitempty"` // file and line of the expectation that was not met
	Pointer   string `json:"pointer"`            // JSON pointer into the body, or "" for the whole; "header:…" and "status" otherwise
	Expected  string `json:"expected"`
	Actual    string `json:"actual"`
	Curl      string `json:"curl,omitempty"` // repeats the request; the key is an environment variable
}

// Observation records behaviour of the target that the specification leaves open.
type Observation struct {
	Silence   string `json:"silence"`
	Operation string `json:"operation,omitempty"`
	Value     string `json:"value"`
	Count     int    `json:"count"`
}

// Trouble is a failure of the harness or of the way to the target: it keeps a
// run from telling, and is nobody's violation.
type Trouble struct {
	Where string `json:"where"`
	What  string `json:"what"`
}

// Traffic sums up what went over the wire.
type Traffic struct {
	Requests      int            `json:"requests"`
	Statuses      map[string]int `json:"statuses"` // by HTTP status; "none" where no answer came
	BytesReceived int64          `json:"bytes_received"`
	Throttled     int            `json:"throttled"` // 429 answers that were waited out
}
