package explore

import (
	"fmt"
	"net/http"
	"slices"

	"github.com/onsi/gomega"
	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/internal/oracle"
	"outreach.example/conformance/internal/paging"
	"outreach.example/conformance/spec"
	"outreach.example/conformance/suites/api"
)

// machine plays the steps of a case and compares each response with the state that the
// steps before it have led to.
type machine struct {
	*hunt
	*api.API
	tests []*test
}

// play plays a step. A step about a test creates one if there is none.
func (m *machine) play(s Step) {
	if slices.Contains(onTests, s.Do) && (s.Do == Create || len(m.tests) == 0) && !m.create(s.Create) {
		return
	}
	switch s.Do {
	case Query:
		m.query(s)
	case GetRow:
		m.getRow(s)
	case Again:
		m.again(numbered(m.tests, s, 0))
	case Get:
		m.get(numbered(m.tests, s, 0), s)
	case List:
		m.list(s)
	case Delete:
		m.remove(numbered(m.tests, s, 0))
	case Insert, Remove:
		m.walk(s)
	case MoveLead:
		m.moveLead(s)
	case AddVariables:
		m.addVariables(s)
	case MoveAccounts:
		m.moveAccounts(s)
	case DeleteSubsequence:
		m.deleteSubsequence()
	}
}

// numbered returns the row that a number of the step stands for.
func numbered[T any](rows []T, s Step, which int) T {
	return rows[s.Numbers[which]%uint(len(rows))]
}

// verify puts a requirement to the test. If it does not hold, it charges what the response
// shows.
func (m *machine) verify(holds bool, id spec.ID, operation string, r api.Response, pointer, expected string, actual any) {
	api.Count(m.API, id, operation, 1)
	if !holds {
		api.Charge(m.API, id, operation, api.Finding{Response: r, Pointer: pointer, Expected: expected, Actual: fmt.Sprint(actual)})
	}
}

// keeps expects that a response names what the request named.
func (m *machine) keeps(r api.Response, id spec.ID, field, named string) {
	if r.OK() {
		m.examine(id, r.Call.Operation.ID, r, api.HaveMember(field, api.EqualID(named)))
	}
}

// moveLead moves a lead to a subsequence. No operation reads a lead: only the response
// shows it.
func (m *machine) moveLead(s Step) {
	w := m.Workspace(dataset.Main)
	lead, subsequence := numbered(w.Leads, s, 0), numbered(w.Subsequences, s, 1)
	moved := m.Do(m.RequestAs(dataset.Main, spec.MoveLead).WithField("id", lead).WithField("subsequence_id", subsequence))
	m.keeps(moved, spec.LeadMoveLead, "id", lead)
	m.keeps(moved, spec.LeadMoveSubsequence, "subsequence_id", subsequence)
}

// variables are added to campaigns: one or several. Nothing removes them, so they are always
// the same.
var variables = [][]string{{"conformance"}, {"conformance", "firstName", "companyName"}}

// addVariables adds variables to a campaign. No operation shows them.
func (m *machine) addVariables(s Step) {
	id := numbered(m.Workspace(dataset.Main).Campaigns, s, 0)
	request := m.RequestAs(dataset.Main, spec.AddCampaignVariables).WithID(id)
	m.keeps(m.Do(request.WithBody(map[string]any{"variables": numbered(variables, s, 1)})), spec.VariablesCampaign, "id", id)
}

// moveAccounts moves accounts to another workspace, and each one back. No operation lists
// accounts: the move back shows where an account is.
func (m *machine) moveAccounts(s Step) {
	home, away := api.Siblings(m.API)
	var emails []string
	for i := range s.Numbers {
		if email := numbered(home.Accounts, s, i); !slices.Contains(emails, email) {
			emails = append(emails, email)
		}
	}
	served := func(r api.Response) bool { return r.Status == http.StatusOK }
	there := api.MovingAccounts(m.API, home, away, emails...)
	if !served(api.Until(m.API, "a moved account", there.MayBeRefused(), served)) {
		m.Do(there) // the accounts are where the profile says
	}
	for _, email := range emails {
		back := api.Until(m.API, "a moved account", api.MovingAccounts(m.API, away, home, email).MayBeRefused(), served)
		m.examine(spec.AccountsMoved, spec.MoveAccounts, back, api.BeServed())
		if !served(back) {
			m.NotAssessed("a known location of the accounts")
		}
	}
}

