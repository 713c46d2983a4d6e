package sequence

import (
	"fmt"
	"net/http"
	"slices"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/spec"
	"outreach.example/conformance/suites"
)

// listed is the state of rows that the profile lists.
type listed struct {
	api *suites.API
	at  map[string]profile.Workspace // where the sequence has moved an account
	// deleted is the subsequence that the sequence has deleted; empty for none.
	deleted string
}

// moveLead moves a lead to a subsequence. No operation reads a lead: only the response
// shows it.
func (l *listed) moveLead(s Step) {
	w := l.api.Workspace(dataset.Main)
	request := l.api.RequestAs(dataset.Main, spec.MoveLead)
	lead, subsequence := w.Leads[s.Row%len(w.Leads)], w.Subsequences[s.To%len(w.Subsequences)]
	moved := l.api.Do(request.WithField("id", lead).WithField("subsequence_id", subsequence))
	if moved.OK() {
		l.api.Examine(spec.LeadMoveLead, spec.MoveLead, moved, suites.KeepID("id", lead))
		l.api.Examine(spec.LeadMoveSubsequence, spec.MoveLead, moved, suites.KeepID("subsequence_id", subsequence))
	}
}

// variables are added to campaigns. Nothing removes them, so they are always the same.
var variables = []string{"conformance", "firstName", "companyName"}

// addVariables adds variables to a campaign. No operation shows them.
func (l *listed) addVariables(s Step) {
	request := l.api.RequestAs(dataset.Main, spec.AddCampaignVariables)
	campaigns := l.api.Workspace(dataset.Main).Campaigns
	id := campaigns[s.Row%len(campaigns)]
	most := min(max(1, s.Variables), len(variables))
	changed := l.api.Do(request.WithID(id).WithBody(map[string]any{"variables": variables[:most]}))
	if changed.OK() {
		l.api.Examine(spec.VariablesCampaign, spec.AddCampaignVariables, changed, suites.KeepID("id", id))
	}
}

// moveAccounts moves those of the accounts that are in one place to the other one. No
// operation lists accounts: a further move shows where they are.
func (l *listed) moveAccounts(s Step) {
	home, away := l.api.Siblings()
	var emails []string
	from := home
	for i, number := range s.Accounts {
		email := home.Accounts[number%len(home.Accounts)]
		at, moved := l.at[email]
		if !moved {
			at = home
		}
		if i == 0 {
			from = at
		}
		if at.ID == from.ID && !slices.Contains(emails, email) {
			emails = append(emails, email)
		}
	}
	if len(emails) == 0 {
		return
	}
	to := away
	if from.ID == away.ID {
		to = home
	}
	l.move(l.api.MovingAccounts(from, to, emails...), slices.ContainsFunc(emails, func(email string) bool { _, moved := l.at[email]; return moved }))
	for _, email := range emails {
		l.at[email] = to
	}
}

// move sends a valid move of accounts. Some of them may have moved before.
func (l *listed) move(call suites.Call, before bool) {
	r := l.api.Until("a moved account", call.MayBeRefused(), func(r suites.Response) bool { return r.Status == http.StatusOK })
	switch {
	case r.OK():
	case r.Status == http.StatusOK: // sent again, it would move what is no longer there
		l.api.NotAssessed("a usable response from %s", spec.MoveAccounts)
	case !before: // the accounts are where the profile says
		l.api.MustDo(call)
	default:
		l.api.Examine(spec.AccountsMoved, spec.MoveAccounts, r, suites.BeServed())
		l.api.NotAssessed("a known location of the accounts")
	}
}

// spend deletes a subsequence, which nothing can make again, and looks for everything that
// a deletion must show.
func (l *listed) spend() {
	api := l.api
	id, others := api.Expendable()
	list := api.As(dataset.Main, spec.ListSubsequences)
	var before suites.Walk
	api.Aside(func() { before = api.ReadAll(list) })
	row := before.Row(id)
	if row == nil {
		api.NotAssessed("the subsequence that is to be deleted in %s", spec.ListSubsequences)
	}
	remove := api.As(dataset.Main, spec.DeleteSubsequence).WithID(id)
	deleted := api.MustDo(remove)
	api.Examine(spec.StateDeleteAnswer, spec.DeleteSubsequence, deleted, suites.KeepID("id", id))
	api.Examine(spec.StateDeleteAnswer, spec.DeleteSubsequence, deleted, suites.AgreeAtItsEnd(row))

	var after suites.Walk
	api.Eventually("a deletion in the list", func() bool {
		after = api.ReadAll(list)
		return after.Row(id) == nil
	})
	api.Examine(spec.StateDeleteList, spec.DeleteSubsequence, after, suites.NotShowRow(id, "the deleted"))
	for _, other := range others {
		if before.Row(other) != nil {
			api.Examine(spec.StateDeleteOthers, spec.DeleteSubsequence, after, suites.ShowRow(other, "the other resource"))
		}
	}
	gone := func(r suites.Response) bool { return r.Status == http.StatusNotFound }
	again := api.Until("a deletion that is repeated", remove.MayGet(http.StatusNotFound), gone)
	api.Count(spec.StateDeleteAgain, spec.DeleteSubsequence, 1)
	if !gone(again) {
		api.Charge(spec.StateDeleteAgain, spec.DeleteSubsequence, suites.Finding{Response: again, Pointer: "status", Expected: "404", Actual: fmt.Sprint(again.Status)})
	}
	l.deleted = id
}

// moveToDeleted tries to move a lead to the subsequence that the sequence has deleted.
func (l *listed) moveToDeleted() {
	moving := l.api.RequestAs(dataset.Main, spec.MoveLead).WithField("subsequence_id", l.deleted)
	// A deletion may take a moment to show.
	refused := l.api.Until("a deletion in a lead move", moving.MayBeRefused(), func(r suites.Response) bool { return r.Status/100 == 4 })
	l.api.Examine(spec.StateDeleteMove, spec.MoveLead, refused, suites.BeRefused())
}
