package api

import (
	"fmt"
	"strings"

	"github.com/onsi/ginkgo/v2/types"
	"github.com/onsi/gomega"
	gomegatypes "github.com/onsi/gomega/types"

	"outreach.example/conformance/internal/judge"
	"outreach.example/conformance/spec"
)

// Requirement is what a spec has to say about one requirement on an operation.
type Requirement struct {
	api  *API
	Pair spec.Pair
}

// For returns the requirement, on the operation of the spec or on another one. It panics if the
// spec does not declare it.
func (api *API) For(id spec.ID, operation ...string) Requirement {
	p := id.On(append(operation, api.Spec.Operation)[0])
	if !api.Spec.Declares(p) {
		panic(fmt.Sprintf("suites: %q does not declare that it judges %s on %s", api.Spec.Name(), id, p.Operation))
	}
	return Requirement{api, p}
}

// Requirement returns the requirement of a spec that declares one.
func (api *API) Requirement() spec.ID { return spec.ID(api.Spec.Pairs[0].Requirement) }

// Expect begins an expectation for the only requirement that the spec declares.
func (api *API) Expect(actual any) Claim {
	if len(api.Spec.Pairs) != 1 {
		panic(fmt.Sprintf("suites: %q declares %d requirements: say which one with For", api.Spec.Name(), len(api.Spec.Pairs)))
	}
	return Requirement{api, api.Spec.Pairs[0]}.Expect(actual)
}

// Expect begins an expectation of a Response or a Walk.
func (r Requirement) Expect(actual any) Claim { return Claim{r, actual} }

// Missing records that an input is missing for the requirement. Unlike API.NotAssessed, it lets the
// spec go on.
func (r Requirement) Missing(format string, args ...any) {
	r.api.Evidence.Missing(r.Pair, fmt.Sprintf(format, args...))
}

// Assessed records that the requirement was put to the test and held.
func (r Requirement) Assessed() {
	r.api.Evidence.Assessed(r.Pair, 1)
}

// Judged reports whether the spec has said something on the requirement.
func (r Requirement) Judged() bool {
	return r.api.Evidence.Known(r.Pair)
}

// NamedBy returns the call with the requirement named: another response than the call allows
// breaks it.
func (r Requirement) NamedBy(k Call) Call {
	return Charging(k, r.Pair)
}

// Charging returns the call with the pair named that another response than it allows breaks. A
// right response does not put that pair to the test.
func Charging(k Call, p spec.Pair) Call {
	k.Breaks, k.breaksOn = spec.ID(p.Requirement), p.Operation
	return k
}

// Judge records a verdict that the spec has drawn by itself. It reports whether the requirement
// was put to the test and held.
func (r Requirement) Judge(found Verdict) bool {
	return r.judge(found, types.NewCodeLocation(1))
}

func (r Requirement) judge(found Verdict, at types.CodeLocation) bool {
	if found.Missing != "" {
		r.Missing("%s", found.Missing)
	}
	broken := len(found.Findings) + found.More
	if found.Assessed > 0 || broken > 0 {
		r.api.Evidence.Assessed(r.Pair, max(found.Assessed, broken))
	}
	for _, f := range found.Findings {
		if f.Pointer != "status" || f.Response.broken != r.Pair { // else it was charged when it came
			Violated(r.api, r.Pair, f, ShortLocation(at))
		}
	}
	r.api.Evidence.ViolatedAgain(r.Pair, found.More)
	return broken == 0 && found.Assessed > 0
}

// Claim is an expectation that waits for its matcher.
type Claim struct {
	requirement Requirement
	actual      any
}

// To has Gomega match the value. Every violation that the matcher found is
// recorded, and the spec goes on. To reports whether the expectation was put to
// the test and met.
//
// A 4xx that was expected counts only if the server accepts a valid request of
// the operation.
func (a Claim) To(matcher gomegatypes.GomegaMatcher) bool {
	r := a.requirement
	message := ""
	matched := gomega.NewGomega(func(text string, _ ...int) { message = text }).Expect(a.actual).To(matcher)
	found := VerdictOf(matcher, a.actual, message)
	if len(found.Findings) == 0 && !matched {
		panic(fmt.Sprintf("suites: %s cannot be matched: %s", r.Pair.Requirement, message))
	}
	if response, ok := a.actual.(Response); ok && matched && found.Assessed > 0 && response.Status/100 == 4 {
		r.api.Evidence.Refused(r.Pair, response.Status)
		return true
	}
	return r.judge(found, types.NewCodeLocation(1))
}

// ShortLocation returns the file below this repository and the line.
func ShortLocation(l types.CodeLocation) string {
	file := l.FileName
	if i := strings.LastIndex(file, "/suites/"); i >= 0 {
		file = file[i+1:]
	}
	return fmt.Sprintf("%s:%d", file, l.LineNumber)
}

// Finding is one violation, and the response that shows it.
type Finding struct {
	Response                  Response
	Pointer, Expected, Actual string
}

// Found returns a finding.
func Found(r Response, pointer, expected, actual string) Finding {
	return Finding{Response: r, Pointer: pointer, Expected: expected, Actual: actual}
}

// Verdict is what a matcher found out about a value.
type Verdict struct {
	Assessed int       // how often the value was put to the test
	Findings []Finding // what breaks the expectation, maxFindings at most
	More     int       // how many findings there are beyond these
	Missing  string    // what would have put it to the test; "" for nothing
}

// maxFindings is how many findings a verdict holds.
const maxFindings = 200

// Add adds findings.
func (v *Verdict) Add(findings ...Finding) {
	fits := min(len(findings), maxFindings-len(v.Findings))
	v.Findings = append(v.Findings, findings[:fits]...)
	v.More += len(findings) - fits
}

// Comparison returns the verdict on a comparison that found these differences.
func Comparison(found ...Finding) Verdict {
	v := Verdict{Assessed: 1}
	v.Add(found...)
	return v
}

// VerdictOf asks one of our matchers for its verdict. A matcher of Gomega's own
// says yes or no; its message is the expectation then.
func VerdictOf(matcher gomegatypes.GomegaMatcher, actual any, message string) Verdict {
	if ours, ok := matcher.(interface{ Verdict() Verdict }); ok {
		return ours.Verdict()
	}
	if message == "" {
		return Verdict{Assessed: 1}
	}
	response, _ := actual.(Response)
	return Verdict{Assessed: 1, Findings: []Finding{{Response: response, Expected: judge.Clip(message), Actual: Readable(actual)}}}
}
