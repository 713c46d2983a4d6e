package preflight

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/fixtures/standin"
	"outreach.example/conformance/fixtures/target"
	"outreach.example/conformance/reports"
	"outreach.example/conformance/spec"
	"outreach.example/conformance/suites/runner"
)

// Coverage tells of one group of requirements how much a run with the profile
// can assess, as far as that is for the profile to say: what the target's data
// do not show comes on top.
type Coverage struct {
	Group      spec.Group
	Pairs      int // requirements × operations
	Assessable int
	Missing    []Missing // the most often missing first
}

// Missing is an input that the profile lacks.
type Missing struct {
	Input string
	Pairs int // that are not assessed for want of it
}

// standinAddress is where no server is: the stand-in's transport takes its place.
const standinAddress = "http://standin.invalid"

// Assessable rehearses a run with the profile on a stand-in, without a network.
// The specs themselves say what they lack; what they would lack with the
// reference server's profile too is the stand-in's doing and not the profile's. It must not
// run beside another run in the process.
func Assessable(ctx context.Context, profile *profile.Profile) ([]Coverage, error) {
	with, err := rehearse(ctx, profile)
	if err != nil {
		return nil, err
	}
	best, err := atBest()
	if err != nil {
		return nil, err
	}
	var all []Coverage
	for _, g := range spec.Groups() {
		all = append(all, cover(g, with, best))
	}
	return all, ctx.Err()
}

// atBest is the rehearsal with a profile that lacks nothing. It is the same every time.
var atBest = sync.OnceValues(func() (map[spec.Pair][]string, error) {
	return rehearse(context.Background(), profile.Embedded())
})

// rehearse returns the inputs that each pair lacks on the stand-in.
func rehearse(ctx context.Context, given *profile.Profile) (map[spec.Pair][]string, error) {
	transport, err := standin.Transport()
	if err != nil {
		return nil, err
	}
	p := *given
	p.Pace = profile.Pace{Concurrency: profile.DefaultConcurrency, Timeout: profile.DefaultTimeout}
	p.Container, p.TLS, p.Budget, p.ExpectedFailures = nil, nil, 0, nil
	p.Stateless = true // else the ids that the profile names would have to be in the stand-in's lists
	if p.RateLimit != nil {
		limit := *p.RateLimit
		limit.Requests, limit.Per, limit.Budget = 0, 0, 1
		p.RateLimit = &limit
	}
	if p.Mint != nil { // no key is made for a rehearsal
		p = *p.WithMint(func(role, scope string) (string, error) { return rehearsalToken + role + "-" + scope, nil })
	}
	t, err := target.URL(&p, standinAddress)
	if err != nil {
		return nil, err
	}
	results, err := runner.Run(ctx, runner.Config{Target: t, Seed: 1, Transport: refusals(transport, p.Keys)})
	if err != nil {
		return nil, fmt.Errorf("the rehearsal: %w", err)
	}
	lacking := map[spec.Pair][]string{}
	for _, c := range results.Checks {
		if c.Outcome == reports.NotAssessed {
			lacking[spec.Pair{Requirement: c.Requirement, Operation: c.Operation}] = c.Missing
		}
	}
	return lacking, nil
}

func cover(g spec.Group, with, best map[spec.Pair][]string) Coverage {
	c := Coverage{Group: g}
	counts := map[string]int{}
	for _, p := range spec.Pairs() {
		if r, _ := spec.FindRequirement(p.Requirement); r.Group != g {
			continue
		}
		c.Pairs++
		lacks := slices.DeleteFunc(slices.Clone(with[p]), func(input string) bool { return slices.Contains(best[p], input) })
		if len(lacks) == 0 {
			c.Assessable++
			continue
		}
		counts[lacks[0]]++
	}
	for input, n := range counts {
		c.Missing = append(c.Missing, Missing{input, n})
	}
	slices.SortFunc(c.Missing, func(a, b Missing) int {
		if a.Pairs != b.Pairs {
			return b.Pairs - a.Pairs
		}
		return slices.Compare([]string{a.Input}, []string{b.Input})
	})
	return c
}
