package suites

import (
	"strings"

	. "github.com/onsi/ginkgo/v2"

	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/internal/client"
	"outreach.example/conformance/internal/oracle"
	"outreach.example/conformance/schemas/contract"
	"outreach.example/conformance/spec"

	. "outreach.example/conformance/suites/api"
)

// queryValues sends every kind of value that the document allows for a query parameter of
// a list. The server must serve it, and show no row that the value leaves out.
func queryValues() {
	for _, op := range spec.QueryAccepted.Operations() {
		Describe(op.ID, func() {
			It("accepts every documented value of its parameters", Requires(spec.QueryAccepted), Needs(Cursor(op.ID)), acceptsValues)
		})
	}
}

// valueQuery is a query with a value that the document allows.
type valueQuery struct {
	parameters map[string]string // by the key of the parameter
	open       bool              // no sentence obliges a server to serve it
}

func acceptsValues(api *API) {
	list := api.Request().Breaking(spec.QueryAccepted)
	asked := Each(api, valueQueries(api, list.Operation), func(q valueQuery) Asked {
		k := list
		if q.open {
			k = list.MayBeRefused()
		}
		return Ask(api, k, oracle.Query{Parameters: q.parameters, Sizes: []int{spec.MaxLimit}, Pages: 1})
	})
	for _, a := range asked {
		for _, m := range a.Compare(oracle.List{Operation: list.Operation}).Mismatches {
			Violated(api, m.Requirement.On(list.Operation.ID), a.Finding(m), "")
		}
	}
	if !api.For(spec.QueryAccepted).Judged() {
		api.NotAssessed("the entries parameters.%s", list.Operation.ID)
	}
}

// valueQueries returns the queries with the parameters that have names.
func valueQueries(api *API, list spec.Operation) []valueQuery {
	queries := documentedQueries(Named(api, list.ID), list.ID)
	for _, f := range list.Filters { // no row has the id: a server may refuse it
		if f.Kind == spec.Exclude && Named(api, list.ID)(f.Key) {
			queries = append(queries, valueQuery{map[string]string{f.Key: api.FreshID()}, true})
		}
	}
	return queries
}

// documentedQueries returns a query for each value that the document allows for a parameter
// of the list which has a name.
func documentedQueries(named func(parameter string) bool, list string) []valueQuery {
	var queries []valueQuery
	for _, part := range contract.Query(list) {
		parameter := profile.CustomaryKey(list, part.Name)
		if !named(parameter) || parameter == profile.ParamStartingAfter {
			continue // limits and cursors have specs of their own
		}
		for _, v := range part.Valid {
			text := oracle.Scalar(Normalize(v.Value))
			// What a server may store in another form, it may look for in another form.
			if text != "" && text == InNormalForm("", text)(text) && len(text) <= client.MaxURLValue {
				queries = append(queries, forms(list, parameter, text, v.Open)...)
			}
		}
	}
	return queries
}

// forms returns the queries in which the list takes the value of the parameter.
func forms(list, parameter, text string, open bool) []valueQuery {
	alone := valueQuery{map[string]string{parameter: text}, open}
	switch window := oracle.Window(list, oracle.FarPast, oracle.FarFuture); {
	case window[parameter] != "":
		// A server may need both ends of a window. It begins before it ends.
		window[parameter] = text
		alone.open = true
		all := []valueQuery{alone, {window, open}}
		if !strings.Contains(text, "T") { // windows of days include both ends
			all = append(all, valueQuery{map[string]string{profile.ParamWindowStart: text, profile.ParamWindowEnd: text}, open})
		}
		return all
	case spec.MustOperation(list).Filter(parameter).Kind == spec.ExactSearch: // a URL or an address, matched exactly
		alone.open = true
	}
	return []valueQuery{alone}
}
