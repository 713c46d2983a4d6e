package sequence

import (
	"slices"

	"pgregory.net/rapid"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/internal/oracle"
	"outreach.example/conformance/spec"
	"outreach.example/conformance/suites"
)

// Scope says what sequences may do on a target.
type Scope struct {
	Profile *profile.Profile
	// Selects reports whether the operation may be used.
	Selects func(operation string) bool
}

// actions returns those of the actions whose operations may be used.
func (s Scope) actions(of []string) []string {
	return slices.DeleteFunc(slices.Clone(of), func(do string) bool { return !s.permits(do) })
}

// permits reports whether the profile allows the action and has its inputs.
func (s Scope) permits(do string) bool {
	if s.Profile.Writes == profile.WritesNone {
		return false
	}
	w, listed := s.Profile.Workspaces[dataset.Main], s.Profile.Writes == profile.WritesListed
	if _, ok := s.Profile.FullKey(dataset.Main); !ok && do != MoveAccounts {
		return false
	}
	switch do {
	case Get:
		return s.Selects(spec.GetPlacementTest)
	case List, Insert, Remove:
		return s.Selects(spec.ListPlacementTests)
	case MoveLead, MoveToDeleted:
		return listed && s.Selects(spec.MoveLead) && len(w.Leads) > 0 && len(w.Subsequences) > 0
	case AddVariables:
		return listed && s.Selects(spec.AddCampaignVariables) && len(w.Campaigns) > 0
	case MoveAccounts:
		_, ok := s.Profile.FullKey(dataset.Admin)
		return listed && ok && s.Selects(spec.MoveAccounts) && s.hasSiblings()
	case DeleteSubsequence:
		return listed && s.Selects(spec.DeleteSubsequence) && s.Selects(spec.ListSubsequences) && len(w.ExpendableSubsequences) > 0
	default:
		return s.Selects(spec.CreatePlacementTest) && s.Selects(spec.DeletePlacementTest)
	}
}

// hasSiblings reports whether accounts can move between two workspaces.
func (s Scope) hasSiblings() bool {
	siblings, accounts := 0, 0
	for _, w := range s.Profile.Workspaces {
		if w.Admin != "" && (w.Admin == dataset.Admin || w.Admin == s.Profile.Workspaces[dataset.Admin].ID) {
			siblings++
			accounts += len(w.Accounts)
		}
	}
	return siblings > 1 && accounts > 0
}

// Generators returns what generates sequences: one on tests of their own, and one on rows
// that the profile lists. Those for which nothing is permitted are left out.
func (s Scope) Generators() []*rapid.Generator[[]Step] {
	var all []*rapid.Generator[[]Step]
	if s.permits(Create) {
		all = append(all, s.onOwnTests())
	}
	if actions := s.actions(onListed); len(actions) > 0 {
		all = append(all, rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Step {
			return listedStep(t, rapid.SampledFrom(actions).Draw(t, "do"))
		}), 1, MaxSteps))
	}
	return all
}

// onOwnTests generates sequences whose first step creates a test: without one there is
// nothing to do.
func (s Scope) onOwnTests() *rapid.Generator[[]Step] {
	actions := s.actions(onTests)
	step := rapid.Custom(func(t *rapid.T) Step { return testStep(t, rapid.SampledFrom(actions).Draw(t, "do")) })
	return rapid.Custom(func(t *rapid.T) []Step {
		first := Step{Do: Create, Create: newTest.Draw(t, "create")}
		return append([]Step{first}, rapid.SliceOfN(step, 0, MaxSteps-1).Draw(t, "steps")...)
	})
}

func testStep(t *rapid.T, do string) Step {
	s := Step{Do: do}
	switch do {
	case Create:
		s.Create = newTest.Draw(t, "create")
		return s
	case Insert, Remove:
		s.Limit = rapid.IntRange(1, maxWalkLimit).Draw(t, "limit")
		return s
	case List:
		s.Query = ownQuery.Draw(t, "query")
	case Get:
		s.Metadata = rapid.SampledFrom([]string{"", "true", "false"}).Draw(t, "metadata")
	}
	s.Test = rapid.IntRange(0, 3).Draw(t, "test")
	return s
}

func listedStep(t *rapid.T, do string) Step {
	few := rapid.IntRange(0, 3)
	s := Step{Do: do}
	switch do {
	case MoveLead:
		s.Row, s.To = few.Draw(t, "lead"), few.Draw(t, "subsequence")
	case AddVariables:
		s.Row, s.Variables = few.Draw(t, "campaign"), rapid.IntRange(1, len(variables)).Draw(t, "variables")
	case MoveAccounts:
		s.Accounts = rapid.SliceOfNDistinct(few, 1, 3, rapid.ID).Draw(t, "accounts")
	}
	return s
}

// newTest draws what a creation sends beside the required fields. A server that refuses
// one of the texts is not judged by it.
var newTest = rapid.Custom(func(t *rapid.T) suites.NewTestFields {
	var fields suites.NewTestFields
	for _, field := range spec.CreateOptional {
		if rapid.IntRange(0, 3).Draw(t, field) == 3 {
			fields.Optional = append(fields.Optional, field)
		}
	}
	switch rapid.SampledFrom([]string{"", "", "", "value", "texts", "null", "read-only"}).Draw(t, "kind") {
	case "value":
		fields.Optional = nil // a test that would be sent is paused, and stays so
		fields.Field = rapid.SampledFrom(suites.KeptFields()).Draw(t, "field")
		fields.Value = rapid.IntRange(0, suites.DocumentedValues(fields.Field)).Draw(t, "value")
	case "texts":
		fields.Texts = map[string]string{}
		for _, field := range freeTexts {
			if rapid.Bool().Draw(t, "special "+field) {
				fields.Texts[field] = rapid.SampledFrom(special).Draw(t, field)
			}
		}
	case "null":
		fields.Null = rapid.SliceOfNDistinct(rapid.SampledFrom(suites.Nullable()), 1, 3, rapid.ID).Draw(t, "null")
	case "read-only":
		fields.ReadOnly = rapid.SampledFrom(spec.CreateReadOnly).Draw(t, "read-only")
	}
	return fields
})

// freeTexts are fields of a creation that take any text.
var freeTexts = []string{"name", "email_subject", "email_body"}

// special are texts that programs often change when they store or show them.
var special = []string{"“quotes” 'and' \"more\"", "<b>bold</b> & &amp; &lt;", "{{first_name}} %s %20 ${x}", "日本語 ñ é", "😀 beyond", `back\slash`, "100 %", "a  b"}

// ownQuery draws a query in which own tests show.
var ownQuery = rapid.Custom(func(t *rapid.T) oracle.Query {
	q := oracle.Query{Sizes: []int{rapid.SampledFrom([]int{100, 1, 2, 7, 50}).Draw(t, "limit")}, Pages: rapid.IntRange(1, 3).Draw(t, "pages")}
	parameters := map[string]string{}
	if rapid.Bool().Draw(t, "by name") {
		parameters[profile.ParamSearch] = "name"
	}
	if order := rapid.SampledFrom([]string{"desc", "", "asc"}).Draw(t, "order"); order != "" {
		parameters[profile.ParamSortOrder] = order
	}
	if len(parameters) > 0 {
		q.Parameters = parameters
	}
	return q
})
