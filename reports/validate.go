package reports

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"unicode/utf8"

	"outreach.example/conformance/reports/internal/strict"
)

var (
	idPattern        = regexp.MustCompile(`^[A-Z0-9]+([-_.][A-Z0-9]+)*$`)
	operationPattern = regexp.MustCompile(`^[a-z0-9]+([-.][a-z0-9]+)*$`)
	pointerPattern   = regexp.MustCompile(`^($|/|header:.|status$)`)
	datePattern      = regexp.MustCompile(`^[0-9]{4}-[0-9]{2}-[0-9]{2}$`)
	statusPattern    = regexp.MustCompile(`^([0-9]{3}|none)$`)
)

// Validate returns an error for each place where r breaks the rules of the model, with
// a JSON pointer. Examples are values outside their sets, a failure without a
// violation and a pass without an assessment. The JSON Schema has the same rules,
// except three: no check occurs twice, a run that passes has a check that passed, and no
// more requests were accepted than sent.
func (r Results) Validate() error {
	var p strict.Problems
	p.Unless(r.Version == ModelVersion, "/version", "%q is not %q", r.Version, ModelVersion)
	p.Unless(r.Tool.Name != "", "/tool/name", "empty")
	p.Unless(slices.Contains([]string{"embedded", "url", "image", "dockerfile"}, r.Target.Kind), "/target/kind", "%q, want embedded, url, image or dockerfile", r.Target.Kind)
	p.Unless(r.Run.ID != "", "/run/id", "empty")
	p.Unless(r.Run.Profile != "", "/run/profile", "empty")
	p.Unless(r.Run.Seconds >= 0, "/run/seconds", "%v is negative", r.Run.Seconds)
	p.Unless(r.Run.Specs >= 0, "/run/specs", "%d is negative", r.Run.Specs)
	for i, part := range r.Run.Parts {
		at := fmt.Sprintf("/run/parts/%d", i)
		p.Unless(part.ID != "", at+"/id", "empty")
		p.Unless(part.Profile != "", at+"/profile", "empty")
		p.Unless(part.Seconds >= 0, at+"/seconds", "%v is negative", part.Seconds)
	}
	if t := r.Run.Time; t != nil {
		p.Unless(min(t.InFlight, t.Judging-t.InFlight, t.RateLimit, t.Throttled, t.Paced, t.Locked) >= 0, "/run/time", "a part is negative")
	}
	r.validateVerdict(&p)
	seen := map[[2]string]int{}
	for i, c := range r.Checks {
		at := fmt.Sprintf("/checks/%d", i)
		c.validate(&p, at)
		key := [2]string{c.Requirement, c.Operation}
		first, doubled := seen[key]
		p.Unless(!doubled, at, "%s on %s: duplicate of /checks/%d", c.Requirement, c.Operation, first)
		seen[key] = i
	}
	for i, l := range r.Levels {
		at := fmt.Sprintf("/levels/%d", i)
		p.Unless(l.Set != "", at+"/set", "empty")
		p.Unless(l.Requirements >= 1, at+"/requirements", "%d: nothing applies", l.Requirements)
		p.Unless(l.Assessed >= 0, at+"/assessed", "%d is negative", l.Assessed)
		p.Unless(l.Failed >= 0, at+"/failed", "%d is negative", l.Failed)
	}
	for i, o := range r.Observations {
		at := fmt.Sprintf("/observations/%d", i)
		p.Unless(idPattern.MatchString(o.OpenPoint), at+"/open_point", "%q is not an id", o.OpenPoint)
		p.Unless(o.Operation == "" || operationPattern.MatchString(o.Operation), at+"/operation", "%q is not an operation id", o.Operation)
		p.Unless(o.Count >= 1, at+"/count", "%d: nothing was observed", o.Count)
	}
	for i, t := range r.Troubles {
		p.Unless(t.What != "", fmt.Sprintf("/troubles/%d/what", i), "empty")
	}
	r.Traffic.validate(&p)
	for i, n := range r.Requests {
		n.validate(&p, fmt.Sprintf("/requests/%d", i))
	}
	return p.Err()
}

func (r Results) validateVerdict(p *strict.Problems) {
	p.Unless(slices.Contains(Verdicts(), r.Verdict), "/verdict", "%q, want one of %v", r.Verdict, Verdicts())
	for i, reason := range r.Reasons {
		p.Unless(reason != "", fmt.Sprintf("/reasons/%d", i), "empty")
	}
	n := Count(r.Checks)
	p.Unless(r.ExpectedFailures == n.Expected, "/expected_failures", "%d, but %d checks are expected failures", r.ExpectedFailures, n.Expected)
	if r.Verdict != Passed || r.ExpectedFailures > 0 {
		p.Unless(len(r.Reasons) > 0, "/reasons", "%s with %d expected failures needs a reason", r.Verdict, r.ExpectedFailures)
	} else {
		p.Unless(len(r.Reasons) == 0, "/reasons", "a %s without expected failures has no reasons", Passed)
	}
	for i, s := range r.StaleExpectations {
		p.Unless(s != "", fmt.Sprintf("/stale_expectations/%d", i), "empty")
	}
	p.Unless(len(r.StaleExpectations) == 0 || r.Verdict == Failed, "/stale_expectations", "%s with a stale expectation, want %s", r.Verdict, Failed)
	for i, s := range r.Regressions {
		p.Unless(s != "", fmt.Sprintf("/regressions/%d", i), "empty")
	}
	p.Unless(len(r.Regressions) == 0 || r.Verdict != Passed, "/regressions", "%s, but it is worse than its baseline", Passed)
	if r.Flaky != nil {
		p.Unless(r.Flaky.Passed >= 0 && r.Flaky.Failed >= 0 && r.Flaky.Passed+r.Flaky.Failed > 0, "/flaky", "%d passed and %d failed, want at least one", r.Flaky.Passed, r.Flaky.Failed)
	}
	if r.Verdict == Passed {
		p.Unless(!r.Run.Interrupted, "/verdict", "an interrupted run cannot pass")
		p.Unless(n.Pass > 0, "/verdict", "%s, but no check passed", Passed)
	}
}

