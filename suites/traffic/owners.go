package traffic

import (
	"cmp"
	"crypto/sha256"
	"slices"
	"strings"

	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/internal/paging"
	"outreach.example/conformance/spec"
)

// mostKnown bounds the rows whose workspaces are known, and the cursors.
const mostKnown = 100_000

// digest stands for a text of any length.
type digest [sha256.Size]byte

func digestOf(text string) digest { return sha256.Sum256([]byte(text)) }

// own notes that the workspace of the role has the row.
func (j *Judge) own(role, id string) {
	if id = paging.FoldID(id); len(j.owners) < mostKnown && !slices.Contains(j.owners[id], role) {
		j.owners[id] = append(j.owners[id], role)
	}
}

// has reports whether the workspace of the role was seen to have the row, and which workspace has it
// that shares no admin workspace with it; "" for none.
func (j *Judge) has(role, id string) (own bool, other string) {
	for _, owner := range j.owners[paging.FoldID(id)] {
		if a, b := j.group(role), j.group(owner); owner != role && a != "" && b != "" && a != b {
			other = owner
		}
		own = own || owner == role
	}
	return own, other
}

// group returns the id of the admin workspace of a role's workspace, or its own if it has none.
func (j *Judge) group(role string) string {
	id := j.profile.Workspaces[role].ID
	return strings.ToLower(cmp.Or(j.profile.AdminOf(id), id))
}

// named are the fields in which a request may name what another workspace has, with the requirement
// that it is not served then.
var named = []struct {
	field string
	id    spec.ID
}{{"id", spec.IsolationID}, {"subsequence_id", spec.IsolationSubsequence}, {"campaign_id", spec.IsolationCreate}}

// foreign returns the requirement that a request breaks if it is served, because it names what
// another workspace has; "" for none. The profile must know the key.
func (j *Judge) foreign(x *exchange) spec.ID {
	for _, n := range named {
		if own, other := j.has(x.key.Workspace, x.named(n.field)); !own && other != "" && spec.Has(n.id.On(x.op().ID)) {
			return n.id
		}
	}
	return ""
}

// learn notes the cursor of a page, and whose rows an exchange shows. No unrelated workspace may
// have the rows.
func (j *Judge) learn(x *exchange) {
	if next := x.Cursor(); next != "" && len(j.cursors) < mostKnown {
		j.cursors[digestOf(x.op().ID+next)] = true
	}
	shows := x.op().Answer != spec.One && x.op().ID != spec.ListGroupMembers || x.op().ID == spec.CreatePlacementTest
	if !shows || !x.OK() || x.key == nil || !x.key.known {
		return
	}
	id := spec.IsolationList
	if len(x.filters) > 0 && x.filters[profile.ParamSortOrder] == "" {
		id = spec.IsolationFilter
	}
	for i, row := range x.rows {
		if !row.ByID {
			continue
		}
		if _, other := j.has(x.key.Workspace, row.Key); other != "" {
			j.charge(id, x.op().ID, x, x.op().RowPointer(i), "a row of the key's workspace alone", "the row "+row.Key+", which the workspace "+other+" has")
		}
		j.own(x.key.Workspace, row.Key)
	}
}
