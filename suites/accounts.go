package suites

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	. "github.com/onsi/ginkgo/v2"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/internal/client"
	"outreach.example/conformance/spec"

	. "outreach.example/conformance/suites/api"
)

// accounts judges moving accounts between workspaces. No operation lists
// accounts: only a further move shows where an account is.
func accounts() {
	Describe(spec.MoveAccounts, func() {
		It("moves accounts there and back", Requires(spec.AccountsMoved), func(api *API) {
			source, destination := TwoWorkspaces(api, dataset.Admin)
			movesThereAndBack(api, api.As(dataset.Admin, spec.MoveAccounts), source, destination)
		})

		It("refuses the key of a workspace that is no admin workspace", Requires(spec.AdminKey), Needs(plainKey), func(api *API) {
			source, destination := TwoWorkspaces(api, dataset.Admin)
			api.Take(plainKey)
			for _, key := range plainKeys(api.Profile, source, destination) {
				if !expectNoMove(api, api.As(dataset.Admin, spec.MoveAccounts).WithKey(key), source, destination) {
					return
				}
			}
		})

		It("refuses workspaces that share no admin workspace", Requires(spec.AdminSame), Needs(outsider), func(api *API) {
			source, _ := TwoWorkspaces(api, dataset.Admin)
			api.Take(outsider)
			admin := api.As(dataset.Admin, spec.MoveAccounts)
			nowhere := profile.Workspace{ID: api.FreshID(), Accounts: source.Accounts} // shares no admin workspace either
			for _, other := range []profile.Workspace{api.Workspace(dataset.Outsider), nowhere} {
				if !expectNoMove(api, admin, source, other) {
					return
				}
				if len(other.Accounts) > 0 {
					api.Do(admin.WithBody(Move(other, source, other.Accounts[0])).MustBeRefused(spec.AdminSame))
				}
			}
		})

		It("does not move another admin workspace's accounts", Requires(spec.IsolationAccounts), Needs(FullKey(dataset.OutsiderAdmin)), func(api *API) {
			source, destination := TwoWorkspaces(api, dataset.Admin)
			expectNoMove(api, api.As(dataset.OutsiderAdmin, spec.MoveAccounts), source, destination)
		})

		documentedShape(func(api *API) {
			admin := api.As(dataset.Admin, spec.MoveAccounts)
			source, destination := TwoWorkspaces(api, dataset.Admin)
			for _, emails := range [][]string{source.Accounts[:1], source.Accounts} {
				moves(api, admin.WithBody(Move(source, destination, emails...)))
				moves(api, admin.WithBody(Move(destination, source, emails...)))
			}
		})
	})
}

// placeUnknown is the input that is missing if a server accepts a move of what is elsewhere.
const placeUnknown = "a refusal to move an account from where it is not: without that, nothing shows where it is"

// movesThereAndBack moves one account, then several. At the end it asks for a
// move of what is no longer where the request says. A server that accepts that
// would accept a move back of what never left, too.
func movesThereAndBack(api *API, admin Call, source, destination profile.Workspace) {
	moved := 0
	for _, emails := range [][]string{source.Accounts[:1], source.Accounts} {
		moves(api, admin.WithBody(Move(source, destination, emails...)))
		for _, email := range emails { // one by one: a move of several may have left some behind
			back := untilMoved(api, admin.WithBody(Move(destination, source, email)))
			if !back.OK() {
				api.Expect(back).To(BeServed())
				return // a further move of it would not be valid
			}
			moved++
		}
	}
	if again := api.Do(admin.WithBody(Move(destination, source, source.Accounts[0])).MayBeRefused()); again.Status == http.StatusOK {
		api.NotAssessed("%s", placeUnknown)
	}
	for range moved {
		api.For(spec.AccountsMoved).Assessed()
	}
}

