package suites

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strings"

	. "github.com/onsi/ginkgo/v2"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/internal/oracle"
	"outreach.example/conformance/internal/paging"
	"outreach.example/conformance/spec"

	. "outreach.example/conformance/suites/api"
)

// isolation keeps the main workspace and a second one apart.
func isolation() {
	for _, op := range spec.IsolationList.Operations() {
		Describe(op.ID, func() {
			It("shows no row in two workspaces", Requires(spec.IsolationList), Needs(Cursor(op.ID), unrelatedWorkspace(op)), func(api *API) {
				expectNoRowShared(api)
			})
		})
	}
	for _, op := range spec.IsolationOwner.Operations() {
		Describe(op.ID, func() {
			It("names the key's workspace as the owner", Rules(spec.IsolationOwner), Needs(Owner(AuthorizedRole(op)), Cursor(op.ID).Optional()), Expends(spec.DeleteSubsequence, 1), func(api *API) {
				NeedOwner(api, AuthorizedRole(op))
				if op.Answer == spec.Page {
					api.Walk(KeysOf(api.Request()), PagesOf(spec.MaxLimit))
				} else {
					api.Do(api.Request())
				}
			})
		})
	}
	for _, op := range spec.IsolationID.Operations() {
		Describe(op.ID, func() {
			if spec.Has(spec.IsolationUntouched.On(op.ID)) {
				It("does not serve another workspace's resource", Requires(spec.IsolationID, spec.IsolationUntouched), Needs(foreignRequest(op)...), Expends(spec.DeleteSubsequence, 1), func(api *API) {
					refused := expectForeignIDRefused(api)
					ours := expectForeignKeysRefused(api)
					awaitLaterChange(api)
					untouched := api.For(spec.IsolationUntouched)
					expectThere(api, untouched, refused.Call, func(operation string) Call { return api.As(dataset.Second, operation) })
					expectThere(api, untouched, ours, asMain(api))
				})
			} else {
				It("does not serve another workspace's resource", Requires(spec.IsolationID), Needs(foreignRequest(op)...), func(api *API) {
					expectForeignIDRefused(api)
					expectForeignKeysRefused(api)
				})
			}
		})
	}
	for _, op := range spec.IsolationFilter.Operations() {
		Describe(op.ID, func() {
			It("shows nothing of another workspace, whatever the filter", Requires(spec.IsolationFilter), Needs(KeyFor(dataset.Second, op.ID), filtersNamed(op)), expectForeignFilters)
		})
	}
	Describe(spec.CreatePlacementTest, func() {
		It("creates a test in the key's workspace alone", Requires(spec.IsolationCreate),
			Needs(RequestOf(dataset.Second, spec.CreatePlacementTest), RequestOf(dataset.Main, spec.CreatePlacementTest), Implemented(spec.GetPlacementTest), IDIn(dataset.Second, spec.CreatePlacementTest, "campaign").Optional()), func(api *API) {
				made := api.Do(api.RequestAs(dataset.Second, spec.CreatePlacementTest))
				get := api.As(dataset.Second, spec.GetPlacementTest).WithID(made.ID()).MayGet(http.StatusNotFound)
				found := Until(api, "a created test in a get", get, Response.OK)
				if api.Expect(found).To(BeServed()) {
					api.Do(api.As(dataset.Main, spec.GetPlacementTest).WithID(made.ID()).MustBeRefused(spec.IsolationCreate))
				}
				foreign := AnID(api, dataset.Second, made.Call.Operation, "campaign")
				expectNotAccepted(api, api.Request().WithField("campaign_id", foreign))
			})
	})
	Describe(spec.MoveLead, func() {
		It("does not move a lead to another workspace's subsequence", Requires(spec.IsolationSubsequence), Needs(IDIn(dataset.Second, spec.MoveLead, "subsequence")), func(api *API) {
			foreign := AnID(api, dataset.Second, api.Operation(), "subsequence")
			api.Do(api.Request().WithField("subsequence_id", foreign).MustBeRefused(spec.IsolationSubsequence))
		})
	})
}

