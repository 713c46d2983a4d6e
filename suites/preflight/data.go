package preflight

import (
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/spec"
)

// data looks for the rows that the profile names, and counts the rows in the lists
// of the main workspace. It skips workspaces whose keys are refused: keys has
// reported those.
func (a *asker) data(r *Report) error {
	for _, role := range slices.Sorted(maps.Keys(a.profile.Workspaces)) {
		key, ok := a.profile.FullKey(role)
		if lists := a.lists(); !ok || key.State != profile.KeyActive || len(lists) == 0 || a.list(readable(lists), key, nil).status != http.StatusOK {
			continue
		}
		w := a.profile.Workspaces[role]
		owner, err := a.owner(key)
		if err != nil {
			return fmt.Errorf("%w: %w", ErrNoAnswer, err)
		}
		if owner != "" && owner != strings.ToLower(w.ID) {
			r.Data = append(r.Data, Finding{What: "workspace " + role, Says: fmt.Sprintf("its key %s shows rows of workspace %s instead of %s", key.Name, owner, w.ID), Wrong: true})
		}
		if !a.profile.Stateless {
			if err := a.named(r, role, key, w); err != nil {
				return err
			}
		}
	}
	a.counts(r)
	return nil
}

// readable returns the list with which keys are tried: lead lists if they are among
// the lists.
func readable(lists []spec.Operation) spec.Operation {
	if i := slices.IndexFunc(lists, func(op spec.Operation) bool { return op.ID == spec.ListLeadLists }); i >= 0 {
		return lists[i]
	}
	return lists[0]
}

// owner returns the workspace to which the rows of a key's lists belong; "" if no
// row shows it.
func (a *asker) owner(key profile.Key) (string, error) {
	for _, op := range a.lists() {
		if op.ID == spec.ListGroupMembers { // a membership belongs to 2 workspaces
			continue
		}
		got := a.list(op, key, onePage(op, "1"))
		if got.err != nil {
			return "", got.err
		}
		if len(got.rows) > 0 {
			if owner := ownerOf(op, got.rows[0]); owner != "" {
				return owner, nil
			}
		}
	}
	return "", nil
}

// onePage returns the query for one page of a list; nil for a plain array.
func onePage(op spec.Operation, limit string) url.Values {
	if op.Answer != spec.Page {
		return nil
	}
	return url.Values{"limit": {limit}}
}

// named looks for the readable rows that the profile names. No operation shows
// campaigns, leads and accounts.
func (a *asker) named(r *Report, role string, key profile.Key, w profile.Workspace) error {
	if len(w.Subsequences)+len(w.ExpendableSubsequences) > 0 && a.profile.Implements(spec.ListSubsequences) {
		rows, whole, err := a.all(spec.MustOperation(spec.ListSubsequences), key)
		if err != nil {
			return fmt.Errorf("%w: %w", ErrNoAnswer, err)
		}
		there := map[string]bool{}
		for _, row := range rows {
			there[strings.ToLower(text(row, "id"))] = true
		}
		lost := func(ids []string) []string {
			return slices.DeleteFunc(slices.Clone(ids), func(id string) bool { return there[strings.ToLower(id)] })
		}
		if n := len(w.Subsequences); n > 0 {
			r.Data = append(r.Data, presence("subsequences of "+role, n, lost(w.Subsequences), whole))
		}
		if n := len(w.ExpendableSubsequences); n > 0 {
			r.Data = append(r.Data, supply("expendable subsequences of "+role, n, lost(w.ExpendableSubsequences), whole))
		}
	}
	if !a.profile.Implements(spec.GetPlacementTest) {
		return nil
	}
	var lost []string
	get := spec.MustOperation(spec.GetPlacementTest)
	for _, id := range w.PlacementTests {
		got := a.get(get, get.URLPath(id), key, nil)
		if got.err != nil {
			return fmt.Errorf("%w: %w", ErrNoAnswer, got.err)
		}
		if !got.shows() {
			lost = append(lost, id)
		}
	}
	if len(w.PlacementTests) > 0 {
		r.Data = append(r.Data, presence("placement tests of "+role, len(w.PlacementTests), lost, true))
	}
	return nil
}

// presence reports how many of the named rows exist. If the list was not read to
// its end, the other rows may exist as well.
func presence(what string, named int, lost []string, whole bool) Finding {
	f := Finding{What: what, Says: fmt.Sprintf("all %d that the profile names exist", named)}
	switch {
	case len(lost) > 0 && whole:
		f.Wrong = true
		f.Says = fmt.Sprintf("%d of %d that the profile names do not exist: %s", len(lost), named, some(lost))
	case len(lost) > 0:
		f.Says = fmt.Sprintf("%d of %d that the profile names are in the part of the list that was read", named-len(lost), named)
	}
	return f
}

// supply is presence for rows that runs delete: it is wrong only if all are gone.
func supply(what string, named int, lost []string, whole bool) Finding {
	f := presence(what, named, lost, whole)
	if f.Wrong {
		f.Wrong, f.Spent = len(lost) == named, true
		f.Says = fmt.Sprintf("%d of %d that the profile names are left; each run deletes some for good: "+
			"before none is left, reset the server's data or list other rows", named-len(lost), named)
	}
	return f
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
	return slices.ContainsFunc(r.Keys, func(f Finding) bool { return f.Wrong && f.What == "key "+name })
}

// counts reports how many rows each list of the main workspace shows. With too few
// rows, checks of pages and filters are not assessed.
func (a *asker) counts(r *Report) {
	for _, op := range a.lists() {
		key, ok := a.profile.KeyFor(dataset.Main, op)
		if !ok || key.State != profile.KeyActive || r.wrongKey(key.Name) {
			continue
		}
		got := a.list(op, key, onePage(op, fmt.Sprint(pageSize)))
		says := fmt.Sprintf("%d rows", len(got.rows))
		if len(got.rows) == 1 {
			says = "1 row"
		}
		wrong := got.refused()
		switch {
		case wrong:
			a.denied[op.ID] = got.status
			says = fmt.Sprintf("returns %d to the key %s, whose scopes %q allow it", got.status, key.Name, key.Scopes)
		case !got.shows():
			says = fmt.Sprintf("the key %s cannot read it: %v", key.Name, got.problem(op))
		case got.cursor != "":
			says += " or more"
		case len(got.rows) < 2:
			says += ": too few for checks of pages and filters"
		}
		r.Data = append(r.Data, Finding{What: op.ID, Says: says, Wrong: wrong})
	}
}
