package traffic

import (
	"cmp"
	"slices"
	"strings"

	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/internal/paging"
	"outreach.example/conformance/spec"
)

// owners say in which workspaces a row was seen, by its id: those that the profile has.
type owners map[string][]string

// mostOwned bounds the rows whose workspaces are known.
const mostOwned = 100_000

func (o owners) add(id, role string) {
	if id = paging.FoldID(id); len(o) < mostOwned && !slices.Contains(o[id], role) {
		o[id] = append(o[id], role)
	}
}

// ownersOf returns what the profile says.
func ownersOf(p *profile.Profile) owners {
	o := owners{}
	for role, w := range p.Workspaces {
		for _, e := range w.Entries() {
			for _, id := range e.IDs {
				o.add(id, role)
			}
		}
	}
	return o
}

// owns notes whose rows an exchange shows, and the cursor. The profile must know the key.
func (j *Judge) owns(x *exchange) {
	if next := x.Cursor(); next != "" && len(j.cursors) < mostOwned {
		j.cursors[x.op().ID+next] = true
	}
	lists, creates := x.op().Answer != spec.One, x.op().ID == spec.CreatePlacementTest
	if !x.OK() || x.key == nil || !x.key.known || x.op().ID == spec.ListGroupMembers || !lists && !creates {
		return
	}
	for _, row := range x.rows {
		if row.ByID {
			j.shared(x, row)
			j.owners.add(row.Key, x.key.Workspace)
		}
	}
}

// shared judges that no unrelated workspace has the row.
func (j *Judge) shared(x *exchange, row paging.Row) {
	id := spec.IsolationList
	if len(x.filters) > 0 && x.filters[profile.ParamSortOrder] == "" {
		id = spec.IsolationFilter
	}
	other := j.unrelated(row.Key, x.key.Workspace)
	if other == "" {
		return
	}
	at := slices.IndexFunc(x.rows, func(r paging.Row) bool { return r.Key == row.Key })
	j.charge(id, x.op().ID, x, x.op().RowPointer(at), "a row of the key's workspace alone", "the row "+row.Key+", which the workspace "+other+" has")
}

// isOwn reports whether the row is of the key's workspace, and of no other.
func (j *Judge) isOwn(x *exchange, id string) bool {
	roles := j.owners[paging.FoldID(id)]
	return len(roles) == 1 && roles[0] == x.key.Workspace
}

// unrelated returns a workspace that has the row, if the role's workspace does not, and shares no
// admin workspace with it.
func (j *Judge) unrelated(id, role string) string {
	for _, other := range j.owners[paging.FoldID(id)] {
		if a, b := j.group(role), j.group(other); other != role && a != "" && b != "" && a != b {
			return other
		}
	}
	return ""
}

// group returns the id of the admin workspace of a role's workspace, or its own if it has none.
func (j *Judge) group(role string) string {
	id := j.profile.Workspaces[role].ID
	return strings.ToLower(cmp.Or(j.profile.AdminOf(id), id))
}

// foreign returns the requirement that a request breaks if it is served, because it names what
// another workspace has; "" for none. The profile must know the key.
func (j *Judge) foreign(x *exchange) spec.ID {
	role, body := x.key.Workspace, x.Call.Members()
	text := func(name string) string { s, _ := body[name].(string); return s }
	switch x.op().ID {
	case spec.MoveLead:
		switch {
		case j.only(text("id"), role):
			return spec.IsolationID
		case j.only(text("subsequence_id"), role):
			return spec.IsolationSubsequence
		}
	case spec.CreatePlacementTest:
		if j.only(text("campaign_id"), role) {
			return spec.IsolationCreate
		}
	}
	if x.op().HasPathID() && j.only(x.Call.ID, role) {
		return spec.IsolationID
	}
	return ""
}

// only reports whether unrelated workspaces alone have the row.
func (j *Judge) only(id, role string) bool {
	return id != "" && j.unrelated(id, role) != "" && !slices.Contains(j.owners[paging.FoldID(id)], role)
}
