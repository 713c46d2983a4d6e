package refserver

import (
	"fmt"
	"iter"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/refserver/limiter"
	"outreach.example/conformance/refserver/store"
)

// loader turns the data set into a world and remembers the first fault.
type loader struct {
	ids *idSource
	err error
}

// fail remembers a fault in words that name the place.
func (l *loader) fail(format string, args ...any) {
	if l.err == nil {
		l.err = fmt.Errorf("refserver: "+format, args...)
	}
}

// world loads all workspaces.
func (l *loader) world(data *dataset.Data, limiters map[string]limiter.Config) *world {
	w := &world{
		byRole: map[string]*workspace{}, byID: map[string]*workspace{},
		accounts: newAccountBook(), limiters: map[string]*limiter.Group{},
	}
	for _, d := range data.Workspaces {
		if id, ok := parseUUID(d.ID); !ok || id != d.ID {
			l.fail("workspace %s: the id %q is not a UUID in lower case", d.Role, d.ID)
		}
		if w.byRole[d.Role] != nil || w.byID[d.ID] != nil {
			l.fail("workspace %s: its role or id occurs twice", d.Role)
		}
		ws := l.workspace(d)
		w.byRole[ws.role], w.byID[ws.id] = ws, ws
		w.accounts.add(d.ID, d.Accounts)
	}
	for role, config := range limiters {
		if err := config.Validate(); err != nil {
			l.fail("limiter of %s: %w", role, err)
		}
		if role != AnyRole && w.byRole[role] == nil {
			l.fail("limiter of %s: no workspace has this role", role)
		}
	}
	for role := range w.byRole {
		config, ok := limiters[role]
		if !ok {
			config = limiters[AnyRole]
		}
		if len(config.Layers) > 0 {
			w.limiters[role] = limiter.NewGroup(config)
		}
	}
	return w
}

func (l *loader) workspace(d dataset.Workspace) *workspace {
	ws := &workspace{
		id: d.ID, role: d.Role, adminID: d.AdminID, isAdmin: d.IsAdmin, paid: d.Paid,
		campaigns:    load(l, d.Role+" campaigns", d.Campaigns, campaignRow),
		leads:        load(l, d.Role+" leads", d.Leads, leadRow),
		subsequences: load(l, d.Role+" subsequences", d.Subsequences, subsequenceRow),
		tests:        load(l, d.Role+" tests", d.Tests, testRow),
		reports:      load(l, d.Role+" reports", d.Reports, reportRow),
		members:      load(l, d.Role+" members", d.Members, memberRow),
		groupMembers: load(l, d.Role+" group members", d.GroupMembers, groupMemberRow),
		orders:       load(l, d.Role+" orders", d.Orders, orderRow),
		tagMappings:  load(l, d.Role+" tag mappings", d.TagMappings, tagMappingRow),
		leadLabels:   load(l, d.Role+" lead labels", d.LeadLabels, leadLabelRow),
		leadLists:    load(l, d.Role+" lead lists", d.LeadLists, leadListRow),
		phoneNumbers: load(l, d.Role+" phone numbers", d.PhoneNumbers, phoneNumberRow),
		events:       load(l, d.Role+" webhook events", d.Events, eventRow),
	}
	if l.err != nil {
		return ws // lists may be missing
	}
	rising(l, d.Role+" lead labels", ws.leadLabels, func(a *leadLabelAttrs) string { return a.created })
	rising(l, d.Role+" lead lists", ws.leadLists, func(a *leadListAttrs) string { return a.created })
	ws.memberByEmail = map[string]string{}
	for row := range ws.members.Snapshot().Ascend(store.Position{}) {
		if ws.memberByEmail[row.Attrs.email] != "" {
			l.fail("%s members: the email %q occurs twice, so it cannot be a cursor", d.Role, row.Attrs.email)
		}
		ws.memberByEmail[row.Attrs.email] = row.ID
	}
	return ws
}

// load builds one list from its rows; no sequence is no rows.
func load[R, A any](l *loader, name string, rows iter.Seq[R], toRow func(R) (store.Row[A], error)) *store.List[A] {
	list, err := store.Build(func(yield func(store.Row[A], error) bool) {
		if rows == nil {
			return
		}
		for r := range rows {
			row, err := toRow(r)
			if id, ok := parseUUID(row.ID); err == nil && (!ok || id != row.ID) {
				err = fmt.Errorf("the id %q is not a UUID in lower case", row.ID)
			}
			if !yield(row, err) {
				return
			}
		}
	})
	if err != nil {
		l.fail("%s: %w", name, err)
		return nil
	}
	for last := range list.Snapshot().Descend(list.Snapshot().End()) {
		l.ids.above(last.ID)
		break
	}
	return list
}

// rising makes sure that the timestamps of a list that is paged by them rise
// from row to row: a page that ends between two rows of one timestamp would
// lose the second.
func rising[A any](l *loader, name string, list *store.List[A], created func(*A) string) {
	last := ""
	for row := range list.Snapshot().Ascend(store.Position{}) {
		if created(&row.Attrs) <= last {
			l.fail("%s: timestamp_created of row %s does not come after that of the row before it", name, row.ID)
		}
		last = created(&row.Attrs)
	}
}

// rowOf renders a resource as a row.
func rowOf[A any](id string, resource any, attrs A) (store.Row[A], error) {
	doc, err := render(resource)
	return store.Row[A]{ID: id, Doc: doc, Attrs: attrs}, err
}
