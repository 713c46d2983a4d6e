package infer

import (
	"fmt"
	"slices"
	"strings"

	"outreach.example/conformance/loadtest/infer/family"
	"outreach.example/conformance/reports/load"
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
func (p *prober) sharing() ([]load.Sharing, load.Answer) {
	shared := map[Subject]load.Answer{}
	var list []load.Sharing
	for _, other := range Others() {
		t := p.tally[other]
		shared[other] = p.shared(other)
		list = append(list, load.Sharing{Subject: string(other), Shared: shared[other], Refused: int64(t.refused), Sandwiches: int64(t.asked)})
	}
	return list, scope(shared, p.wire.Subjects)
}

// The values of load.Sharing.Shared.
const (
	Shared   = "shared"   // the other subject is refused when Main has exhausted the limit
	Separate = "separate" // it is not
)

func (p *prober) shared(other Subject) load.Answer {
	t := p.tally[other]
	control, asked := p.controls[other]
	times := fmt.Sprintf("%d of %d times while the main requests were refused", t.refused, t.asked)
	switch {
	case !slices.Contains(p.wire.Subjects, other):
		return load.Answer{Why: "not assessed: needs " + needs[other]}
	case !asked:
		return load.Answer{Why: "not probed: the limiter was not identified, or a budget ran out"}
	case control != family.Accepted:
		return load.Answer{Why: "refused or failed although the limiter was at rest"}
	case t.asked < leastCycles:
		return load.Answer{Why: fmt.Sprintf("only %d valid comparisons, because the main requests were not refused throughout; %d needed", t.asked,
			leastCycles)}
	case t.refused == 0:
		// With a shared counter, each could pass only by luck: one request in
		// five would take what had just become free.
		return load.Answer{Value: Separate, Confidence: sure, Why: "refused " + times}
	case t.refused*5 >= t.asked*3:
		return load.Answer{Value: Shared, Confidence: sure, Why: "refused " + times + ", but not at rest"}
	default:
		return load.Answer{OneOf: []string{Shared, Separate}, Why: "refused " + times}
	}
}

// scope returns the narrowest dimension of the counter. Subjects that cannot be
// sent leave it open without making it unknown.
func scope(shared map[Subject]load.Answer, sent []Subject) load.Answer {
	var parts []string
	var unknown caveats
	open := false
	for _, dimension := range []struct {
		subject Subject
		name    string
	}{{OtherKey, "key"}, {OtherOperation, "operation"}, {OtherMethod, "method"}, {OtherAddress, "address"}} {
		switch answer := shared[dimension.subject]; answer.Value {
		case Separate:
			// Another method is also another operation.
			if dimension.subject != OtherMethod || !slices.Contains(parts, "operation") {
				parts = append(parts, dimension.name)
			}
		case Shared:
		default:
			open = open || slices.Contains(sent, dimension.subject)
			unknown.add(dimension.name, answer.Why)
		}
	}
	known := func(value, why string) load.Answer {
		if len(unknown) > 0 {
			why += "; " + unknown.String()
		}
		return load.Answer{Value: value, Confidence: sure, Why: why}
	}
	workspace := shared[OtherWorkspace]
	switch {
	case open:
	case len(parts) > 0:
		return known(strings.Join(parts, "+"), "each has its own counter")
	case workspace.Value == Separate && shared[OtherKey].Value == Shared:
		return known("workspace", "shared by the keys of a workspace, not with another workspace")
	case workspace.Value == Shared:
		return known("all", "shared with another workspace")
	case workspace.Value == Separate:
		return load.Answer{OneOf: []string{"workspace", "key"}, Why: known("", "another workspace has its own counter").Why}
	default:
		unknown.add("workspace", workspace.Why)
	}
	return load.Answer{Why: unknown.String()}
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
