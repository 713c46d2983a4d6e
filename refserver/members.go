package refserver

import (
	"strings"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/refserver/store"
)

type memberAttrs struct {
	email      string // as the member shows it
	name, mail string // first and last name; email; both in lower case
	accepted   bool
}

func memberRow(r dataset.WorkspaceMember) (store.Row[memberAttrs], error) {
	return rowOf(r.ID, r, memberAttrs{
		email:    r.Email,
		name:     strings.ToLower(r.Name.First + " " + r.Name.Last),
		mail:     strings.ToLower(r.Email),
		accepted: r.Accepted,
	})
}

// members can be searched by a part of the name or of the email, in any case.
var members = listing[memberAttrs]{
	rows:   func(ws *workspace) *store.List[memberAttrs] { return ws.members },
	cursor: byMember,
	filter: func(q *query) func(*memberAttrs) bool {
		accepted, given := q.boolean("accepted")
		search := q.folded("search")
		if !given && search == "" {
			return nil
		}
		return func(a *memberAttrs) bool {
			return (!given || a.accepted == accepted) && (strings.Contains(a.name, search) || strings.Contains(a.mail, search))
		}
	},
}

// byMember is the cursor of the members: the email of the last row, which is
// unique in a workspace and cannot be deleted.
var byMember = cursor[memberAttrs]{
	must: "the email that next_starting_after gave",
	read: func(ws *workspace, text string) func(*store.Row[memberAttrs]) int {
		id, ok := ws.memberByEmail[text]
		if !ok {
			return nil
		}
		return orderTo[memberAttrs](id)
	},
	of: func(row *store.Row[memberAttrs]) string { return row.Attrs.email },
}

func groupMemberRow(r dataset.WorkspaceGroupMember) (store.Row[none], error) {
	return rowOf(r.ID, r, none{})
}

var groupMembers = listing[none]{
	rows:   func(ws *workspace) *store.List[none] { return ws.groupMembers },
	cursor: byID[none](),
}
