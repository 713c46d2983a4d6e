// Package reports holds the results model of a run. Package jsonfile reads and writes its
// file, summary draws conclusions from it, and view shows it.
//
// It imports nothing of this module.
package reports

import (
	"bytes"
	"cmp"
	_ "embed"
	"regexp"
	"slices"
	"strings"
	"time"
)

// ModelVersion is the version of the results model. It changes if a reader of the
// earlier version could misread the new one.
const ModelVersion = "3"

//go:embed results.schema.json
var schema []byte

// Schema returns the JSON Schema (draft-07) of the JSON form of Results.
func Schema() []byte { return bytes.Clone(schema) }

// Bounds of the JSON form of results, in bytes. To read a file takes 20 times as much memory.
const (
	MaxSize    = 10 << 20   // of a file that is read
	MaxWritten = 10_000_000 // of what a run writes, whatever the target sent
)

// Results are the results of one run. results.schema.json is the JSON Schema of their
// JSON form.
type Results struct {
	Version string `json:"version"`
	Tool    Tool   `json:"tool"`
	Target  Target `json:"target"`
	Run     Run    `json:"run"`

	Verdict Verdict `json:"verdict"`
	// Reasons explain the verdict in words. They are empty only for a pass without
	// expected failures.
	Reasons []string `json:"reasons"`
	// ExpectedFailures is the number of checks that failed as the target's owner
	// declared. They do not fail the run.
	ExpectedFailures int `json:"expected_failures"`
	// StaleExpectations are the declared failures that are no longer true, in words:
	// fixed, expired or unknown. Each fails the run.
	StaleExpectations []string `json:"stale_expectations,omitempty"`
	// Regressions are what is worse than in the baseline of the run, in words. None of
	// them goes with a pass.
	Regressions []string `json:"regressions,omitempty"`
	// Flaky counts the checks that may fail or pass, as the target's owner declared.
	// It is nil if there are none.
	Flaky *Flaky `json:"flaky,omitempty"`

	Checks       []Check       `json:"checks"`
	Levels       []Level       `json:"levels,omitempty"`
	Observations []Observation `json:"observations"`
	Troubles     []Trouble     `json:"troubles"`
	Traffic      Traffic       `json:"traffic"`
	// Requests counts the requests of each operation by what the specification allows as
	// their response.
	Requests []Requests `json:"requests,omitempty"`
}

// Flaky is the number of checks that were declared flaky, by outcome.
type Flaky struct {
	Passed int `json:"passed"`
	Failed int `json:"failed"` // they are among the expected failures
}

// Word returns the verdict in capitals, for people. It is "STALE EXPECTATION" if the run
// fails only because an expected failure is no longer true.
func (r Results) Word() string {
	if r.Verdict == Failed && len(r.StaleExpectations) > 0 && len(r.Regressions) == 0 && Count(r.Checks).Fail == 0 {
		return "STALE EXPECTATION"
	}
	return r.Verdict.Word()
}

// ToolName is the name of this program in results.
const ToolName = "outreach-conformance"

// Tool names the harness that made the results.
type Tool struct {
	Name    string `json:"name"`
	Version string `json:"version"`
	Go      string `json:"go"`
	Commit  string `json:"commit,omitempty"` // of its source; empty if the build did not record it
}

// Target identifies the implementation under test, as its profile does.
type Target struct {
	Name    string `json:"name"`
	Version string `json:"version,omitempty"`
	Vendor  string `json:"vendor,omitempty"`
	BaseURL string `json:"base_url"`
	Kind    string `json:"kind"` // embedded, url, image or dockerfile
}

// Run says what was requested, and when it ran.
type Run struct {
	ID        string    `json:"id"`
	Started   time.Time `json:"started"`
	Seconds   float64   `json:"seconds"`
	Seed      int64     `json:"seed"` // order of the specs and content of generated requests
	Profile   string    `json:"profile"`
	Selection string    `json:"selection,omitempty"` // the filters, as flags; empty without filters
	// Operations are patterns of the operations that the target's profile lists as
	// implemented; empty for all.
	Operations []string `json:"operations,omitempty"`
	// Omits are the fields that the implementation leaves out by design, according to its
	// profile. Their presence is not judged.
	Omits       []string `json:"omits,omitempty"`
	Interrupted bool     `json:"interrupted"`
	Specs       int      `json:"specs"` // Ginkgo specs that ran
	// Explored says what an exploration tried; nil for a run.
	Explored *Explored `json:"explored,omitempty"`
	Time     *Time     `json:"time,omitempty"`
	// Parts are the runs that were merged into this one, which has the seed of the first;
	// empty for one run.
	Parts []RunPart `json:"parts,omitempty"`
}

