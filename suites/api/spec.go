package api

import (
	"fmt"
	"slices"

	"github.com/onsi/ginkgo/v2"

	"outreach.example/conformance/internal/judge"
	"outreach.example/conformance/spec"
)

// Spec is one Ginkgo spec of the tree.
type Spec struct {
	Operation string // the operation that it is about; the text of its container
	Title     string // completes the sentence "the operation …"
	Pairs     []spec.Pair
	Location  string // file and line of the It

	Alone []string // what no other spec may use at the same time, sorted
	Outer bool     // begins before the other specs that use the same, and ends after them
	Takes int      // expendable subsequences
	Needs []Need   // of the target profile, beside what a valid request of the operation needs
	Order int      // among the specs of the tree
	Looks bool     // leaves it to other specs to put its pairs to the test
	Shape bool     // makes the operation show all that it can
	Rule  bool     // judged at the end, on the responses to all specs
	Body  func(ginkgo.SpecContext, *API)
}

// Name is unique among all specs.
func (s Spec) Name() string { return s.Operation + " " + s.Title }

func (s Spec) Declares(p spec.Pair) bool { return slices.Contains(s.Pairs, p) }

// Labels name the operation of the spec, its groups and profiles, and its requirement if it has
// only one, so that Ginkgo's filters find it by them. They stand above each failure that Ginkgo
// prints.
func (s Spec) Labels() ginkgo.Labels {
	var groups, profiles, requirements ginkgo.Labels
	add := func(to *ginkgo.Labels, kind, name string) {
		if label := kind + ":" + name; !slices.Contains(*to, label) {
			*to = append(*to, label)
		}
	}
	for _, p := range s.Pairs {
		r, _ := spec.FindRequirement(p.Requirement)
		add(&groups, "group", string(r.Group))
		add(&profiles, "profile", string(r.Profile))
		add(&requirements, "requirement", r.ID)
	}
	switch {
	case len(s.Pairs) == 0:
		requirements = ginkgo.Labels{"observation"}
	case len(requirements) > 1:
		requirements = nil
	}
	return slices.Concat(ginkgo.Labels{"operation:" + s.Operation}, groups, profiles, requirements)
}

// The decorators of a spec. They go where Ginkgo's own do, after the title.

type requirements struct{ ids []spec.ID }

// Requires says which requirements the spec judges on the operation of its
// container. The spec fails for these and for no others.
func Requires(ids ...spec.ID) any { return requirements{ids} }

// Rules is Requires for what the rules see in every response. Such a spec only
// has to send requests. It runs last, and fails if any response of the run breaks
// one of the rules, to whichever spec.
func Rules(ids ...spec.ID) any { return []any{requirements{ids}, rule{}} }

type rule struct{}

// RulesOfTheOperation is Rules for all rules on the shape of the operation.
type RulesOfTheOperation struct{}

// alsoOn says that the spec judges its requirements on more operations.
type alsoOn struct{ operations []string }

// AlsoOn says that the spec judges its requirements on more operations.
func AlsoOn(operations ...string) any { return alsoOn{operations} }

// alsoJudges says that the spec judges one more requirement, on all operations of that
// requirement.
type alsoJudges struct{ id spec.ID }

// AlsoJudges says that the spec judges one more requirement, on all operations of that
// requirement.
func AlsoJudges(id spec.ID) any { return alsoJudges{id} }

type needs struct{ all []Need }

// Needs says which inputs of the target profile the spec needs, beside what a valid request of
// its operation needs. A request of the operation among them takes its place.
func Needs(all ...Need) any { return needs{all} }

type oneAtATime struct{ what string }

// OneAtATime says that no other spec may use the same thing at the same time.
func OneAtATime(what string) any { return oneAtATime{what} }

type aroundTheOthers struct{}

// AroundTheOthers says that the spec begins before the other specs that use the same thing
// one at a time, and ends after them: its body lets the others run in between.
func AroundTheOthers() any { return []any{aroundTheOthers{}, ginkgo.SpecPriority(-1)} }

// OthersAssess says that other specs put the pairs to the test: the spec only looks for more
// violations.
type OthersAssess struct{}

type expends struct {
	operation string
	n         int
}

// Expends says that the spec takes up to n subsequences that the profile lets the run delete, if
// it is in the container of the operation.
func Expends(operation string, n int) any { return expends{operation, n} }

// Decorate takes our decorators out of the arguments of an It in the container of
// the operation. It reports false if the It has no body of ours.
func Decorate(operation, title string, args []any) (s Spec, rest []any, ours bool, errs []error) {
	s = Spec{Operation: operation, Title: title}
	var ids []spec.ID
	operations := []string{operation}
	var more []spec.Pair
	for _, arg := range args {
		switch arg := arg.(type) {
		case requirements:
			ids = append(ids, arg.ids...)
		case rule:
			s.Rule = true
		case RulesOfTheOperation:
			s.Rule, s.Shape = true, true
			ids = append(ids, shapeRequirements(operation)...)
		case alsoOn:
			operations = append(operations, arg.operations...)
		case alsoJudges:
			for _, op := range arg.id.Operations() {
				more = append(more, arg.id.On(op.ID))
			}
		case needs:
			s.Needs = append(s.Needs, arg.all...)
		case oneAtATime:
			s.Alone = append(s.Alone, arg.what)
		case aroundTheOthers:
			s.Outer = true
		case OthersAssess:
			s.Looks = true
		case expends:
			if arg.operation == operation {
				s.Takes = arg.n
			}
		case func(*API):
			s.Body = func(_ ginkgo.SpecContext, api *API) { arg(api) }
		case func(ginkgo.SpecContext, *API):
			s.Body = arg
		default:
			rest = append(rest, arg)
		}
	}
	if s.Body == nil {
		return s, args, false, nil
	}
	if _, ok := spec.FindOperation(operation); !ok {
		return s, nil, true, []error{fmt.Errorf("%q: the container's text is no operation: %q", title, operation)}
	}
	for _, op := range operations {
		for _, id := range ids {
			s.Pairs = append(s.Pairs, id.On(op))
		}
	}
	s.Pairs = append(s.Pairs, more...)
	for _, p := range s.Pairs {
		if !spec.Has(p) {
			errs = append(errs, fmt.Errorf("%q: the catalogue does not bind %s to %s", title, p.Requirement, p.Operation))
		}
	}
	if operation == spec.MoveAccounts {
		s.Alone = append(s.Alone, "accounts") // an account can be moved by one spec at a time
	}
	if slices.Sort(s.Alone); len(s.Alone) > 0 {
		rest = append(rest, ginkgo.Serial)
	}
	if s.Rule {
		rest = append(rest, ginkgo.SpecPriority(-1))
	}
	return s, append(rest, s.Labels()), true, errs
}

// shapeRequirements are those that the rules judge on every response of the
// operation, apart from error bodies and owners.
func shapeRequirements(operation string) []spec.ID {
	var ids []spec.ID
	for _, r := range spec.Requirements() {
		if spec.Has(spec.ID(r.ID).On(operation)) && judge.SeenByRules(r.ID) && r.ID != string(spec.Served) && r.Group != spec.GroupErrors && r.Group != spec.GroupIsolation {
			ids = append(ids, spec.ID(r.ID))
		}
	}
	return ids
}
