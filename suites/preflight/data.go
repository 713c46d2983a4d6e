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

// data looks for the rows that the profile names, and at how many rows the
// lists of the main workspace show. Workspaces whose keys are refused are left
// out: keys has told.
func (a *asker) data(r *Report) error {
	for _, role := range slices.Sorted(maps.Keys(a.profile.Workspaces)) {
		key, ok := a.profile.FullKey(role)
		if !ok || key.State != profile.KeyActive || a.list(spec.MustOperation(spec.ListLeadLists), key, nil).status != http.StatusOK {
			continue
		}
		w := a.profile.Workspaces[role]
		owner, err := a.owner(key)
		if err != nil {
			return fmt.Errorf("%w: %w", ErrNoAnswer, err)
		}
		if owner != "" && owner != strings.ToLower(w.ID) {
			r.Data = append(r.Data, Finding{What: "workspace " + role, Says: fmt.Sprintf("its key %s shows rows of the workspace %s, not of %s", key.Name, owner, w.ID), Wrong: true})
		}
		if !a.profile.Stateless {
			if err := a.named(r, role, key, w); err != nil {
				return err
			}
		}
		if role == dataset.Main {
			a.counts(r, key)
		}
	}
	return nil
}

// owner returns the workspace that the rows of a key's lists belong to; "" if none tells.
func (a *asker) owner(key profile.Key) (string, error) {
	for _, op := range lists() {
		if op.ID == spec.ListGroupMembers { // which belong to two
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

// onePage is the query for one page of a list; nil for one without pages.
func onePage(op spec.Operation, limit string) url.Values {
	if op.Answer != spec.Page {
		return nil
	}
	return url.Values{"limit": {limit}}
}

// named looks for rows that the profile names and that can be read. Campaigns,
// leads and accounts no operation shows.
func (a *asker) named(r *Report, role string, key profile.Key, w profile.Workspace) error {
	if len(w.Subsequences)+len(w.ExpendableSubsequences) > 0 {
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

// presence tells how many named rows are there. In a list that was not read
// whole, what was not seen may yet be there.
func presence(what string, named int, lost []string, whole bool) Finding {
	f := Finding{What: what, Says: fmt.Sprintf("all %d that the profile names are there", named)}
	switch {
	case len(lost) > 0 && whole:
		f.Wrong = true
		f.Says = fmt.Sprintf("%d of %d that the profile names are not there: %s", len(lost), named, some(lost))
	case len(lost) > 0:
		f.Says = fmt.Sprintf("%d of %d that the profile names were seen in the part of the list that was read", named-len(lost), named)
	}
	return f
}

// supply is presence for rows that runs delete: some may be gone, not all.
func supply(what string, named int, lost []string, whole bool) Finding {
	f := presence(what, named, lost, whole)
	if f.Wrong {
		f.Wrong, f.Spent = len(lost) == named, true
		f.Says = fmt.Sprintf("%d of %d that the profile names are left; each run deletes some for good: "+
			"before they run out, put the server's data back to the start or name others", named-len(lost), named)
	}
	return f
}

// some shows the first of many.
func some(ids []string) string {
	const shown = 3
	if len(ids) <= shown {
		return strings.Join(ids, ", ")
	}
	return strings.Join(ids[:shown], ", ") + ", …"
}

// counts tells how many rows each list of the main workspace shows: a list with
// few leaves the checks of pages and filters unassessed.
func (a *asker) counts(r *Report, key profile.Key) {
	for _, op := range lists() {
		got := a.list(op, key, onePage(op, fmt.Sprint(pageSize)))
		says := fmt.Sprintf("%d rows", len(got.rows))
		if len(got.rows) == 1 {
			says = "1 row"
		}
		switch {
		case !got.shows():
			says = fmt.Sprintf("not shown to the key %s: %v", key.Name, got.problem(op))
		case got.cursor != "":
			says += " and more"
		case len(got.rows) < 2:
			says += ": too few for checks of pages and filters"
		}
		r.Data = append(r.Data, Finding{What: op.ID, Says: says})
	}
}
