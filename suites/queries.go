package suites

import (
	"fmt"

	. "github.com/onsi/ginkgo/v2"
	"github.com/onsi/gomega"
	"github.com/onsi/gomega/types"

	"outreach.example/conformance/internal/oracle"
	"outreach.example/conformance/spec"

	. "outreach.example/conformance/suites/api"

	. "outreach.example/conformance/suites/match"
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

// generated is how many random queries a run sends to each list, beside those with each
// pair of filters.
const generated = 8

func answersAsPredicted(api *API) {
	list := api.Request()
	walk := Shared(api, list)
	before := walk.Rows()
	if len(before) < 2 {
		api.NotAssessed("at least two rows in %s", list.Operation.ID)
	}
	asking := list
	if walk.IsDoubtful() { // values from its rows may be invalid
		asking = list.MayBeRefused()
	}
	queries := oracle.List{Operation: list.Operation, Rows: before}.Fixed(Named(api, list.Operation.ID), handful)
	for range generated {
		queries = append(queries, Generate(api, list.Operation, before))
	}
	asked := make([]Asked, len(queries))
	var work []func()
	for i, q := range queries {
		work = append(work, func() { asked[i] = Ask(api, asking, q) })
	}
	api.Together(work...)
	predicted := oracle.Between(list.Operation, before, Shared(api, list).Rows())
	var differ []Asked
	for _, a := range asked {
		if c := a.Compare(predicted); len(c.Mismatches) > 0 {
			differ = append(differ, a)
		} else {
			judgeQuery(api, c, a)
		}
	}
	judgeAgain(api, list, asking, differ)
	for _, id := range oracle.Requirements(list.Operation.ID) {
		if !api.For(id).Judged() {
			api.For(id).NotAssessed(noQueries, list.Operation.ID)
		}
	}
}

// judgeAgain asks queries again whose responses differ from the prediction, and judges what
// it sees last: a row that was created meanwhile may show later in one view than in another.
// Rows that other specs create while it looks do not count.
func judgeAgain(api *API, list, asking Call, differ []Asked) {
	if len(differ) == 0 {
		return
	}
	compared := make([]oracle.Comparison, len(differ))
	api.Eventually(func() bool {
		before := Settled(api, api.Read(list)).Rows()
		for i, a := range differ {
			differ[i] = Ask(api, asking, a.Query)
		}
		predicted := oracle.Between(list.Operation, before, api.Read(list).Rows())
		mismatches := 0
		for i, a := range differ {
			compared[i] = a.Compare(predicted)
			mismatches += len(compared[i].Mismatches)
		}
		return mismatches == 0
	}).Should(gomega.BeTrue())
	for i, a := range differ {
		judgeQuery(api, compared[i], a)
	}
}

// judgeQuery records what differs from the prediction, under the requirement that it
// breaks.
func judgeQuery(api *API, c oracle.Comparison, a Asked) {
	operation := a.Walk.List.Operation.ID
	for _, id := range oracle.Requirements(operation) {
		if c.Assessed[id] > 0 {
			api.For(id).Expect(a.Walk).To(AgreeWithTheList(c, id))
		}
	}
	for _, m := range c.Mismatches {
		if pair := m.Requirement.On(operation); !api.Spec.Declares(pair) {
			Violated(api, pair, a.Finding(m), "")
		}
	}
}

// AgreeWithTheList matches a walk whose comparison with the whole list shows no violation
// of the requirement.
func AgreeWithTheList(c oracle.Comparison, id spec.ID) types.GomegaMatcher {
	return OnWalk(fmt.Sprintf("answer the query as the whole list predicts (%s)", id), func(w Walk) Verdict {
		found := Verdict{Assessed: c.Assessed[id]}
		for _, m := range c.Mismatches {
			if m.Requirement == id {
				found.Add(Asked{Walk: w}.Finding(m))
			}
		}
		return found
	})
}
