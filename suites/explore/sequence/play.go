package sequence

import (
	"slices"

	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/suites"
)

// Play plays the steps and compares each response with the state that the steps before it
// have led to. Steps on tests need a creation before them. It asks after each step whether
// it is enough, and returns how many steps it has played.
func Play(api *suites.API, steps []Step, enough func() bool) (played int) {
	m := &model{api: api}
	rows := &listed{api: api, at: map[string]profile.Workspace{}}
	for i, s := range steps {
		if i > 0 && enough() {
			return i
		}
		if slices.Contains(onTests, s.Do) && s.Do != Create && len(m.tests) == 0 {
			return i
		}
		switch s.Do {
		case Create:
			if !m.create(s.Create) {
				return i + 1
			}
		case Again:
			m.again(m.test(s))
		case Get:
			m.get(m.test(s), s.Metadata)
		case Insert, Remove:
			m.walk(s)
		case List:
			m.list(m.test(s), s.Query)
		case Delete:
			m.remove(m.test(s))
		case MoveLead:
			rows.moveLead(s)
		case AddVariables:
			rows.addVariables(s)
		case MoveAccounts:
			rows.moveAccounts(s)
		case DeleteSubsequence:
			rows.spend()
		case MoveToDeleted:
			if rows.deleted != "" {
				rows.moveToDeleted()
			}
		}
	}
	return len(steps)
}

// model is the state of the tests that a sequence works on.
type model struct {
	api   *suites.API
	tests []*own
}

func (m *model) test(s Step) *own { return m.tests[s.Test%len(m.tests)] }

// own is a test that a sequence has created, and what is known of it.
type own struct {
	sent     map[string]any
	made     suites.Response
	fields   suites.NewTestFields
	listed   map[string]any // as the list showed it last; nil if it has not
	gone     bool
	deletion bool // another test was deleted since this one was seen
}