// deleteSubsequence deletes a subsequence, which nothing can make again, and looks for
// everything that a deletion must show.
func (m *machine) deleteSubsequence() {
	const operation = spec.DeleteSubsequence
	id, others := api.OneExpendable(m.API)
	list := m.As(dataset.Main, spec.ListSubsequences)
	var before, after api.Walk
	api.Aside(m.API, func() { before = m.Read(list) })
	remove := m.As(dataset.Main, operation).WithID(id)
	deleted := m.Do(remove)
	m.keeps(deleted, spec.StateDeleteAnswer, "id", id)
	m.examine(spec.StateDeleteAnswer, operation, deleted, api.AgreeWithRow(before.Row(id), api.ChangesAtItsEnd...))
	m.Eventually(func() bool {
		after = m.Read(list)
		return after.Row(id) == nil
	}).Should(gomega.BeTrue(), "a deletion in the list")
	m.examine(spec.StateDeleteList, operation, after, api.NotShowRow(id, "the deleted"))
	for _, other := range others {
		if before.Row(other) != nil {
			m.examine(spec.StateDeleteOthers, operation, after, api.ShowRow(other, "the other resource"))
		}
	}
	m.notFound(remove.MayGet(http.StatusNotFound), "a deletion that is repeated", spec.StateDeleteAgain, operation)
	if m.permits(MoveLead) {
		moving := m.RequestAs(dataset.Main, spec.MoveLead).WithField("subsequence_id", id).MayBeRefused()
		refused := api.Until(m.API, "a deletion in a lead move", moving, func(r api.Response) bool { return r.Status/100 == 4 })
		m.examine(spec.StateDeleteMove, spec.MoveLead, refused, api.BeRefused())
	}
}

// walk creates tests, walks the list in small pages and creates or deletes tests between
// them. Each test that stays must show once. The list begins with the newest tests, so few
// pages show those of the case.
func (m *machine) walk(s Step) {
	limit := numbered([]int{1, 2, 3}, s, 0)
	for range 2 * limit {
		if !m.create(s.Create) {
			return
		}
	}
	list := m.As(dataset.Main, spec.ListPlacementTests).WithQuery("sort_order", "desc")
	// What the list does not show yet may turn up in the middle of a walk.
	agrees := func() bool {
		return m.agrees(api.Ask(m.API, list, oracle.Query{Sizes: []int{100}, Pages: 1}).Walk, false)
	}
	if !m.Eventually(agrees).Should(gomega.BeTrue(), "a created test in the list") {
		return
	}
	isVictim := func(i int) bool { return s.Do == Remove && i%2 == 0 }
	walk := api.WalkWhile(m.API, list, paging.Fixed(limit), 5, func(page api.Response) {
		if s.Do == Insert {
			api.NewTest(m.API)
		}
		for _, row := range page.Rows() { // deletes tests that were shown: cursors may point to them
			for i, t := range m.tests {
				if isVictim(i) && !t.gone && paging.KeyOf(list.Operation.Resource, row) == t.key() {
					m.remove(t)
				}
			}
		}
	})
	times := map[string]int{}
	for _, row := range walk.Rows() {
		times[row.Key]++
	}
	id := map[string]spec.ID{Insert: spec.PageInsert, Remove: spec.PageRemove}[s.Do]
	for i, t := range m.tests {
		if n := times[t.key()]; !isVictim(i) && !t.gone && t.isDue(walk, false) {
			m.verify(n == 1, id, spec.ListPlacementTests, walk.Last(), "/items", "the test "+t.key()+" once in the walk, while others are created or deleted", n)
		}
	}
}
