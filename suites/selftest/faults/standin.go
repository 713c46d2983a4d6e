package faults

import (
	"bytes"
	"net/http"
	"slices"
	"strings"

	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/spec"
)

// success is the answer to an account move (Endpoints / Accounts).
func success(x *exchange) { x.show(fields{"status": "success"}) }

// standIn answers as the role's workspace would be answered, in the name of the workspace that
// asks. It leaves nothing created, deleted or moved. What the request names is the role's
// own if it has such a thing, and else its first of the kind.
func standIn(role string) verb { return func(x *exchange) { x.standIn(role) } }

func (x *exchange) standIn(role string) {
	w, asked := x.Profile.Workspaces[role], x.Request
	op := spec.MustOperation(x.Operation)
	var names renaming
	names.add(x.home().ID, w.ID)
	x.again() // the target may have refused
	withKey(role)(x)
	switch {
	case x.Operation == spec.MoveAccounts:
		success(x)
		return
	case x.Operation == spec.CreatePlacementTest:
		inPassing(x)
	case x.Operation == spec.MoveLead:
		body := x.sent()
		lead, subsequence := textOf(body, "id"), textOf(body, "subsequence_id")
		put("id", func(*exchange, any) any { return names.add(lead, ownOr(w.Leads, lead)) })(x)
		put("subsequence_id", func(*exchange, any) any { return names.add(subsequence, ownOr(w.Subsequences, subsequence)) })(x)
	case x.Operation == spec.AddCampaignVariables:
		x.Request = x.withID(names.add(asked.ID, ownOr(w.Campaigns, asked.ID)))
	case op.HasPathID():
		x.pretend(w, x.key(role), &names)
	}
	if x.served() {
		x.answer.Body = names.undo(x.answer.Body)
	}
}

// pretend answers a request for a resource that a list shows, and deletes nothing.
func (x *exchange) pretend(w profile.Workspace, token string, names *renaming) {
	asked := x.ID
	row, own := x.rowByID(token, asked)
	if !own {
		known := x.listFor(listOf(x.Operation), token)
		if len(known) == 0 {
			return
		}
		row = copyOf(known[0].fields).(fields)
		names.add(asked, textOf(row, "id"))
	}
	if x.Method == http.MethodDelete {
		x.show(row)
		return
	}
	x.Request = x.withID(textOf(row, "id"))
}

// ownOr returns the id if it is one of ids, and else the first of them.
func ownOr(ids []string, id string) string {
	if slices.Contains(ids, id) {
		return id
	}
	return first(ids)
}

// resourceID returns the id of the resource that a request is about.
func (x *exchange) resourceID() string {
	if x.ID != "" {
		return x.ID
	}
	return textOf(x.sent(), "id")
}

// owns reports whether the role's workspace has the resource that the request is about, in
// either letter case.
func (x *exchange) owns(role string) bool {
	w := x.Profile.Workspaces[role]
	if slices.ContainsFunc(slices.Concat(w.Campaigns, w.Leads), func(id string) bool { return strings.EqualFold(id, x.resourceID()) }) {
		return true
	}
	if listOf(x.Operation) == "" {
		return false
	}
	_, ok := x.rowByID(x.key(role), x.resourceID())
	return ok
}

// ownedBy is a request about a resource of the role's workspace.
func ownedBy(role string) occasion { return func(x *exchange) bool { return x.owns(role) } }

// claim sets the owner of the operation's row to the workspace.
func claim(operation string, row fields, workspace string) {
	for _, field := range spec.MustOperation(operation).Owner {
		row[field] = workspace
	}
}

// renaming maps requested ids to the ids used instead.
type renaming []struct{ asked, standIn string }

// add records a replacement and returns it.
func (n *renaming) add(asked, standIn string) string {
	*n = append(*n, struct{ asked, standIn string }{asked, standIn})
	return standIn
}

// undo restores the requested ids in a body.
func (n renaming) undo(body []byte) []byte {
	for _, name := range n {
		if name.standIn != "" && name.asked != "" {
			body = bytes.ReplaceAll(body, []byte(name.standIn), []byte(name.asked))
		}
	}
	return body
}
