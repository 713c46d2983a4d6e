package load

import (
	"fmt"
	"maps"
	"math"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"outreach.example/conformance/reports"
	"outreach.example/conformance/reports/internal/strict"
)

var (
	namePattern      = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)
	idPattern        = regexp.MustCompile(`^[A-Z0-9]+([-_.][A-Z0-9]+)*$`)
	operationPattern = regexp.MustCompile(`^[a-z0-9]+([-.][a-z0-9]+)*$`)
	pointerPattern   = regexp.MustCompile(`^($|/|header:.|status$)`)
	statusPattern    = regexp.MustCompile(`^([0-9]{3}|none)$`)
)

// Validate returns an error for each place where r breaks the rules of the model, with
// a JSON pointer. Examples are values outside their sets, NaN, counts that do not add
// up, a value outside its bounds, a verdict without a reason and a pass without a
// request. The JSON Schema has the same rules for single values.
func (r Results) Validate() error {
	var p strict.Problems
	validateNumbers(&p, r)
	p.Unless(r.Version == ModelVersion, "/version", "%q is not %q", r.Version, ModelVersion)
	p.Unless(r.Tool.Name != "", "/tool/name", "empty")
	validateTarget(&p, r.Target, "/target")
	p.Unless(r.Run.ID != "", "/run/id", "empty")
	if s := r.Run.Shard; s != nil {
		p.Unless(1 <= s.Index && s.Index <= s.Of, "/run/shard", "there is no shard %d of %d", s.Index, s.Of)
	}
	r.validateVerdict(&p)
	for i, s := range r.Scenarios {
		s.validate(&p, fmt.Sprintf("/scenarios/%d", i))
	}
	if r.Comparison != nil {
		r.Comparison.validate(&p, "/comparison")
	}
	validateCounts(&p, r.Traffic.Statuses, "/traffic/statuses", statusPattern)
	p.Unless(r.Traffic.Planned == r.Traffic.Sent+r.Traffic.Dropped, "/traffic/planned", "%d planned, but %d sent and %d dropped", r.Traffic.Planned, r.Traffic.Sent, r.Traffic.Dropped)
	p.Unless(sum(r.Traffic.Statuses) == r.Traffic.Sent, "/traffic/statuses", "%d in all, but %d were sent", sum(r.Traffic.Statuses), r.Traffic.Sent)
	p.Unless(r.Traffic.Late <= r.Traffic.Sent, "/traffic/late", "%d late of %d sent", r.Traffic.Late, r.Traffic.Sent)
	return p.Err()
}

func (r Results) validateVerdict(p *strict.Problems) {
	validateReasons(p, r.Verdict, r.Reasons, "")
	if r.Verdict != reports.Passed {
		return
	}
	p.Unless(!r.Run.Interrupted, "/verdict", "an interrupted run cannot pass")
	p.Unless(len(r.Scenarios) > 0, "/scenarios", "%s without a scenario", reports.Passed)
	probed := slices.ContainsFunc(r.Scenarios, func(s Scenario) bool { return s.Requests != nil && s.Requests.Total > 0 })
	p.Unless(r.Traffic.Sent > 0 || probed, "/traffic/sent", "%s without a request", reports.Passed)
	for i, s := range r.Scenarios {
		p.Unless(s.Verdict == reports.Passed || len(s.Missing) > 0, "/verdict", "%s, but /scenarios/%d is %s", reports.Passed, i, s.Verdict)
	}
}

// validateReasons checks a verdict and its reasons.
func validateReasons(p *strict.Problems, v reports.Verdict, reasons []string, at string) {
	oneOf(p, v, at+"/verdict", reports.Verdicts()...)
	p.Unless((v == reports.Passed) == (len(reasons) == 0), at+"/reasons", "%s with %d reasons: all verdicts except %s need one", v, len(reasons), reports.Passed)
	for i, reason := range reasons {
		p.Unless(reason != "", fmt.Sprintf("%s/reasons/%d", at, i), "empty")
	}
}

func validateTarget(p *strict.Problems, t reports.Target, at string) {
	oneOf(p, t.Kind, at+"/kind", "embedded", "url", "image", "dockerfile")
}

