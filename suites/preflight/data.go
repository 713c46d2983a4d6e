package preflight

import (
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/internal/lookup"
	"outreach.example/conformance/internal/printable"
	"outreach.example/conformance/spec"
)

// data looks for the rows that the profile names, and counts the rows in the lists
// of the main workspace. It skips workspaces whose keys are refused: keys has
// reported those.
func (a *asker) data() error {
	look := &lookup.Finder{Send: a.api.Do, Profile: a.profile, Serves: func(operation string) bool {
		return slices.ContainsFunc(a.operations(), func(op spec.Operation) bool { return op.ID == operation })
	}}
	for _, role := range slices.Sorted(maps.Keys(a.profile.Workspaces)) {
		key, ok := a.profile.FullKey(role)
		if !ok || key.State != profile.KeyActive || a.wrongKey(key.Name) || len(a.lists()) == 0 {
			continue
		}
		id := a.profile.Workspaces[role].ID
		owner, err := look.Owner(a.ctx, role)
		if err == nil && owner != "" && !strings.EqualFold(owner, id) {
			a.Data = append(a.Data, Finding{What: "workspace " + role, Says: fmt.Sprintf("its key %s shows rows of workspace %s instead of %s", key.Name, owner, id), Wrong: true})
		}
		if err == nil {
			err = a.named(look, role)
		}
		if err != nil {
			return fmt.Errorf("%w: %w", errNoAnswer, err)
		}
	}
	a.counts()
	return nil
}

// readable returns the list with which keys are tried: spec.Probe if it is among
// the lists.
func readable(lists []spec.Operation) spec.Operation {
	if i := slices.IndexFunc(lists, func(op spec.Operation) bool { return op.ID == spec.Probe() }); i >= 0 {
		return lists[i]
	}
	return lists[0]
}

// named looks for the ids that the profile names in the role's workspace. It leaves entries
// out of which nothing shows. The ids that are neither seen nor lost may exist as well.
func (a *asker) named(look *lookup.Finder, role string) error {
	ids := lookup.In(a.profile, role)
	for len(ids) > 0 {
		entry, n, seen := ids[0].Entry, 0, 0
		var lost []string
		for ; n < len(ids) && ids[n].Entry == entry; n++ {
			sight, err := look.Look(a.ctx, ids[n])
			if err != nil {
				return err
			}
			switch sight {
			case lookup.There:
				seen++
			case lookup.Gone:
				lost = append(lost, ids[n].Text)
			}
		}
		ids = ids[n:]
		f := Finding{What: strings.ReplaceAll(entry, "_", " ") + " of " + role, Wrong: len(lost) > 0}
		switch {
		case entry == "id", seen+len(lost) == 0 && !strings.HasSuffix(entry, "subsequences"):
			continue
		case f.Wrong && entry == "expendable_subsequences":
			f.Wrong, f.Spent = len(lost) == n, true
			f.Says = fmt.Sprintf("%d of %d that the profile names are left; each run deletes some for good: "+
				"before none is left, reset the server's data or list other rows", n-len(lost), n)
		case f.Wrong:
			f.Says = fmt.Sprintf("%d of %d that the profile names do not exist: %s", len(lost), n, some(lost))
		case seen < n:
			f.Says = fmt.Sprintf("%d of %d that the profile names are in the part of the list that was read", seen, n)
		default:
			f.Says = fmt.Sprintf("all %d that the profile names exist", n)
		}
		a.Data = append(a.Data, f)
	}
	return nil
}

// some returns the first few of many ids.
func some(ids []string) string {
	const shown = 3
	if len(ids) <= shown {
		return strings.Join(ids, ", ")
	}
	return strings.Join(ids[:shown], ", ") + ", …"
}

// wrongKey reports whether the key has been found wrong.
func (r Report) wrongKey(name string) bool {
	return slices.ContainsFunc(r.Keys, func(f Finding) bool { return f.Wrong && f.What == keyed+name })
}

// counts reports how many rows each list of the main workspace shows. With too few
// rows, checks of pages and filters are not assessed.
func (a *asker) counts() {
	for _, op := range a.lists() {
		key, ok := a.profile.KeyFor(dataset.Main, op)
		if !ok || key.State != profile.KeyActive || a.wrongKey(key.Name) {
			continue
		}
		var query url.Values
		if op.Answer == spec.Page {
			query = url.Values{"limit": {strconv.Itoa(spec.MaxLimit)}}
		}
		got := a.list(op, key, query)
		f := Finding{What: op.ID, Wrong: got.refused(), Says: printable.Counted(len(got.Rows), "row")}
		switch {
		case f.Wrong:
			a.denied[op.ID] = got.status
			f.Says = fmt.Sprintf("returns %d to the key %s, whose scopes %q allow it", got.status, key.Name, key.Scopes)
		case got.err != nil:
			f.Says = fmt.Sprintf("the key %s cannot read it: %v", key.Name, got.problem(op))
		case got.Cursor != "":
			f.Says += " or more"
		case len(got.Rows) < 2:
			f.Says += ": too few for checks of pages and filters"
		}
		a.Data = append(a.Data, f)
	}
}
