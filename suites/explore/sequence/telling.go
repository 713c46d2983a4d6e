package sequence

import (
	"slices"
	"strings"

	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/internal/oracle"
	"outreach.example/conformance/spec"
	"outreach.example/conformance/suites"
)

// Telling returns sequences with which an exploration begins: each shows much of the state
// in few requests. The random ones come after them.
func (s Scope) Telling() [][]Step {
	var all [][]Step
	for _, steps := range slices.Concat(tellingOfTests(), tellingOfListed()) {
		steps = slices.DeleteFunc(steps, func(step Step) bool { return !s.permits(step.Do) })
		if len(steps) > 0 && (steps[0].Do == Create || slices.Contains(onListed, steps[0].Do)) {
			all = append(all, steps)
		}
	}
	return all
}

// EachValue returns sequences that create a test with each value of each field, and read it.
func (s Scope) EachValue() [][]Step {
	var all [][]Step
	for _, field := range suites.KeptFields() {
		for number := range suites.DocumentedValues(field) {
			steps := []Step{{Do: Create, Create: suites.NewTestFields{Field: field, Value: number}}, {Do: Get}, showing()}
			if s.permits(Create) {
				all = append(all, slices.DeleteFunc(steps, func(step Step) bool { return !s.permits(step.Do) }))
			}
		}
	}
	return all
}

// Spending returns a sequence that deletes what nothing can make again; nil if the profile
// allows none.
func (s Scope) Spending() []Step {
	if !s.permits(DeleteSubsequence) {
		return nil
	}
	return slices.DeleteFunc([]Step{{Do: DeleteSubsequence}, {Do: MoveToDeleted}}, func(step Step) bool { return !s.permits(step.Do) })
}

// tellingOfTests are about tests with every optional field, with none, with null, with
// special texts, and about deletions and walks among several.
func tellingOfTests() [][]Step {
	create := func(f suites.NewTestFields) Step { return Step{Do: Create, Create: f} }
	var texts suites.NewTestFields
	texts.Texts = map[string]string{}
	for _, field := range freeTexts {
		texts.Texts[field] = strings.Join(special, " ")
	}
	all := [][]Step{
		lifeOf(suites.NewTestFields{}),
		lifeOf(suites.NewTestFields{Optional: spec.CreateOptional}),
		lifeOf(suites.NewTestFields{Null: suites.Nullable()}),
		lifeOf(texts),
		{create(suites.NewTestFields{RunNow: true}), {Do: Get}},
		{create(suites.NewTestFields{}), {Do: Again}, {Do: Get}, {Do: Get, Test: 1}},
		{create(suites.NewTestFields{}), {Do: Delete}, alone()},
		{create(suites.NewTestFields{}), {Do: Again}, {Do: Again}, showing(), {Do: Delete, Test: 1}, showing(), {Do: Get}, {Do: Get, Test: 2}},
	}
	for limit := range maxWalkLimit {
		for _, do := range []string{Insert, Remove} {
			all = append(all, []Step{create(suites.NewTestFields{}), {Do: do, Limit: limit + 1}})
		}
	}
	for _, field := range spec.CreateReadOnly {
		all = append(all, []Step{create(suites.NewTestFields{ReadOnly: field}), {Do: Get}, showing()})
	}
	return all
}

// lifeOf creates a test, reads it in every view, and deletes it.
func lifeOf(fields suites.NewTestFields) []Step {
	return []Step{{Do: Create, Create: fields}, {Do: Get}, {Do: Get, Metadata: "true"}, {Do: Get, Metadata: "false"}, showing(), {Do: Get},
		{Do: Delete}, {Do: Get}, {Do: Delete}, showing()}
}

// showing reads the page of the list that shows the newest tests.
func showing() Step {
	return Step{Do: List, Query: oracle.Query{Parameters: map[string]string{profile.ParamSortOrder: "desc"}, Sizes: []int{7}, Pages: 1}}
}

// alone searches for the test, so that the first page is the last one, too.
func alone() Step {
	return Step{Do: List, Query: oracle.Query{Parameters: map[string]string{profile.ParamSearch: "name"}, Sizes: []int{100}, Pages: 1}}
}

// tellingOfListed moves leads and accounts to different places and back, and adds one
// variable and several.
func tellingOfListed() [][]Step {
	return [][]Step{
		{{Do: MoveLead}, {Do: MoveLead, To: 1}, {Do: MoveLead, Row: 1}},
		{{Do: AddVariables, Variables: 1}, {Do: AddVariables, Row: 1, Variables: len(variables)}},
		{{Do: MoveAccounts, Accounts: []int{0}}, {Do: MoveAccounts, Accounts: []int{0}}},
		{{Do: MoveAccounts, Accounts: []int{0, 1, 2}}, {Do: MoveAccounts, Accounts: []int{0}}, {Do: MoveAccounts, Accounts: []int{1}},
			{Do: MoveAccounts, Accounts: []int{2}}},
	}
}