// unrelatedWorkspace is the need for a workspace whose list must not show rows of the main one.
func unrelatedWorkspace(op spec.Operation) Need {
	none := Input(fmt.Sprintf("a row of %s in a workspace that shares no admin workspace with %q, such as %q", op.ID, dataset.Main, dataset.Second),
		func(p *profile.Profile) bool {
			return slices.ContainsFunc(rolesThatRead(p), func(role string) bool { return apart(p, op, dataset.Main, role) })
		})
	return All(func(p *profile.Profile) []Need {
		if apart(p, op, dataset.Main, dataset.Second) {
			return []Need{KeyFor(dataset.Second, op.ID)}
		}
		return []Need{none}
	})
}

// foreignRequest returns what the specs need that name another workspace's resource.
func foreignRequest(op spec.Operation) []Need {
	needs := []Need{ForeignRequest(op.ID)}
	if !spec.Has(spec.IsolationUntouched.On(op.ID)) {
		return append(needs, RequestOf(dataset.Main, op.ID).Optional())
	}
	return append(needs, SecondWorkspace.For(spec.IsolationUntouched), RequestOf(dataset.Main, op.ID).For(spec.IsolationUntouched),
		effectShows(op).For(spec.IsolationUntouched))
}

// filtersNamed is the need for the names of all filters of the list.
func filtersNamed(op spec.Operation) Need {
	return All(func(*profile.Profile) (needs []Need) {
		for _, f := range oracle.Filters(op.ID) {
			needs = append(needs, filterNamed(op, f))
		}
		return needs
	})
}

// expectNoRowShared compares the lists of all unrelated workspaces that the profile
// has.
func expectNoRowShared(api *API) {
	needOwners(api, dataset.Main, dataset.Second)
	roles := []string{dataset.Main} // first, so that its row is the violation
	if apart(api.Profile, api.Operation(), dataset.Main, dataset.Second) {
		roles = append(roles, dataset.Second)
	}
	for _, role := range unrelatedRoles(api) {
		if !slices.Contains(roles, role) && api.Workspace(role).ID != "" {
			roles = append(roles, role)
		}
	}
	read, foreign := map[string]Walk{}, 0
	for _, role := range roles {
		read[role] = Shared(api, api.As(role, api.Operation().ID))
		if apart(api.Profile, api.Operation(), dataset.Main, role) {
			foreign += len(read[role].Rows())
		}
	}
	if foreign == 0 {
		api.NotAssessed("a row of %s in a workspace that shares no admin workspace with %q, such as %q", api.Operation().ID, dataset.Main, dataset.Second)
	}
	for i, role := range roles {
		for _, other := range roles[i+1:] {
			if apart(api.Profile, api.Operation(), role, other) {
				api.Expect(read[role]).To(ShareNoRowWith(read[other]))
			}
		}
	}
}

// unrelatedRoles returns the roles of workspaces that must not see each other's rows, 2 of
// each group: more would show nothing new. Those below a workspace that has not paid, or
// whose limit is exhausted, are left out.
func unrelatedRoles(api *API) []string {
	const most = 2
	count := map[string]int{group(api.Profile, dataset.Limited): most, group(api.Profile, dataset.Unpaid): most, "": most}
	needOwners(api, append(rolesThatRead(api.Profile), dataset.Limited, dataset.Unpaid)...)
	var roles []string
	for _, role := range readingRoles(api) {
		if group := group(api.Profile, role); count[group] < most {
			count[group]++
			roles = append(roles, role)
		}
	}
	return roles
}

// apart reports whether the lists of two workspaces must differ. The profile may not say
// which workspaces the main one and the second are. They still are two, but may be in one
// group.
func apart(p *profile.Profile, op spec.Operation, role, other string) bool {
	if group(p, role) != "" && group(p, other) != "" {
		return unrelated(p, role, other)
	}
	return role == dataset.Main && other == dataset.Second && op.ID != spec.ListGroupMembers
}

// unrelated reports whether two workspaces are known to be different, and not to belong
// to one admin workspace: the specification does not say what those share.
func unrelated(p *profile.Profile, role, other string) bool {
	a, b := group(p, role), group(p, other)
	return a != "" && b != "" && a != b
}

