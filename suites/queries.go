package suites

import (
	. "github.com/onsi/ginkgo/v2"
	"github.com/onsi/gomega"

	"outreach.example/conformance/internal/oracle"
	"outreach.example/conformance/spec"

	. "outreach.example/conformance/suites/api"
)

// queries sends generated queries to every paged list: filters, flags, sort order and
// page sizes in any combination. A walk of the whole list predicts the responses
// (package oracle). The command explore sends many more.
func queries() {
	for _, op := range spec.ListSameValues.Operations() {
		Describe(op.ID, func() {
			It("answers every query as the whole list predicts", Requires(oracle.Requirements(op.ID)...),
				Needs(Cursor(op.ID), severalFilters(op, 2, noQueries).For(spec.FilterCombined)), answersAsPredicted)
		})
	}
}

// noQueries is what is missing if no query puts a requirement to the test.
const noQueries = "queries of %s that put it to the test"

func answersAsPredicted(api *API) {
	const random, perPair = 5, 2 // queries beside those with each pair of filters
	list := api.Request()
	rows := Shared(api, list).Rows()
	if len(rows) < 2 {
		api.NotAssessed("at least two rows in %s", list.Operation.ID)
	}
	queries := oracle.List{Operation: list.Operation, Rows: rows}.Fixed(Named(api, list.Operation.ID), perPair)
	for range random {
		queries = append(queries, Generate(api, list.Operation, rows))
	}
	var differ []oracle.Query
	for _, a := range askAll(api, list, queries, Shared) {
		if len(a.Mismatches) > 0 {
			differ = append(differ, a.Query)
		} else {
			a.judge(api)
		}
	}
	if len(differ) > 0 { // again: a new row may show later in one view than in another
		var again []answer
		api.Eventually(func() int {
			again = askAll(api, list, differ, (*API).Read)
			mismatches := 0
			for _, a := range again {
				mismatches += len(a.Mismatches)
			}
			return mismatches
		}).Should(gomega.BeZero())
		for _, a := range again {
			a.judge(api)
		}
	}
	for _, id := range oracle.Requirements(list.Operation.ID) {
		if !api.For(id).Judged() {
			api.For(id).Missing(noQueries, list.Operation.ID)
		}
	}
}

// answer is a walk that answers a query, compared with what the whole list predicts.
type answer struct {
	Asked
	oracle.Comparison
}

// askAll sends the queries between two reads of the whole list.
func askAll(api *API, list Call, queries []oracle.Query, read func(*API, Call) Walk) []answer {
	before := Settled(api, read(api, list)) // other specs create rows meanwhile
	asking := list
	if before.IsDoubtful() { // values from its rows may be invalid
		asking = list.MayBeRefused()
	}
	asked := Each(api, queries, func(q oracle.Query) Asked { return Ask(api, asking, q) })
	predicted := oracle.Between(list.Operation, before.Rows(), read(api, list).Rows())
	answers := make([]answer, len(asked))
	for i, a := range asked {
		answers[i] = answer{a, a.Compare(predicted)}
	}
	return answers
}

// judge records what differs from the prediction, under the requirement that it breaks.
func (a answer) judge(api *API) {
	verdicts := map[spec.ID]Verdict{}
	for _, id := range oracle.Requirements(a.Walk.List.Operation.ID) {
		verdicts[id] = Verdict{Assessed: a.Assessed[id]}
	}
	for _, m := range a.Mismatches {
		if v, declared := verdicts[m.Requirement]; declared {
			v.Add(a.Finding(m))
			verdicts[m.Requirement] = v
		} else {
			Violated(api, m.Requirement.On(a.Walk.List.Operation.ID), a.Finding(m), "")
		}
	}
	for id, found := range verdicts {
		api.For(id).Judge(found)
	}
}
