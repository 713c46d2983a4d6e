package suites

import (
	"context"
	"slices"
	"sync"

	"outreach.example/conformance/spec"
)

// Spec is one Ginkgo spec: what it judges, and how.
type Spec struct {
	Operation string // the operation under judgement; the spec's container
	Title     string // completes the sentence "the operation …"
	Pairs     []spec.Pair
	judge     func(*check)
}

// Name is unique among all specs.
func (s Spec) Name() string { return s.Operation + " " + s.Title }

// All returns every spec, in the order of the catalogue's groups.
func All() []Spec { return slices.Clone(all()) }

// all is made once: specs hold no state.
var all = sync.OnceValue(func() []Spec {
	return slices.Concat(
		shapes(),
		authentication(),
		scopes(),
		billing(),
		notFound(),
		pages(),
		placementTestPages(),
		filters(),
		reportFilters(),
		requests(),
		campaigns(),
		leads(),
		accounts(),
		placementTests(),
		placementTestFields(),
		deletions(),
		webhookEvents(),
		isolation(),
		rateLimits(),
		observations(),
	)
})

// alone names what the spec must not share with another that names the same;
// specs of one name run one after the other. It is empty for most. An account
// can be moved by one spec at a time, and whoever drives a key to its limit must
// be alone with it.
func (s Spec) alone() string {
	switch {
	case s.Operation == spec.MoveAccounts:
		return "accounts"
	case slices.ContainsFunc(s.Pairs, func(p spec.Pair) bool { return p.Requirement == "RATE-429" || p.Requirement == "RATE-RESUMES" }):
		return "rate limit"
	}
	return ""
}

// Judging returns the specs that judge at least one of the wanted pairs and, if
// observing is asked for, those that only observe.
func Judging(wanted func(spec.Pair) bool, observing bool) []Spec {
	return slices.DeleteFunc(All(), func(s Spec) bool {
		if len(s.Pairs) == 0 {
			return !observing
		}
		return !slices.ContainsFunc(s.Pairs, wanted)
	})
}

// on returns the pairs of one operation with several requirements.
func on(op spec.Operation, requirements ...string) []spec.Pair {
	pairs := make([]spec.Pair, 0, len(requirements))
	for _, r := range requirements {
		pairs = append(pairs, spec.Pair{Requirement: r, Operation: op.ID})
	}
	return pairs
}

// bound returns the operations that the catalogue binds to the requirement.
func bound(requirement string) []spec.Operation {
	r, ok := spec.FindRequirement(requirement)
	if !ok {
		panic("suites: the catalogue has no requirement " + requirement)
	}
	operations := make([]spec.Operation, 0, len(r.Operations))
	for _, id := range r.Operations {
		operations = append(operations, spec.MustOperation(id))
	}
	return operations
}

// Judge runs one spec on its own, without Ginkgo: for those who run many
// targets at once. Findings go to the env's ledger; what it returns is empty
// if the spec saw no violation and no trouble. One spec at a time may be judged
// with one env.
func (s Spec) Judge(ctx context.Context, env *Env) string {
	defer env.sandbox().Close(ctx)
	return s.run(ctx, env)
}