func (c Comparison) validate(p *strict.Problems, at string) {
	validateTarget(p, c.A, at+"/a")
	validateTarget(p, c.B, at+"/b")
	p.Unless(c.Pairs >= 1, at+"/pairs", "%d pairs, want at least 1", c.Pairs)
	a, b := strings.Count(c.Order, "A"), strings.Count(c.Order, "B")
	p.Unless(a == c.Pairs && b == c.Pairs && len(c.Order) == a+b, at+"/order", "%q does not hold A and B %d times each", c.Order, c.Pairs)
	p.Unless(c.Level >= 0 && c.Level < 1, at+"/level", "%v, want at least 0 and less than 1", c.Level)
	for i, f := range c.Figures {
		at := fmt.Sprintf("%s/figures/%d", at, i)
		p.Unless(f.Name != "", at+"/name", "empty")
		oneOf(p, f.Verdict, at+"/verdict", NoDifference, Better, Worse, EffectNotKnown)
		told := f.Verdict != EffectNotKnown
		p.Unless(told || f.Why != "", at+"/why", "empty: want the reason")
		p.Unless(!told || f.A != nil && f.B != nil && f.P > 0, at, "a verdict needs a, b and p")
		validateEstimate(p, f.Difference, at+"/difference")
		p.Unless(f.RatioLow <= f.Ratio && f.Ratio <= f.RatioHigh, at+"/ratio", "%v is not within %v and %v", f.Ratio, f.RatioLow, f.RatioHigh)
	}
}

// validateCounts checks the keys of a map of counts.
func validateCounts(p *strict.Problems, counts map[string]int64, at string, name *regexp.Regexp) {
	for _, key := range slices.Sorted(maps.Keys(counts)) {
		p.Unless(name.MatchString(key), at, "unexpected key %q", key)
	}
}

// oneOf adds a problem if the value is not in the set.
func oneOf[T ~string](p *strict.Problems, value T, at string, set ...T) {
	p.Unless(slices.Contains(set, value), at, "%q, want one of %v", value, set)
}

func sum(counts map[string]int64) int64 {
	var all int64
	for _, n := range counts {
		all += n
	}
	return all
}

// signed are the fields of the JSON form with numbers that can be negative.
var signed = []string{"seed", "per_minute", "difference", "measured"} // an improvement is a change below 0

// shares are the fields with numbers between 0 and 1.
var shares = []string{"share", "error_share", "confidence", "p"}

// validateNumbers adds a problem for each number of r that is NaN or infinite, for each
// negative number outside the signed fields, and for each share above 1.
func validateNumbers(p *strict.Problems, r Results) { numbers(p, reflect.ValueOf(r), "", false) }

func numbers(p *strict.Problems, v reflect.Value, at string, negative bool) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			name, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ",")
			if name == "" {
				continue // inside a time.Time
			}
			below := at + "/" + name
			numbers(p, v.Field(i), below, negative || slices.Contains(signed, name))
			if slices.Contains(shares, name) {
				p.Unless(v.Field(i).Float() <= 1, below, "%v is a share above 1", v.Field(i).Float())
			}
		}
	case reflect.Pointer:
		if !v.IsNil() {
			numbers(p, v.Elem(), at, negative)
		}
	case reflect.Slice:
		for i := range v.Len() {
			numbers(p, v.Index(i), fmt.Sprintf("%s/%d", at, i), negative)
		}
	case reflect.Map:
		keys := v.MapKeys()
		slices.SortFunc(keys, func(a, b reflect.Value) int { return strings.Compare(a.String(), b.String()) })
		for _, key := range keys {
			numbers(p, v.MapIndex(key), strict.Below(at, key.String()), negative)
		}
	case reflect.Int, reflect.Int64:
		p.Unless(negative || v.Int() >= 0, at, "%d is negative", v.Int())
	case reflect.Float64:
		f := v.Float()
		if math.IsNaN(f) || math.IsInf(f, 0) {
			p.Unless(false, at, "%v is not a number", f)
			return
		}
		p.Unless(negative || f >= 0, at, "%v is negative", f)
	}
}
