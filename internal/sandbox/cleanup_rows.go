package sandbox

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/fixtures/target"
	"outreach.example/conformance/internal/client"
	"outreach.example/conformance/internal/paging"
	"outreach.example/conformance/internal/redact"
	"outreach.example/conformance/internal/sandbox/journal"
	"outreach.example/conformance/internal/sandbox/lock"
	"outreach.example/conformance/internal/sandbox/owned"
	"outreach.example/conformance/internal/visible"
	"outreach.example/conformance/spec"
)

// deleteTest deletes a test in the workspace in which it was created. To a key of
// another workspace, the test would not exist.
func (c *cleaner) deleteTest(e journal.Entry) (what string, never bool, err error) {
	role, mark := c.role(e.Home, dataset.Main), owned.Mark{Name: e.Name, Subject: e.Subject}
	key, err := c.key(role)
	if err != nil {
		return "", false, err
	}
	if mark == (owned.Mark{}) {
		return "a test without a name was announced: nothing shows which it is", true, nil
	}
	if e.ID != "" {
		if deleted, err := c.deleteKnown(key, e.ID, mark); err != nil || deleted {
			c.note(role, e.ID, mark)
			return fmt.Sprintf("the test %s is deleted", mark.Text()), false, err
		}
	}
	found, err := c.testsOf(role, key)
	if err != nil {
		return "", false, fmt.Errorf("the test %s cannot be searched for: %w", mark.Text(), err)
	}
	if found.refused {
		return fmt.Sprintf("the test %s was never created: its workspace has no paid plan", mark.Text()), true, nil
	}
	ids := found.ids[mark]
	older := len(ids)
	ids = slices.DeleteFunc(slices.Clone(ids), func(id string) bool { return !owned.Sound(id) || e.After != "" && !owned.Newer(id, e.After) })
	for _, id := range ids {
		if err := c.delete(key, id, mark); err != nil {
			return "", false, err
		}
		c.note(role, id, mark)
	}
	switch {
	case len(ids) > 0:
		return fmt.Sprintf("the test %s is deleted", mark.Text()), false, nil
	case older > 0:
		return fmt.Sprintf("the test %s stays: its row existed before the run", mark.Text()), false, nil
	}
	return fmt.Sprintf("no test shows the name %s: it was not created, or it exists under another name", mark.Text()), true, nil
}

// deleteKnown deletes the test with the id if a get shows the mark. It reports false
// if the test must be searched for. A test that is gone counts as deleted.
func (c *cleaner) deleteKnown(key client.Key, id string, mark owned.Mark) (deleted bool, err error) {
	if !c.profile.Implements(spec.GetPlacementTest) {
		return false, nil
	}
	switch ex := c.get(key, id); {
	case ex.Err != nil:
		return false, ex.Err
	case mark.On(owned.Row(ex)):
		return true, c.delete(key, id, mark)
	default:
		return ex.Status == http.StatusNotFound, nil
	}
}

func (c *cleaner) get(key client.Key, id string) client.Exchange {
	op := spec.MustOperation(spec.GetPlacementTest)
	return c.send(c.ctx, client.Request{Operation: op.ID, Method: op.Method, Path: op.URLPath(id), Key: key})
}

// maxChecked bounds how many deletions are checked: a load run leaves hundreds.
const maxChecked = 100

// delete deletes a test that shows the mark, and checks that it is gone.
func (c *cleaner) delete(key client.Key, id string, mark owned.Mark) error {
	op := spec.MustOperation(spec.DeletePlacementTest)
	ex := c.send(c.ctx, client.Request{Operation: op.ID, Method: op.Method, Path: op.URLPath(id), Key: key})
	switch {
	case ex.Err != nil:
		return ex.Err
	case ex.Status == http.StatusNotFound:
		return nil
	case ex.Status != http.StatusOK:
		return fmt.Errorf("the test %s (%s) could not be deleted: %s", redact.Process.Text(id), mark.Text(), c.describe(ex))
	case !c.profile.Implements(spec.GetPlacementTest) || c.checked >= maxChecked:
		return nil
	}
	c.checked++
	return visible.Within(c.ctx, c.profile.Visibility(), func(bool) (gone bool, err error) {
		ex := c.get(key, id)
		if ex.Err == nil && mark.On(owned.Row(ex)) {
			return false, fmt.Errorf("the test %s (%s) exists after its deletion was answered with 200", redact.Process.Text(id), mark.Text())
		}
		return true, ex.Err
	})
}

// deletions are deleted tests of one workspace: what they showed, by folded id.
type deletions map[string]owned.Mark

// note notes that a test is deleted, for listedStill.
func (c *cleaner) note(role, id string, mark owned.Mark) {
	if c.deleted[role] == nil {
		c.deleted[role] = deletions{}
	}
	c.deleted[role][paging.FoldID(id)] = mark
}

// maxNewest bounds how many pages listedStill reads. What a run left is among the newest
// tests.
const maxNewest = 20