// RunPart is a run that was merged with others.
type RunPart struct {
	ID        string    `json:"id"`
	Started   time.Time `json:"started"`
	Seconds   float64   `json:"seconds"`
	Seed      int64     `json:"seed"`
	Profile   string    `json:"profile"`
	Selection string    `json:"selection,omitempty"`
}

// Explored says what an exploration tried.
type Explored struct {
	Queries   int `json:"queries"`   // of lists
	Sequences int `json:"sequences"` // of changes and reads
	Changed   int `json:"changed"`   // rows that changed on the target meanwhile
}

// Time says where the time of a run went, in seconds. The parts add up to the whole.
// A pause counts only while nothing else was judged.
type Time struct {
	Judging   float64 `json:"judging"`
	InFlight  float64 `json:"in_flight,omitempty"` // the part of Judging that waited for a response
	RateLimit float64 `json:"rate_limit"`          // only the checks of the rate limit ran
	Throttled float64 `json:"throttled"`           // waited because of a 429
	Paced     float64 `json:"paced"`               // waited as the pace of the profile demands
	Locked    float64 `json:"locked,omitempty"`    // of earlier versions: waited for another run
}

// TimePart is a part of the time of a run.
type TimePart struct {
	Seconds float64
	What    string
}

// Parts returns the parts that are worth saying, the longest first.
func (t Time) Parts() []TimePart {
	judging := []TimePart{{t.Judging, "judging"}} // an earlier version measured no more
	if t.InFlight > 0 {
		judging = []TimePart{{t.InFlight, "waiting for responses"}, {t.Judging - t.InFlight, "computing or minting"}}
	}
	all := append(judging, TimePart{t.RateLimit, "exceeding the rate limit"}, TimePart{t.Throttled, "waiting after 429"},
		TimePart{t.Paced, "waiting for the pace"}, TimePart{t.Locked, "waiting for another run"})
	const least = 0.05 // seconds
	all = slices.DeleteFunc(all, func(p TimePart) bool { return p.Seconds < least })
	slices.SortStableFunc(all, func(a, b TimePart) int { return cmp.Compare(b.Seconds, a.Seconds) })
	return all
}

// Verdict is the result of a run, of a load run or of a load scenario.
type Verdict string

// The verdicts.
const (
	Passed       Verdict = "pass"
	Failed       Verdict = "fail"
	Inconclusive Verdict = "inconclusive" // the run proves nothing about the target
)

// Verdicts returns all verdicts: pass, fail, inconclusive.
func Verdicts() []Verdict { return []Verdict{Passed, Failed, Inconclusive} }

// ExitCode returns the exit code of a process with this verdict: 0, 1 or 3.
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

// Word returns the verdict in capitals, for people.
func (v Verdict) Word() string {
	if v == "" {
		return "NO VERDICT"
	}
	return strings.ToUpper(string(v))
}

// Outcome is the result of one requirement on one operation.
type Outcome string

// The outcomes of a check.
const (
	Pass        Outcome = "pass"
	Fail        Outcome = "fail"
	NotAssessed Outcome = "not-assessed" // an input was missing; Check.Missing names it
	Error       Outcome = "error"        // of the harness or the connection, never blamed on the target
	// ExpectedFailure is a failure that the target's owner declared; Check.Waiver says why.
	ExpectedFailure Outcome = "expected-failure"
)

// Check is the result of one requirement on one operation (a pair).
type Check struct {
	Requirement string  `json:"requirement"`
	Operation   string  `json:"operation"`
	Group       string  `json:"group"`
	Level       string  `json:"level"` // stated or derived
	Outcome     Outcome `json:"outcome"`
	// Assessments is the number of times the requirement was judged.
	Assessments int `json:"assessments"`
	// Missing lists the inputs that a check lacked.
	Missing []string `json:"missing,omitempty"`
	// Violations holds the first of each kind, a few kinds at most. ViolationCount is the
	// number of all.
	Violations     []Violation `json:"violations,omitempty"`
	ViolationCount int         `json:"violation_count,omitempty"`
	// Consequences are violations of other checks that follow from these: the target
	// shows what it should have refused. They are counted here only.
	Consequences []Consequence `json:"consequences,omitempty"`
	Waiver       *Waiver       `json:"waiver,omitempty"` // of an expected failure
	// Exchanges are the first that show the outcome, by the _id that they have in the recording
	// of the run; empty without a recording.
	Exchanges []int `json:"exchanges,omitempty"`
	// Specs are the Ginkgo specs that judged the check: file and line of each.
	Specs []string `json:"specs,omitempty"`
	// Seconds is how long these specs took. A spec's time is shared equally among
	// the checks that it judges.
	Seconds float64 `json:"seconds,omitempty"`
}

