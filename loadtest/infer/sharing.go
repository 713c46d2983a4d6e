package infer

import (
	"fmt"
	"strings"

	"outreach.example/conformance/loadtest/infer/family"
)

// tally counts valid comparisons of a subject with Main.
type tally struct{ asked, refused int }

// needs names what a target needs for a subject, and the entry of the profile that holds it.
var needs = map[Subject]string{
	OtherKey:       "a second key of the same workspace (under keys in the profile, with the workspace of rate_limit.key and the scope all:read)",
	OtherWorkspace: "a key of another workspace (under keys in the profile, with the workspace main, second or admin and the scope all:all)",
	OtherOperation: "a second operation",
	OtherMethod:    "an operation with another method that may be called",
	OtherAddress:   "a second local address to send from",
}

// sharing returns which subjects share the counter with Main, and the resulting
// scope.
func (s *search) sharing() ([]Sharing, Answer) {
	shared := map[Subject]Sharing{}
	var list []Sharing
	for _, other := range Others() {
		t := s.tally[other]
		sharing := Sharing{Subject: other, Refused: t.refused, Sandwiches: t.asked}
		sharing.Shared, sharing.missing = s.shared(other, t), !s.wire.has(other)
		shared[other] = sharing
		list = append(list, sharing)
	}
	return list, scope(shared)
}

func (s *search) shared(other Subject, t tally) Answer {
	control, asked := s.controls[other]
	switch {
	case !s.wire.has(other):
		return Answer{Why: "not assessed: needs " + needs[other]}
	case !asked:
		return Answer{Why: "not probed: the limiter was not identified, or a budget ran out"}
	case control != family.Accepted:
		return Answer{Why: "refused or failed although the limiter was at rest"}
	case t.asked < leastCycles:
		return Answer{Why: fmt.Sprintf("only %d valid comparisons, because the main requests were not refused throughout; %d needed", t.asked,
			leastCycles)}
	case t.refused == 0:
		// With a shared counter, each could pass only by luck: one request in
		// five would take what had just become free.
		return Answer{Value: Separate, Confidence: sure,
			Why: fmt.Sprintf("accepted %d of %d times while the main requests were refused", t.asked, t.asked)}
	case t.refused*5 >= t.asked*3:
		return Answer{Value: Shared, Confidence: sure,
			Why: fmt.Sprintf("refused %d of %d times while the main requests were refused, but not at rest", t.refused, t.asked)}
	default:
		return Answer{OneOf: []string{Shared, Separate}, Why: fmt.Sprintf("refused %d of %d times", t.refused, t.asked)}
	}
}

// scope returns the narrowest dimension of the counter.
func scope(by map[Subject]Sharing) Answer {
	is := func(s Subject, value string) bool { return by[s].Shared.Value == value }
	var parts, open []string
	var unknown caveats
	for _, dimension := range []struct {
		subject Subject
		name    string
	}{{OtherKey, "key"}, {OtherOperation, "operation"}, {OtherMethod, "method"}, {OtherAddress, "address"}} {
		answer := by[dimension.subject].Shared
		switch {
		case answer.Value == Separate:
			parts = append(parts, dimension.name)
		case answer.Value == Shared:
		case by[dimension.subject].missing:
			unknown.add(dimension.name, answer.Why)
		default:
			open = append(open, dimension.name)
			unknown.add(dimension.name, answer.Why)
		}
	}
	caveat := ""
	if len(unknown) > 0 {
		caveat = "; " + unknown.String()
	}
	// Another method is also another operation.
	if len(parts) == 2 && parts[0] == "operation" && parts[1] == "method" {
		parts = parts[:1]
	}
	if len(open) > 0 {
		return Answer{Why: unknown.String()}
	}
	switch {
	case len(parts) > 0:
		a := Answer{Value: parts[0], Confidence: sure, Why: "each has its own counter" + caveat}
		for _, more := range parts[1:] {
			a.Value += "+" + more
		}
		return a
	case is(OtherWorkspace, Separate) && is(OtherKey, Shared):
		return Answer{Value: "workspace", Confidence: sure, Why: "shared by the keys of a workspace, not with another workspace" + caveat}
	case is(OtherWorkspace, Shared):
		return Answer{Value: "all", Confidence: sure, Why: "shared with another workspace" + caveat}
	case is(OtherWorkspace, Separate):
		return Answer{OneOf: []string{"workspace", "key"}, Why: "another workspace has its own counter" + caveat}
	default:
		unknown.add("workspace", by[OtherWorkspace].Shared.Why)
		return Answer{Why: unknown.String()}
	}
}

// caveats groups the undetermined dimensions of a scope by reason, because many
// share one.
type caveats []caveat

type caveat struct {
	names []string
	why   string
}

func (c *caveats) add(name, why string) {
	for i := range *c {
		if (*c)[i].why == why {
			(*c)[i].names = append((*c)[i].names, name)
			return
		}
	}
	*c = append(*c, caveat{[]string{name}, why})
}

func (c caveats) String() string {
	var said []string
	for _, one := range c {
		said = append(said, "per "+strings.Join(one.names, ", ")+": "+one.why)
	}
	return strings.Join(said, "; ")
}
