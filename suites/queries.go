package suites

import (
	"fmt"
	"slices"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	"github.com/onsi/gomega/types"

	"outreach.example/conformance/internal/judge"
	"outreach.example/conformance/internal/oracle"
	"outreach.example/conformance/internal/paging"
	"outreach.example/conformance/spec"
)

// queries sends generated queries to every paged list: filters, flags, sort order and
// page sizes in any combination. A walk of the whole list predicts the responses
// (package oracle). The command explore sends many more.
func queries() {
	for _, op := range spec.ListSameValues.Operations() {
		Describe(op.ID, func() {
			It("answers every query as the whole list predicts", Requires(oracle.Requirements(op.ID)...), answersAsPredicted)
		})
	}
}

// generated is how many random queries a run sends to each list, beside those with each
// pair of filters.
const generated = 8

func answersAsPredicted(api *API) {
	list := api.Request()
	walk := api.Shared(list)
	before := walk.Rows()
	if len(before) < 2 {
		api.NotAssessed("at least two rows in %s", list.Operation.ID)
	}
	asking := list
	if walk.isDoubtful() { // values from its rows may be invalid
		asking = list.MayBeRefused()
	}
	queries := oracle.List{Operation: list.Operation, Rows: before}.Fixed(api.named(list.Operation.ID), handful)
	for range generated {
		queries = append(queries, api.generate(list.Operation, before))
	}
	asked := make([]Asked, len(queries))
	var work []func()
	for i, q := range queries {
		work = append(work, func() { asked[i] = api.Ask(asking, q) })
	}
	api.Together(work...)
	predicted := oracle.Between(list.Operation, before, api.Shared(list).Rows())
	var differ []Asked
	for _, a := range asked {
		if c := a.Compare(predicted); len(c.Mismatches) > 0 {
			differ = append(differ, a)
		} else {
			api.judgeQuery(c, a)
		}
	}
	api.judgeAgain(list, asking, differ)
	for _, id := range oracle.Requirements(list.Operation.ID) {
		if !api.For(id).Judged() {
			api.For(id).NotAssessed("queries of %s that put it to the test", list.Operation.ID)
		}
	}
}

// judgeAgain asks queries again whose responses differ from the prediction, and judges what
// it sees last: a row that was created meanwhile may show later in one view than in another.
// Rows that other specs create while it looks do not count.
func (api *API) judgeAgain(list, asking Call, differ []Asked) {
	if len(differ) == 0 {
		return
	}
	compared := make([]oracle.Comparison, len(differ))
	api.look(func() bool {
		before := api.settled(api.ReadAll(list)).Rows()
		for i, a := range differ {
			differ[i] = api.Ask(asking, a.Query)
		}
		predicted := oracle.Between(list.Operation, before, api.ReadAll(list).Rows())
		mismatches := 0
		for i, a := range differ {
			compared[i] = a.Compare(predicted)
			mismatches += len(compared[i].Mismatches)
		}
		return mismatches == 0
	})
	for i, a := range differ {
		api.judgeQuery(compared[i], a)
	}
}

// generate returns a query of the list whose values come from the rows.
func (api *API) generate(list spec.Operation, rows []paging.Row) oracle.Query {
	api.mu.Lock()
	seed := api.rng.Int()
	api.mu.Unlock()
	return oracle.List{Operation: list, Rows: rows}.Queries(api.named(list.ID)).Example(seed)
}

// named returns a function that reports whether a parameter of the list has a name.
func (api *API) named(list string) func(parameter string) bool {
	return func(parameter string) bool {
		_, ok := api.Profile.Parameter(list, parameter)
		return ok
	}
}

// Asked is a query with the walk that came of it.
type Asked struct {
	Query oracle.Query
	Walk  Walk
}

// Ask sends the query page by page, with the key of the call.
func (api *API) Ask(list Call, q oracle.Query) Asked {
	w := Walk{List: api.filteredBy(list, q.Parameters)}
	w.Walk = paging.Run(api.ctx, api.fetch(w.List, &w.responses), paging.Cycle(q.Sizes...), q.Pages)
	return Asked{q, w}
}

// Compare compares the walk with what the list predicts.
func (a Asked) Compare(l oracle.List) oracle.Comparison {
	pages := make([]oracle.Page, len(a.Walk.Pages))
	for i, page := range a.Walk.Pages {
		pages[i] = oracle.Page{Page: page, Doubt: a.Walk.At(i).isDoubtful()}
	}
	return l.Compare(a.Query, pages, a.Walk.Complete())
}

// isDoubtful reports whether a page of the walk broke a rule on shapes.
func (w Walk) isDoubtful() bool { return slices.ContainsFunc(w.responses, Response.isDoubtful) }

// isDoubtful reports whether the body broke a rule on shapes: its values may differ from
// those of another view for that reason.
func (r Response) isDoubtful() bool {
	return slices.ContainsFunc(r.found.Findings, func(f judge.Finding) bool {
		rule, _ := spec.FindRequirement(f.Pair.Requirement)
		return strings.HasPrefix(f.Pointer, "/") && (rule.Group == spec.GroupShape || rule.ID == string(spec.MetaElsewhere))
	})
}

// judgeQuery records what differs from the prediction, under the requirement that it
// breaks.
func (api *API) judgeQuery(c oracle.Comparison, a Asked) {
	operation := a.Walk.List.Operation.ID
	for _, id := range oracle.Requirements(operation) {
		if c.Assessed[id] > 0 {
			api.For(id).Expect(a.Walk).To(AgreeWithTheList(c, id))
		}
	}
	for _, m := range c.Mismatches {
		if pair := m.Requirement.On(operation); !api.spec.declares(pair) {
			api.violated(pair, a.Finding(m), "")
		}
	}
}

// Finding returns the mismatch with the response that shows it.
func (a Asked) Finding(m oracle.Mismatch) Finding {
	return Finding{a.Walk.At(m.Page), m.Pointer, m.Expected, m.Actual}
}

// AgreeWithTheList matches a walk whose comparison with the whole list shows no violation
// of the requirement.
func AgreeWithTheList(c oracle.Comparison, id spec.ID) types.GomegaMatcher {
	return onWalk(fmt.Sprintf("answer the query as the whole list predicts (%s)", id), func(w Walk) Verdict {
		found := Verdict{Assessed: c.Assessed[id]}
		for _, m := range c.Mismatches {
			if m.Requirement == id {
				found.add(Asked{Walk: w}.Finding(m))
			}
		}
		return found
	})
}