// Unlisted returns how many violations are not counted as of a listed kind.
func (c Check) Unlisted() int {
	n := c.ViolationCount
	for _, v := range c.Violations {
		n -= max(1, v.Count)
	}
	return max(0, n)
}

// What the checks of a run that ended early lacked. No input was missing.
const (
	NotReached            = "the rest of the run, which ended at the first failure (--fail-fast)"
	NotReachedInterrupted = "the rest of the run, which was interrupted"
)

// Consequence counts violations of one check that follow from another check's.
type Consequence struct {
	Requirement string `json:"requirement"`
	Operation   string `json:"operation"`
	Count       int    `json:"count"`
}

// Waiver is the declaration of an expected failure by the target's owner.
type Waiver struct {
	Reason  string `json:"reason"`
	Link    string `json:"link,omitempty"`
	Expires string `json:"expires"`         // last day (UTC) on which it applies, YYYY-MM-DD
	Flaky   bool   `json:"flaky,omitempty"` // the check may also pass
}

// Violation is a finding that breaks a requirement, with what a reader needs to
// understand and reproduce it.
type Violation struct {
	Statement string `json:"statement"` // the requirement in our own words
	Section   string `json:"section"`   // of the specification
	Spec      string `json:"spec,omitempty"`
	Location  string `json:"location,omitempty"` // file and line of the failed expectation
	Pointer   string `json:"pointer"`            // JSON pointer into the body ("" is the whole body), "header:NAME" or "status"
	Expected  string `json:"expected"`
	Actual    string `json:"actual"`
	Count     int    `json:"count,omitempty"` // violations of this kind; 0 if unknown
	Curl      string `json:"curl,omitempty"`  // a command that repeats the request; the key is an environment variable
	// Body is the beginning of the response's body as received, without secrets and
	// control characters; empty if there is no response or no body.
	Body string `json:"body,omitempty"`
	// Exchange is the rest of the request and the response. Only the first example of
	// each cause has it.
	Exchange *Exchange `json:"exchange,omitempty"`
}

// MaxBody is the maximum length of Violation.Body: of bytes that the harness writes, and
// of characters that a reader accepts.
const MaxBody = 2048

// Observation records behaviour of the target at an open point of the specification.
type Observation struct {
	OpenPoint string `json:"open_point"`
	Operation string `json:"operation,omitempty"`
	Value     string `json:"value"`
	Count     int    `json:"count"`
}

// Trouble is an error of the harness or of the connection to the target. It can make
// a run inconclusive, and never fails the target.
type Trouble struct {
	Where string `json:"where"`
	What  string `json:"what"`
}

// Rollback is where a trouble comes from that names what may be left on the target.
const Rollback = "rollback"

// Left reports whether the trouble says what may be left on the target.
func (t Trouble) Left() bool {
	return t.Where == Rollback || strings.HasPrefix(t.What, "rollback failed")
}

// Traffic sums up the requests and responses of a run.
type Traffic struct {
	Requests      int            `json:"requests"`
	Statuses      map[string]int `json:"statuses"` // by HTTP status; "none" is without a response
	BytesReceived int64          `json:"bytes_received"`
	Throttled     int            `json:"throttled"` // 429 responses after which the client waited and retried
	Unjudged      int            `json:"unjudged"`  // responses without a verdict: 0 unless the harness has an error, or the run was interrupted
}

// Place says in words which part of the response the violation is about.
func (v Violation) Place() string {
	switch v.Pointer {
	case "":
		return "the whole body"
	case "status":
		return "HTTP status"
	default:
		return strings.Replace(v.Pointer, "header:", "header ", 1)
	}
}

// particular is a quoted text, or a word with a digit: an id, a number, a time or a
// generated name.
var particular = regexp.MustCompile(`"(\\.|[^"\\])*"?|[\pL\pN_-]*\pN[\pL\pN_-]*`)

// Kind returns what violations of one kind have in common: place, expected and actual
// without what is particular to one of them. A status is part of the kind.
func (v Violation) Kind() string {
	status := ""
	if v.Pointer == "status" {
		status = v.Actual[:min(len(v.Actual), 3)]
	}
	const most = 1500 // bytes that decide
	text := v.Pointer + "\n" + v.Expected + "\n" + v.Actual
	return status + "\n" + particular.ReplaceAllString(text[:min(len(text), most)], "#")
}
