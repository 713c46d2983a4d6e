package refserver

import (
	"outreach.example/conformance/refserver/limiter"
	"outreach.example/conformance/refserver/store"
)

// world is all that requests can change. A reset replaces it as a whole, so
// that a request that is under way ends in the world in which it began.
type world struct {
	byRole   map[string]*workspace
	byID     map[string]*workspace
	accounts *accountBook
	limiters map[string]*limiter.Group // by role; none for a role without a limit
}

// workspace is one organization with its lists.
type workspace struct {
	id, role string
	adminID  string // of its admin workspace; empty for none
	isAdmin  bool
	paid     bool

	campaigns    *store.List[campaignAttrs]
	leads        *store.List[none]
	subsequences *store.List[subsequenceAttrs]
	tests        *store.List[testAttrs]
	reports      *store.List[reportAttrs]
	members      *store.List[memberAttrs]
	groupMembers *store.List[none]
	orders       *store.List[none]
	tagMappings  *store.List[tagMappingAttrs]
	leadLabels   *store.List[leadLabelAttrs]
	leadLists    *store.List[leadListAttrs]
	phoneNumbers *store.List[none]
	events       *store.List[eventAttrs]

	memberByEmail map[string]string // id of the member; never changes
}

// none stands for rows that are not filtered.
type none struct{}

// fork returns a world that is like this one is now, with fresh limiters.
func (w *world) fork() *world {
	fork := &world{
		byRole: map[string]*workspace{}, byID: map[string]*workspace{},
		accounts: w.accounts.fork(), limiters: map[string]*limiter.Group{},
	}
	for role, ws := range w.byRole {
		copied := ws.fork()
		fork.byRole[role], fork.byID[ws.id] = copied, copied
	}
	for role, group := range w.limiters {
		fork.limiters[role] = limiter.NewGroup(group.Config())
	}
	return fork
}

func (ws *workspace) fork() *workspace {
	fork := *ws
	fork.campaigns = ws.campaigns.Fork()
	fork.leads = ws.leads.Fork()
	fork.subsequences = ws.subsequences.Fork()
	fork.tests = ws.tests.Fork()
	fork.reports = ws.reports.Fork()
	fork.members = ws.members.Fork()
	fork.groupMembers = ws.groupMembers.Fork()
	fork.orders = ws.orders.Fork()
	fork.tagMappings = ws.tagMappings.Fork()
	fork.leadLabels = ws.leadLabels.Fork()
	fork.leadLists = ws.leadLists.Fork()
	fork.phoneNumbers = ws.phoneNumbers.Fork()
	fork.events = ws.events.Fork()
	return &fork
}
