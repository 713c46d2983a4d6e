package explore

import (
	"fmt"
	"slices"

	"pgregory.net/rapid"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/internal/oracle"
	"outreach.example/conformance/spec"
	"outreach.example/conformance/suites/api"
)

// permits reports whether the selection and the profile allow the action, and the target
// has its inputs.
func (e *explorer) permits(do string) bool {
	p := e.Env.Profile
	w := p.Workspaces[dataset.Main]
	_, full := p.FullKey(dataset.Main)
	listed := full && p.Writes == profile.WritesListed
	own := full && p.Writes != profile.WritesNone && e.Selects(spec.CreatePlacementTest) && e.Selects(spec.DeletePlacementTest)
	switch do {
	case Query:
		return len(e.wholes) > 0
	case Get:
		return own && e.Selects(spec.GetPlacementTest)
	case List, Insert, Remove:
		return own && e.Selects(spec.ListPlacementTests)
	case MoveLead:
		return listed && e.Selects(spec.MoveLead) && len(w.Leads) > 0 && len(w.Subsequences) > 0
	case AddVariables:
		return listed && e.Selects(spec.AddCampaignVariables) && len(w.Campaigns) > 0
	case MoveAccounts:
		_, admin := p.FullKey(dataset.Admin)
		return listed && admin && e.Selects(spec.MoveAccounts)
	case DeleteSubsequence:
		return listed && e.Selects(spec.DeleteSubsequence) && e.Selects(spec.ListSubsequences) && len(w.ExpendableSubsequences) > 0
	default:
		return own
	}
}

// cases generates what to try; none if nothing is permitted. Most cases are about one thing:
// lists, tests of their own or rows that the profile lists.
func (e *explorer) cases() (all []*rapid.Generator[[]Step]) {
	for _, do := range [][]string{{Query}, {Query}, onTests, moves, slices.Concat([]string{Query}, onTests, moves)} {
		do = slices.DeleteFunc(slices.Clone(do), func(do string) bool { return !e.permits(do) })
		if len(do) > 0 {
			all = append(all, rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Step { return e.step(t, do) }), 1, MaxSteps))
		}
	}
	return all
}

// step draws an action and what it needs.
func (e *explorer) step(t *rapid.T, actions []string) Step {
	s := Step{Do: rapid.SampledFrom(actions).Draw(t, "do")}
	if s.Do == Query {
		return e.reading(t)
	}
	if slices.Contains(onTests, s.Do) {
		s.Create = newTest.Draw(t, "create")
	}
	if s.Do == Get {
		s.Metadata = metadata.Draw(t, "metadata")
	}
	for i := range s.Numbers {
		s.Numbers[i] = rapid.UintRange(0, 3).Draw(t, "number")
	}
	return s
}

// metadata generates what a get asks for.
var metadata = rapid.SampledFrom([]string{"", "true", "false"})

// usualSizes are sizes of pages that clients ask for, and the bounds. A server may treat one
// of them in its own way.
var usualSizes = []int{0, 4, 5, 7, 10, 15, 20, 25, 30, 50, 99, 100}

// reading draws a query of a list, or a get of one of its rows.
func (e *explorer) reading(t *rapid.T) Step {
	w := rapid.SampledFrom(e.wholes).Draw(t, "list")
	known := func(parameter string) bool {
		_, ok := e.Env.Profile.Parameter(w.operation.ID, parameter)
		return ok
	}
	if w.operation.ID == spec.ListPlacementTests && e.Selects(spec.GetPlacementTest) && rapid.IntRange(0, 2).Draw(t, "get") == 2 {
		row := rapid.SampledFrom(w.first.Rows).Draw(t, "row")
		return Step{Do: GetRow, Role: w.role, ID: fmt.Sprint(row.Value["id"]), Metadata: metadata.Draw(t, "metadata")}
	}
	s := Step{Do: Query, List: w.operation.ID, Role: w.role}
	if rapid.IntRange(0, 3).Draw(t, "another key") == 3 {
		s.Numbers[0] = rapid.UintRange(0, uint(len(w.keys))).Draw(t, "key")
	}
	if !rapid.Bool().Draw(t, "usual size") { // a query that shrinks to a single page
		s.Query = w.first.Queries(known).Draw(t, "query")
		return s
	}
	s.Query = oracle.Query{Sizes: []int{rapid.SampledFrom(usualSizes).Draw(t, "size")}, Pages: oracle.WholeWalk}
	if uses := usesOf(w.first, known); len(uses) > 0 && rapid.Bool().Draw(t, "with parameters") {
		s.Query.Parameters = rapid.SampledFrom(uses).Draw(t, "use").Query
	}
	return s
}

// usesOf returns the uses of each filter by itself: up to 16, so that each value and each kind
// of sign in a text is among them.
func usesOf(l oracle.List, known func(parameter string) bool) (uses []oracle.Use) {
	for _, f := range oracle.Filters(l.Operation.ID) {
		if known(f.Key) {
			uses = append(uses, f.Uses(l.Rows, 16)...)
		}
	}
	return uses
}

// newTest draws what a creation sends beside the required fields. A server that refuses
// one of the texts is not judged by it.
var newTest = rapid.Custom(func(t *rapid.T) (fields api.NewTestFields) {
	switch rapid.SampledFrom([]string{"", "optional", "value", "texts", "null", "read-only"}).Draw(t, "kind") {
	case "optional":
		fields.Optional = some(t, spec.CreateOptional)
	case "value":
		fields.Field = rapid.SampledFrom(api.KeptFields()).Draw(t, "field")
		fields.Value = rapid.IntRange(0, 120).Draw(t, "value") // beyond the last value, it starts over
	case "texts":
		fields.Texts = map[string]string{}
		for _, field := range some(t, freeTexts) {
			fields.Texts[field] = rapid.SampledFrom(special).Draw(t, "text")
		}
	case "null":
		fields.Null = some(t, api.Nullable)
	case "read-only":
		fields.ReadOnly = rapid.SampledFrom(spec.CreateReadOnly).Draw(t, "read-only")
	}
	return fields
})

// some draws some of the fields. A slice of distinct ones would be drawn again in another
// way while rapid shrinks it.
func some(t *rapid.T, fields []string) (drawn []string) {
	for _, field := range fields {
		if rapid.Bool().Draw(t, field) {
			drawn = append(drawn, field)
		}
	}
	return drawn
}

// freeTexts are fields of a creation that take any text.
var freeTexts = []string{"name", "email_subject", "email_body"}

// special are texts that programs often change when they store or show them.
var special = []string{"“quotes” 'and' \"more\"", "<b>bold</b> & &amp; &lt;", "{{first_name}} %s %20 ${x}", "日本語 ñ é", "😀 beyond", `back\slash`, "100 %", "a  b"}