// listedStill looks for deleted tests among the newest in the list, and returns an error
// for each that it shows. A deletion may take a moment to show.
func (c *cleaner) listedStill() (left []error) {
	deleted := c.deleted
	c.deleted = map[string]deletions{}
	if !c.profile.Implements(spec.ListPlacementTests) {
		return nil
	}
	op := spec.MustOperation(spec.ListPlacementTests)
	for _, role := range slices.Sorted(maps.Keys(deleted)) {
		key, err := c.key(role)
		if err != nil {
			return append(left, err)
		}
		list := paging.List(c.send, client.Request{Operation: op.ID, Method: op.Method, Path: op.Path, Key: key,
			Query: url.Values{"sort_order": {"desc"}}}, profile.ParamStartingAfter)
		var shown []error
		_ = visible.Within(c.ctx, c.profile.Visibility(), func(bool) (gone bool, err error) {
			shown = nil
			for _, row := range paging.Run(c.ctx, list, paging.Fixed(100), maxNewest).Rows() {
				id, _ := row.Value["id"].(string)
				if mark, ours := deleted[role][paging.FoldID(id)]; ours && mark.On(row.Value) {
					shown = append(shown, fmt.Errorf("the test %s (%s) is deleted, but the list still shows it", redact.Process.Text(id), mark.Text()))
				}
			}
			return len(shown) == 0, nil
		})
		left = append(left, shown...)
	}
	return left
}

// maxPages bounds how many pages of a list of tests are read.
const maxPages = 5000

// testList is the tests of a workspace.
type testList struct {
	ids map[owned.Mark][]string
	// refused: the workspace has no paid plan. Its tests can neither be listed nor
	// have been created.
	refused bool
}

// testsOf returns the tests of a workspace, which it reads once.
func (c *cleaner) testsOf(role string, key client.Key) (testList, error) {
	if known, ok := c.tests[role]; ok {
		return known, nil
	}
	op := spec.MustOperation(spec.ListPlacementTests)
	list := paging.List(c.send, client.Request{Operation: op.ID, Method: op.Method, Path: op.Path, Key: key}, profile.ParamStartingAfter)
	rows, err := paging.All(c.ctx, list, 100, maxPages)
	found := testList{ids: map[owned.Mark][]string{}}
	var noPage *paging.NoPageError
	switch {
	case errors.As(err, &noPage) && noPage.Exchange.Status == http.StatusPaymentRequired:
		found.refused = true
	case errors.As(err, &noPage):
		return testList{}, fmt.Errorf("the list of tests could not be read: %s", c.describe(noPage.Exchange))
	case err != nil:
		return testList{}, err
	}
	for _, row := range rows {
		id, hasID := row.Value["id"].(string)
		name, _ := row.Value["name"].(string)
		subject, _ := row.Value["email_subject"].(string)
		if hasID {
			found.ids[owned.Mark{Name: name}] = append(found.ids[owned.Mark{Name: name}], id)
			found.ids[owned.Mark{Subject: subject}] = append(found.ids[owned.Mark{Subject: subject}], id)
		}
	}
	c.tests[role] = found
	return found, nil
}

// cleanAbandoned removes the locks of runs that have ended: of those with a journal here,
// and of those that nobody has renewed. It first moves home the accounts that such a run
// may have left elsewhere.
func cleanAbandoned(ctx context.Context, t *target.Target, ended []string, cleaned Cleaned) (Cleaned, error) {
	if !lock.Possible(t.Profile) {
		return cleaned, nil
	}
	api, err := t.Client(client.Options{})
	if err != nil {
		return cleaned, err
	}
	defer api.Close()
	own := &lock.Lock{Send: api.Do, Profile: t.Profile, Ended: ended}
	if others, err := own.Others(ctx); err != nil || !others {
		return cleaned, err
	}
	holder, err := own.Take(ctx, 0, nil) // its test shows the target's clock, and keeps runs away meanwhile
	if err != nil {
		return cleaned, errors.Join(err, own.Release(context.WithoutCancel(ctx)))
	}
	if holder != "" {
		cleaned.Done = append(cleaned.Done, fmt.Sprintf("the test %q stays: its run is active, or ended less than %s ago without deleting it (then repeat the command later)", holder, lock.MaxAge))
		return cleaned, own.Release(context.WithoutCancel(ctx))
	}
	c := newCleaner(ctx, api, t.Profile, func(int) {})
	var failed []error
	if stale := own.Stale(); len(stale) > 0 {
		failed = append(failed, c.moveAllHome(&cleaned))
		key, _ := c.key(dataset.Main)
		for _, s := range stale {
			deleted, err := c.deleteKnown(key, s.ID, owned.Mark{Name: s.Name})
			if failed = append(failed, err); deleted && err == nil {
				cleaned.Done = append(cleaned.Done, fmt.Sprintf("the test %q of a run that has ended is deleted", s.Name))
			}
		}
	}
	return cleaned, errors.Join(append(failed, own.Release(context.WithoutCancel(ctx)))...)
}