// moves sends a valid move. An account that is not found at the end may have moved: only the
// first response shows that the target does not have it.
func moves(api *API, k Call) {
	first := api.Do(k.MayBeRefused())
	r := first
	if !isAccepted(first) {
		r = untilMoved(api, k)
	}
	switch {
	case r.OK():
	case isAccepted(r): // sent again, it would move what is no longer there
		api.NotAssessed("%s from %s", r.Shortfall(), k.Operation.ID)
	default:
		emails, _ := k.Members()["emails"].([]string)
		word := api.Word()
		unknown := word[len(word)-12:] + "@example.com" // short: a server may cut a long one in its message
		if AnswersAlike(api, first, emails, k.MayBeRefused().WithField("emails", []string{unknown}), unknown) {
			i := slices.IndexFunc(emails, func(email string) bool { return strings.Contains(string(first.Exchange.Body), email) })
			Lacks(api, api.IDs[strings.ToLower(emails[max(i, 0)])])
		}
		api.Do(k)
	}
}

// isAccepted reports whether the request took effect, whatever the body says.
func isAccepted(r Response) bool { return r.Status == http.StatusOK }

// untilMoved sends a valid move until it is accepted. An earlier move of the accounts may
// take a moment to show.
func untilMoved(api *API, k Call) Response {
	return Until(api, "a moved account", k.MayBeRefused(), isAccepted)
}

// outsider is the need for a workspace with another admin workspace.
var outsider = Input(fmt.Sprintf("the entry workspaces.%s (a workspace with another admin workspace)", dataset.Outsider),
	func(p *profile.Profile) bool { return p.Workspaces[dataset.Outsider].ID != "" })

// plainKey is the need for a key of a workspace that is no admin workspace.
var plainKey = Input(fmt.Sprintf("a key with the scope all:all of a workspace that is not an admin workspace (%s, %s)", dataset.SubA, dataset.Second),
	func(p *profile.Profile) bool {
		source, destination, _ := p.Moves(dataset.Admin)
		return len(plainKeys(p, source, destination)) > 0
	})

// plainKeys returns keys of workspaces that are no admin workspaces: those of
// the source and the destination, and that of a stranger.
func plainKeys(p *profile.Profile, source, destination profile.Workspace) []client.Key {
	var keys []client.Key
	for _, role := range []string{dataset.SubA, dataset.SubB, dataset.Second} {
		w := p.Workspaces[role]
		if key, ok := p.FullKey(role); ok && (w.ID == source.ID || w.ID == destination.ID || role == dataset.Second) {
			keys = append(keys, key.ForClient())
		}
	}
	return keys
}

// expectNoMove asks for a move that must be refused. The account must have
// stayed: the admin workspace can move it from its place, before and after. It reports
// whether the account is there at the end.
func expectNoMove(api *API, k Call, source, destination profile.Workspace) (home bool) {
	return moveAround(api, source, destination, func(account string) bool {
		attempt := api.Do(k.WithBody(Move(source, destination, account)).MustBeRefused(api.Requirement()))
		awaitLaterChange(api)
		return attempt.Status/100 == 4
	})
}

// moveAround moves the first account of the workspace away and back, before and after
// the attempts to move it to the destination. They report whether all were refused. If one
// moved it all the same, it is moved back: else the valid moves that follow would fail, too.
// moveAround reports whether the account is at home at the end.
func moveAround(api *API, source, destination profile.Workspace, attempts func(account string) bool) (home bool) {
	account := source.Accounts[0]
	admin := api.As(dataset.Admin, spec.MoveAccounts)
	_, sibling := TwoWorkspaces(api, dataset.Admin)
	away, back := admin.WithBody(Move(source, sibling, account)), admin.WithBody(Move(sibling, source, account))
	moves(api, away)
	moves(api, back)
	if attempts(account) && api.Expect(untilMoved(api, away)).To(BeServed()) {
		moves(api, back)
		return true
	}
	return isAccepted(untilMoved(api, admin.WithBody(Move(destination, source, account))))
}
