package explore

import (
	"math/rand/v2"
	"slices"

	"outreach.example/conformance/internal/oracle"
	"outreach.example/conformance/spec"
	"outreach.example/conformance/suites"
)

// An exploration begins with cases that differ in one respect from the plainest ones: each
// size of pages, each limit out of range, each filter by itself. Random ones seldom do.

// telling returns these cases: the few sequences, the many queries, and then a creation
// with each value of each field, each in random order.
func (e *explorer) telling() []Case {
	var sequences, queries, values []Case
	for _, steps := range e.scope().Telling() {
		sequences = append(sequences, Case{Steps: steps})
	}
	if spending := e.scope().Spending(); spending != nil {
		sequences = append(sequences, Case{Steps: spending})
	}
	for _, steps := range e.scope().EachValue() {
		values = append(values, Case{Steps: steps})
	}
	for _, w := range e.wholes {
		if w.role == roles[0] {
			queries = append(queries, e.tellingOf(w)...)
		}
	}
	rng := rand.New(rand.NewPCG(e.Seed, 0))
	for _, cases := range [][]Case{sequences, queries, values} {
		rng.Shuffle(len(cases), func(i, j int) { cases[i], cases[j] = cases[j], cases[i] })
	}
	return slices.Concat(sequences, queries, values)
}

// nextOpening returns the next case of the opening.
func (e *explorer) nextOpening() (Case, bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(e.opening) == 0 {
		return Case{}, false
	}
	next := e.opening[0]
	e.opening = e.opening[1:]
	return next, true
}

// Sizes of pages. Small ones have many boundaries.
const (
	smallPage   = 4
	filteredUse = 3  // uses of a filter beside something else
	everyValue  = 16 // uses of a filter by itself: each value, each kind of sign in a text
)

// usualPages are sizes that clients ask for. A server may treat one of them in its own way.
var usualPages = []int{5, 7, 10, 15, 20, 25, 30, 50}

// tellingOf returns the cases of one list.
func (e *explorer) tellingOf(w *whole) []Case {
	known := func(parameter string) bool {
		_, ok := e.Env.Profile.Parameter(w.operation.ID, parameter)
		return ok
	}
	list := w.now()
	queries := []oracle.Query{
		{Sizes: []int{0}, Pages: oracle.WholeWalk}, {Sizes: []int{1}, Pages: 2}, {Sizes: []int{99}, Pages: 1}, {Sizes: []int{100}, Pages: oracle.WholeWalk},
		{Sizes: []int{smallPage}, Pages: oracle.WholeWalk},
	}
	for _, size := range usualPages {
		queries = append(queries, oracle.Query{Sizes: []int{size}, Pages: oracle.WholeWalk})
	}
	for _, parameters := range suites.DocumentedQueries(e.Env.Profile, w.operation.ID) {
		queries = append(queries, oracle.Query{Parameters: parameters, Sizes: []int{100}, Pages: 1})
	}
	queries = append(queries, list.Fixed(known, filteredUse)...)
	var alone []map[string]string
	for _, f := range oracle.Filters(w.operation.ID) {
		if known(f.Key) {
			for _, use := range list.Flagged(f, filteredUse, known) {
				queries = append(queries, use.BeyondFirst(list.Rows))
			}
			for _, use := range list.Beside(f, filteredUse, known) {
				alone = append(alone, use.Query)
			}
			for _, use := range f.Uses(list.Rows, everyValue) {
				alone = append(alone, use.Query)
			}
		}
	}
	alone = append(alone, list.Flags(known)...)
	for _, parameters := range alone {
		queries = append(queries, oracle.Query{Parameters: parameters, Sizes: []int{100}, Pages: oracle.WholeWalk},
			oracle.Query{Parameters: parameters, Sizes: []int{smallPage}, Pages: oracle.WholeWalk})
	}
	var cases []Case
	add := func(l List) {
		l.Operation, l.Role, l.Key = w.operation.ID, w.role, w.keys[0].Name
		cases = append(cases, Case{List: &l})
	}
	for _, query := range queries {
		add(List{Query: query})
	}
	for _, limit := range outOfRange {
		add(List{Query: oracle.Query{Sizes: []int{0}, Pages: 1}, Limit: limit})
	}
	if w.operation.ID == spec.ListPlacementTests && e.Selects(spec.GetPlacementTest) {
		for i, row := range slices.Backward(list.Rows) {
			if len(list.Rows)-i > filteredUse {
				break
			}
			cases = append(cases, Case{Get: &Get{Role: w.role, ID: idOf(row.Value)}})
		}
	}
	return cases
}
