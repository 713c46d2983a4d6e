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
	times := fmt.Sprintf("refused %d of %d times while the main requests were refused", t.refused, t.asked)
	switch {
	case !slices.Contains(p.wire.Subjects, other):
		return unknown("not assessed: needs %s", needs[other])
	case !asked:
		return unknown("not probed: the limiter was not identified, or a budget ran out")
	case control != family.Accepted:
		return unknown("refused or failed although the limiter was at rest")
	case t.asked < leastCycles:
		return unknown("only %d valid comparisons, because the main requests were not refused throughout; %d needed", t.asked, leastCycles)
	case t.refused == 0:
		// With a shared counter, each could pass only by luck: one request in
		// five would take what had just become free.
		return known(Separate, sure, "%s", times)
	case t.refused*5 >= t.asked*3:
		return known(Shared, sure, "%s, but not at rest", times)
	default:
		return load.Answer{OneOf: []string{Shared, Separate}, Why: times}
	}
}

// scope returns the narrowest dimension of the counter. Subjects that cannot be
// sent leave it open without making it unknown.
func scope(shared map[Subject]load.Answer, sent []Subject) load.Answer {
	var parts, whys []string
	untold := map[string][]string{} // the undetermined dimensions by reason, because many share one
	doubt := func(name, why string) {
		if untold[why] == nil {
			whys = append(whys, why)
		}
		untold[why] = append(untold[why], name)
	}
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
			doubt(dimension.name, answer.Why)
		}
	}
	workspace := shared[OtherWorkspace]
	answer := load.Answer{Confidence: sure}
	switch {
	case open:
		answer = load.Answer{}
	case len(parts) > 0:
		answer.Value, answer.Why = strings.Join(parts, "+"), "each has its own counter"
	case workspace.Value == Separate && shared[OtherKey].Value == Shared:
		answer.Value, answer.Why = "workspace", "shared by the keys of a workspace, not with another workspace"
	case workspace.Value == Shared:
		answer.Value, answer.Why = "all", "shared with another workspace"
	case workspace.Value == Separate:
		answer = load.Answer{OneOf: []string{"workspace", "key"}, Why: "another workspace has its own counter"}
	default:
		answer = load.Answer{}
		doubt("workspace", workspace.Why)
	}
	var said []string
	if answer.Why != "" {
		said = append(said, answer.Why)
	}
	for _, why := range whys {
		said = append(said, "per "+strings.Join(untold[why], ", ")+": "+why)
	}
	answer.Why = strings.Join(said, "; ")
	return answer
}
