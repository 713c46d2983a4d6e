// Package lookup finds out which of the ids that a profile names its target has, as far as
// reading shows it. It judges nothing, and must not import the suites.
package lookup

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/google/uuid"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/internal/client"
	"outreach.example/conformance/internal/paging"
	"outreach.example/conformance/spec"
)

// ID is an id in a profile, or the address of an account.
type ID struct {
	Text, Role, Entry string
	place             string
}

// Lost says what is missing if the target does not have the id.
func (id ID) Lost() string {
	return fmt.Sprintf("what the entry workspaces.%s.%s names: the target does not have %s", id.Role, id.place, id.Text)
}

// In returns the ids of the role's workspace, each entry after the other; none for a stateless
// target, whose lists are examples.
func In(p *profile.Profile, role string) (all []ID) {
	if p.Stateless {
		return nil
	}
	for _, e := range p.Workspaces[role].Entries() {
		for i, text := range e.IDs {
			place := e.Name
			if e.List {
				place = fmt.Sprintf("%s[%d]", e.Name, i)
			}
			all = append(all, ID{text, role, e.Name, place})
		}
	}
	return all
}

// Sight is what a target shows of an id.
type Sight int

// Nothing shows the id of a lead, the address of an account, or a campaign or a tag that no
// row refers to.
const (
	Unseen Sight = iota // whether it exists
	There
	Gone
)

// Finder looks for ids. It reads each list once.
type Finder struct {
	Send    paging.Sender
	Profile *profile.Profile
	Serves  func(operation string) bool
	Pages   int // of a list that are read at most; 0 for 20

	read sync.Map // role and operation → function that returns what the list shows
}

// maxPages bounds how many pages of a list are read by default.
const maxPages = 20

// Look looks for an id of the profile. Its error means that there was no usable response.
func (f *Finder) Look(ctx context.Context, id ID) (s Sight, err error) {
	switch id.Entry {
	case "id":
		if owner, err := f.Owner(ctx, id.Role); owner != "" || err != nil {
			return sight(strings.EqualFold(owner, id.Text)), err
		}
		admin, _ := f.Profile.AdminKey(f.Profile.Workspaces[id.Role])
		return f.listed(ctx, admin.Workspace, spec.ListGroupMembers, "sub_workspace_id", id.Text)
	case "admin":
		return f.listed(ctx, id.Role, spec.ListGroupMembers, "admin_workspace_id", id.Text)
	case "subsequences", "expendable_subsequences":
		return f.listed(ctx, id.Role, spec.ListSubsequences, "id", id.Text)
	case "campaigns":
		s, err = f.listed(ctx, id.Role, spec.ListSubsequences, "parent_campaign", id.Text)
	case "tags":
		s, err = f.listed(ctx, id.Role, spec.ListTagMappings, "tag_id", id.Text)
	case "placement_tests":
		get := spec.MustOperation(spec.GetPlacementTest)
		key, ok := f.Key(id.Role, get)
		if !ok {
			break
		}
		ex := f.Send(ctx, request(get, id.Text, key))
		if ex.Status == http.StatusOK || ex.Status == http.StatusNotFound {
			s = sight(ex.Status == http.StatusOK)
		}
		return s, ex.Err
	}
	if s == Gone { // it may exist all the same
		s = Unseen
	}
	return s, err
}

func sight(there bool) Sight {
	if there {
		return There
	}
	return Gone
}

// Key returns a key of the role for the operation. No key asks where a check relies on the
// plan or the limit.
func (f *Finder) Key(role string, op spec.Operation) (client.Key, bool) {
	if !f.Serves(op.ID) || role == dataset.Unpaid || role == dataset.Limited {
		return client.Key{}, false
	}
	key, ok := f.Profile.KeyFor(role, op)
	return key.ForClient(), ok && key.State == profile.KeyActive
}

func request(op spec.Operation, id string, key client.Key) client.Request {
	return client.Request{Operation: op.ID, Method: op.Method, Path: op.URLPath(id), Key: key,
		Allowed: client.AnyRefusal(http.StatusOK, http.StatusNotImplemented)} // specs judge who is refused
}

// shown is what a list shows.
type shown struct {
	ids   map[string]bool // field and id
	owner string          // of the first row
	whole bool
}

// listed looks for an id in a field of a list.
func (f *Finder) listed(ctx context.Context, role, list, field, id string) (Sight, error) {
	in, err := f.list(ctx, role, spec.MustOperation(list), 100, cmp.Or(f.Pages, maxPages))
	switch {
	case in.ids[field+paging.FoldID(id)]:
		return There, nil
	case !in.whole, list == spec.ListGroupMembers && len(in.ids) == 0: // the key of a member may not see its group
		return Unseen, err
	}
	return Gone, nil
}

// list reads a list once for each limit.
func (f *Finder) list(ctx context.Context, role string, op spec.Operation, limit, pages int) (shown, error) {
	key, ok := f.Key(role, op)
	if !ok {
		return shown{}, nil
	}
	read, _ := f.read.LoadOrStore(fmt.Sprint(role, op.ID, limit), sync.OnceValues(func() (in shown, err error) {
		parameter, named := f.Profile.CursorParameter(op)
		if !named {
			pages = 1
		}
		ctx := client.From(ctx, fmt.Sprintf("looks for the ids of %s in %s (%d)", role, op.ID, limit))
		w := paging.Run(ctx, paging.List(f.Send, request(op, "", key), parameter), paging.Fixed(limit), pages)
		if noPage := (*paging.NoPageError)(nil); errors.As(w.Err, &noPage) {
			noPage.Exchange.Body = nil // it may be large, and the error is kept
		}
		in = shown{ids: map[string]bool{}, whole: w.Complete()}
		for _, row := range w.Rows() {
			for field, value := range row.Value {
				if id, ok := value.(string); ok && uuid.Validate(id) == nil {
					in.ids[field+paging.FoldID(id)] = true
				}
			}
		}
		if rows := w.Rows(); len(rows) > 0 {
			in.owner = OwnerOf(op, rows[0].Value)
		}
		return in, w.Err
	}))
	return read.(func() (shown, error))()
}

// Owner returns the workspace to which rows of the role's lists belong: its own if one list
// shows that; "" if no row shows any.
func (f *Finder) Owner(ctx context.Context, role string) (owner string, err error) {
	own := strings.ToLower(f.Profile.Workspaces[role].ID)
	for _, op := range spec.Operations() {
		if op.Answer != spec.Page || len(op.Owner) != 1 { // a membership belongs to 2 workspaces
			continue
		}
		in, err := f.list(ctx, role, op, 1, 1)
		if unusable := (*paging.NoPageError)(nil); in.owner == own || err != nil && !errors.As(err, &unusable) {
			return in.owner, err
		}
		if in.owner != "" {
			owner = in.owner
		}
	}
	return owner, nil
}

// OwnerOf returns the id of a row's workspace; "" if the row shows no UUID for it, or several.
func OwnerOf(op spec.Operation, row map[string]any) string {
	if len(op.Owner) != 1 {
		return ""
	}
	id, _ := row[op.Owner[0]].(string)
	if uuid.Validate(id) != nil {
		return ""
	}
	return strings.ToLower(id)
}

// All returns the ids of all workspaces by their text in lower case.
func All(p *profile.Profile) map[string]ID {
	all := map[string]ID{}
	for _, role := range slices.Sorted(maps.Keys(p.Workspaces)) {
		for _, id := range In(p, role) {
			if _, known := all[strings.ToLower(id.Text)]; !known {
				all[strings.ToLower(id.Text)] = id
			}
		}
	}
	return all
}
