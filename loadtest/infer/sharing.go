package infer

import (
	"fmt"
	"strings"

	"outreach.example/conformance/loadtest/infer/family"
)

// tally counts sandwiches.
type tally struct{ asked, refused int }

// needs names what a target must have for a subject.
var needs = map[Subject]string{
	OtherKey:       "a second key of the same workspace",
	OtherWorkspace: "a key of another workspace",
	OtherOperation: "a second operation",
	OtherMethod:    "an operation with another method that may be called",
	OtherAddress:   "a second local address to send from",
}

// sharing says who shares the counter with Main, and what that makes its scope.
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
		return Answer{Why: "not assessed: it needs " + needs[other]}
	case !asked:
		return Answer{Why: "not asked: the limiter was not understood, or a budget was used up"}
	case control != family.Accepted:
		return Answer{Why: "it was refused or failed while nothing was used up"}
	case t.asked < leastCycles:
		return Answer{Why: fmt.Sprintf("only %d of the sandwiches stood: Main was let through meanwhile; %d are the least", t.asked, leastCycles)}
	case t.refused == 0:
		// Had it shared the counter, each could have passed by luck only, one
		// request in five taking what had just become free.
		return Answer{Value: Separate, Confidence: sure, Why: fmt.Sprintf("it passed in %d of %d, each amid refusals of Main", t.asked, t.asked)}
	case t.refused*5 >= t.asked*3:
		return Answer{Value: Shared, Confidence: sure, Why: fmt.Sprintf("it was refused in %d of %d, each amid refusals of Main, and not at rest", t.refused, t.asked)}
	default:
		return Answer{OneOf: []string{Shared, Separate}, Why: fmt.Sprintf("it was refused in %d of %d", t.refused, t.asked)}
	}
}

// scope names the narrowest thing that is counted by.
func scope(by map[Subject]Sharing) Answer {
	is := func(s Subject, value string) bool { return by[s].Shared.Value == value }
	var parts, open []string
	var untold caveats
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
			untold.add(dimension.name, answer.Why)
		default:
			open = append(open, dimension.name)
			untold.add(dimension.name, answer.Why)
		}
	}
	caveat := ""
	if len(untold) > 0 {
		caveat = "; " + untold.String()
	}
	// Another method is another operation as well.
	if len(parts) == 2 && parts[0] == "operation" && parts[1] == "method" {
		parts = parts[:1]
	}
	if len(open) > 0 {
		return Answer{Why: untold.String()}
	}
	switch {
	case len(parts) > 0:
		a := Answer{Value: parts[0], Confidence: sure, Why: "counted apart by it" + caveat}
		for _, more := range parts[1:] {
			a.Value += "+" + more
		}
		return a
	case is(OtherWorkspace, Separate) && is(OtherKey, Shared):
		return Answer{Value: "workspace", Confidence: sure, Why: "shared by the keys of a workspace, not by another workspace" + caveat}
	case is(OtherWorkspace, Shared):
		return Answer{Value: "all", Confidence: sure, Why: "shared with another workspace" + caveat}
	case is(OtherWorkspace, Separate):
		return Answer{OneOf: []string{"workspace", "key"}, Why: "another workspace is counted apart" + caveat}
	default:
		untold.add("workspace", by[OtherWorkspace].Shared.Why)
		return Answer{Why: untold.String()}
	}
}

// caveats are the dimensions of a scope that could not be told, by the reason,
// which many of them share.
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
		said = append(said, "by "+strings.Join(one.names, ", ")+": "+one.why)
	}
	return strings.Join(said, "; ")
}