func (c Check) validate(p *strict.Problems, at string) {
	p.Unless(idPattern.MatchString(c.Requirement), at+"/requirement", "%q is not an id", c.Requirement)
	p.Unless(operationPattern.MatchString(c.Operation), at+"/operation", "%q is not an operation id", c.Operation)
	p.Unless(c.Group != "", at+"/group", "empty")
	p.Unless(slices.Contains([]string{"stated", "derived"}, c.Level), at+"/level", "%q is neither stated nor derived", c.Level)
	p.Unless(c.Assessments >= 0, at+"/assessments", "%d is negative", c.Assessments)
	p.Unless(c.ViolationCount >= len(c.Violations), at+"/violation_count", "%d, but %d are listed", c.ViolationCount, len(c.Violations))
	p.Unless(c.Seconds >= 0, at+"/seconds", "%v is negative", c.Seconds)
	for i, missing := range c.Missing {
		p.Unless(missing != "", fmt.Sprintf("%s/missing/%d", at, i), "empty")
	}
	for i, v := range c.Violations {
		at := fmt.Sprintf("%s/violations/%d", at, i)
		p.Unless(v.Statement != "", at+"/statement", "empty")
		p.Unless(v.Section != "", at+"/section", "empty")
		p.Unless(pointerPattern.MatchString(v.Pointer), at+"/pointer", "%q, want a JSON pointer, \"status\" or \"header:<name>\"", v.Pointer)
		p.Unless(v.Expected != "", at+"/expected", "empty")
		p.Unless(v.Count >= 0, at+"/count", "%d is negative", v.Count)
		length := utf8.RuneCountInString(v.Body)
		p.Unless(length <= MaxBody, at+"/body", "%d characters, want at most %d", length, MaxBody)
		v.Exchange.validate(p, at+"/exchange")
	}
	for i, f := range c.Consequences {
		at := fmt.Sprintf("%s/consequences/%d", at, i)
		p.Unless(idPattern.MatchString(f.Requirement), at+"/requirement", "%q is not an id", f.Requirement)
		p.Unless(operationPattern.MatchString(f.Operation), at+"/operation", "%q is not an operation id", f.Operation)
		p.Unless(f.Count >= 1, at+"/count", "%d: nothing follows", f.Count)
	}
	p.Unless((c.Waiver != nil) == (c.Outcome == ExpectedFailure), at+"/waiver", "an expected failure needs a waiver, and no other outcome has one")
	if c.Waiver != nil {
		p.Unless(c.Waiver.Reason != "", at+"/waiver/reason", "empty")
		p.Unless(datePattern.MatchString(c.Waiver.Expires), at+"/waiver/expires", "%q is not a date YYYY-MM-DD", c.Waiver.Expires)
	}
	switch c.Outcome {
	case Pass:
		p.Unless(c.Assessments > 0, at+"/assessments", "a pass without an assessment")
		p.Unless(c.ViolationCount == 0, at+"/violation_count", "a pass with violations")
	case Fail, ExpectedFailure:
		p.Unless(len(c.Violations) > 0, at+"/violations", "a failure without a violation")
	case NotAssessed:
		p.Unless(len(c.Missing) > 0, at+"/missing", "not assessed without a missing input")
	case Error:
	default:
		p.Unless(false, at+"/outcome", "%q, want one of %v", c.Outcome, []Outcome{Pass, Fail, NotAssessed, Error, ExpectedFailure})
	}
}

func (t Traffic) validate(p *strict.Problems) {
	p.Unless(t.Requests >= 0, "/traffic/requests", "%d is negative", t.Requests)
	p.Unless(t.BytesReceived >= 0, "/traffic/bytes_received", "%d is negative", t.BytesReceived)
	p.Unless(t.Unjudged >= 0, "/traffic/unjudged", "%d is negative", t.Unjudged)
	p.Unless(t.Throttled >= 0, "/traffic/throttled", "%d is negative", t.Throttled)
	for _, status := range slices.Sorted(maps.Keys(t.Statuses)) {
		n := t.Statuses[status]
		p.Unless(statusPattern.MatchString(status), "/traffic/statuses", "%q is neither an HTTP status nor \"none\"", status)
		p.Unless(n >= 0, strict.Below("/traffic/statuses", status), "%d is negative", n)
	}
}
