package suites

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"

	. "github.com/onsi/ginkgo/v2"

	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/internal/oracle"
	"outreach.example/conformance/internal/sandbox"
	"outreach.example/conformance/spec"

	. "outreach.example/conformance/suites/api"
)

// documentedShape adds the spec of the operation that fails if any response of
// the run, to whichever spec, does not match the documented shape. The body makes
// the operation show all that it can.
func documentedShape(showAll func(*API), needs ...Need) {
	It("answers in the documented shape", Offset(1), RulesOfTheOperation{}, Needs(needs...), Expends(spec.DeleteSubsequence, sandbox.Richest), func(api *API) {
		showAll(api)
		for _, p := range api.Spec.Pairs {
			if strings.HasPrefix(p.Requirement, "SHAPE-") {
				api.Evidence.Missing(p, rowWith(api.Operation(), p.Requirement))
			}
		}
	})
}

// rowWith names a row that shows the field of a requirement on shapes.
func rowWith(op spec.Operation, requirement string) string {
	path := shownPath(requirement)
	row := inWords(op.Resource)
	name, last := path, ""
	if i := strings.LastIndex(path, "."); i >= 0 {
		name, last = path[:i], path[i+1:]
	}
	switch last {
	case "item", "entry":
		row += " with at least one " + last + " in " + itemsOf(name)
	default:
		row += " with a value in " + itemsOf(path)
	}
	if op.Resource == "InboxPlacementTest" {
		switch field, _, _ := strings.Cut(path, "."); field {
		case "tags", "recipients_labels", "automations", "campaign_id":
			row += ", or " + LackedValue(field)
		}
	}
	return row
}

// shownPath returns the path of the field that the requirement is about.
func shownPath(requirement string) string {
	before := requirement[:strings.LastIndex(requirement, "-")+1] // without the aspect
	if path, ok := shownPaths()[before]; ok {
		return path
	}
	parts := strings.SplitN(strings.ToLower(before), "-", 3) // SHAPE, the resource, the path
	return strings.TrimSuffix(parts[len(parts)-1], "-")
}

// shownPaths are the paths of fields, by their requirements without the aspect. The titles
// of specs need them each time that a tree is built.
var shownPaths = sync.OnceValue(func() map[string]string {
	paths := map[string]string{}
	for _, f := range slices.Backward(spec.Fields()) { // the first of several counts
		paths[f.Requirement("")] = strings.NewReplacer("ITEM", "item", "ENTRY", "entry").Replace(f.Path)
	}
	return paths
})

// inWords returns the name of a resource in words, such as "an inbox placement test".
func inWords(resource string) string {
	words := capitals.ReplaceAllStringFunc(resource, func(at string) string { return at[:1] + " " + strings.ToLower(at[1:2]) + at[2:] })
	if first := strings.ToLower(words[:1]); words[1] >= 'a' {
		words = first + words[1:]
	}
	if strings.ContainsAny(words[:1], "aeiou") {
		return "an " + words
	}
	return "a " + words
}

// capitals are the places in a name such as DFYEmailAccountOrder where a word begins.
var capitals = regexp.MustCompile(`[a-zA-Z][A-Z][a-z]`)

// itemsOf writes the items of an array in a path as people do: sequences[].steps.
func itemsOf(path string) string { return strings.ReplaceAll(path, ".item", "[]") }

// readEachWay reads the list of the spec: without a limit, whole, one row alone, and a page
// through each filter, also such that finds nothing: a search for a word of no row, and a window
// before all rows.
func readEachWay(api *API) {
	list := api.Request()
	api.Do(list)
	rows := Sample(api, list).Rows()
	api.Do(list.WithQuery("limit", "1"))
	var queries []map[string]string
	for _, f := range oracle.Filters(list.Operation.ID) {
		if uses := f.Uses(rows, handful); len(uses) > 0 {
			queries = append(queries, uses[0].Query, uses[len(uses)-1].Query)
		}
	}
	none := oracle.Window(list.Operation.ID, oracle.FarPast, oracle.FarPast.AddDate(0, 0, 1)) // longer than a moment: a server may refuse an empty one
	for _, query := range append(queries, none) {
		k, known := KnownFilter(api, list, query)
		if !known || len(query) == 0 {
			continue
		}
		if !maps.Equal(query, none) && query[profile.ParamSearch] != oracle.AbsentWord {
			k = k.MayBeRefused() // a value from a row may be wrong
		}
		api.Do(k)
	}
}

// validForEach sends a valid call for each of the values.
func validForEach(api *API, values []string, build func(string) Call) {
	calls := make([]Call, len(values))
	for i, v := range values {
		calls[i] = build(v)
	}
	api.DoAll(calls...)
}