// needOwners ends the spec if rows show other workspaces than those that the profile names.
func needOwners(api *API, roles ...string) {
	for _, role := range roles {
		if api.Has(Owner(role)) {
			NeedOwner(api, role)
		}
	}
}

// group returns the id of the admin workspace of a role's workspace, or its own if it
// has none; "" if unknown.
func group(p *profile.Profile, role string) string {
	id := p.Workspaces[role].ID
	return strings.ToLower(cmp.Or(p.AdminOf(id), id))
}

// expectForeignKeysRefused names a resource of the main workspace, with the key of each
// unrelated workspace. What it deletes is the run's own, or expendable.
func expectForeignKeysRefused(api *API) (ours Call) {
	needOwners(api, dataset.Main)
	ours = api.Request()
	for _, role := range unrelatedRoles(api) {
		if !unrelated(api.Profile, dataset.Main, role) {
			continue
		}
		key, _ := api.Profile.FullKey(role)
		k := ours.WithKey(key.ForClient()).MustBeRefused(spec.IsolationID)
		for _, n := range ours.Operation.Names {
			if own, _, _ := api.Workspace(role).Named(n.Kind); n != ours.Operation.Subject() && len(own) > 0 {
				k = k.WithField(n.Field, own[0])
			}
		}
		for _, form := range foreignForms(api, role, k) {
			api.Do(form)
		}
	}
	return ours
}

// withMetadataToo returns the request, and that of a test also with its metadata: a server
// may read them together, past the check of the owner.
func withMetadataToo(k Call) []Call {
	if !k.Operation.Takes("with_metadata") {
		return []Call{k}
	}
	return []Call{k, k.WithQuery("with_metadata", "true")}
}

// foreignForms returns the request for a row of another workspace, also with each optional
// part, and with the id in upper case letters. A server may look up the row of such a
// request without a check of the owner.
func foreignForms(api *API, role string, k Call) []Call {
	return slices.Concat([]Call{k}, withEachPart(api, role, k), withOtherCase(k))
}

// expectForeignIDRefused names a resource of the second workspace in a request
// that is valid otherwise.
func expectForeignIDRefused(api *API) Response {
	op := api.Operation()
	k := Naming(api, api.As(dataset.Main, op.ID), func(n spec.Named) string {
		if n == op.Subject() {
			return AnID(api, dataset.Second, op, n.Kind)
		}
		return AnID(api, dataset.Main, op, n.Kind)
	})
	forms := foreignForms(api, dataset.Main, k.MustBeRefused(spec.IsolationID))
	response := api.Do(forms[0])
	for _, form := range forms[1:] {
		api.Do(form)
	}
	api.Observe(spec.OpenPointForeignID, "%d", response.Status)
	return response
}

// expectForeignFilters uses each filter of the list by values of the second workspace's
// rows: first by those that the fewest rows of the main one have.
func expectForeignFilters(api *API) {
	const most = 2 // values of each filter
	op := api.Operation()
	ours, theirs := Shared(api, api.As(dataset.Main, op.ID)), Shared(api, api.As(dataset.Second, op.ID))
	shared := ours.Keys()
	theirs.Pages = slices.Clone(theirs.Pages)
	for i := range theirs.Pages { // the lists of workspaces that belong together may share rows
		page := &theirs.Pages[i]
		page.Rows = slices.DeleteFunc(slices.Clone(page.Rows), func(row paging.Row) bool { return shared[row.Key] > 0 })
	}
	var filtered []Call
	for _, f := range oracle.Filters(op.ID) {
		for _, u := range f.Foreign(theirs.Rows(), ours.Rows(), most) {
			filtered = append(filtered, FilteredBy(api, api.Request(), u.Query).MayBeRefused())
		}
	}
	if len(filtered) == 0 {
		api.NotAssessed("a row of %s in the workspace %q with a value to filter by", op.ID, dataset.Second)
	}
	whole := oracle.Query{Sizes: []int{spec.MaxLimit}, Pages: oracle.WholeWalk}
	for _, w := range Each(api, filtered, func(k Call) Walk { return Ask(api, k, whole).Walk }) {
		api.Expect(w).To(ShareNoRowWith(theirs))
	}
}
