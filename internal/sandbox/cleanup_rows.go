package sandbox

import (
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/internal/client"
	"outreach.example/conformance/internal/paging"
	"outreach.example/conformance/internal/redact"
	"outreach.example/conformance/internal/sandbox/journal"
	"outreach.example/conformance/internal/sandbox/owned"
	"outreach.example/conformance/internal/visible"
	"outreach.example/conformance/spec"
)

// deleteTests deletes the tests of a run in a workspace: those that the list shows with a text
// that the run drew, and that are younger than the run. To a key of another workspace, they
// would not exist.
func (c *cleaner) deleteTests(run string, e journal.Entry) (left []error) {
	role := c.role(e.Home, dataset.Main)
	key, err := c.key(role)
	if err != nil {
		return []error{err}
	}
	listed, err := c.testsOf(role, key)
	if err != nil {
		return []error{fmt.Errorf("the tests of the run %s cannot be searched for: %w", run, err)}
	}
	rows := slices.DeleteFunc(slices.Clone(listed.Rows), func(row paging.Row) bool {
		return owned.OfRun(row.Value, run) == ""
	})
	for i, row := range rows {
		c.watch(len(rows) - i)
		id, _ := row.Value["id"].(string)
		text := owned.OfRun(row.Value, run)
		if listed.Before(row.Value, run, e.After) {
			c.did("the test %s stays: by the target's clock, its row existed before the run", text)
			continue
		}
		if err := c.delete(key, id, run, text); err != nil {
			left = append(left, err)
			continue
		}
		c.did("the test %s is deleted", text)
		if c.deleted[role] == nil {
			c.deleted[role] = deletions{}
		}
		c.deleted[role][paging.FoldID(id)] = run
	}
	return left
}

func (c *cleaner) get(key client.Key, id string) client.Exchange {
	op := spec.MustOperation(spec.GetPlacementTest)
	return c.send(c.ctx, client.Request{Operation: op.ID, Method: op.Method, Path: op.URLPath(id), Key: key})
}

// maxChecked bounds how many deletions are checked: a load run leaves hundreds.
const maxChecked = 100

// delete deletes a test that shows the text of the run, and checks that it is gone.
func (c *cleaner) delete(key client.Key, id, run, text string) error {
	op := spec.MustOperation(spec.DeletePlacementTest)
	ex := c.send(c.ctx, client.Request{Operation: op.ID, Method: op.Method, Path: op.URLPath(id), Key: key})
	switch {
	case ex.Err != nil:
		return ex.Err
	case ex.Status == http.StatusNotFound:
		return nil
	case ex.Status != http.StatusOK:
		return fmt.Errorf("the test %s (%s) could not be deleted: %s", redact.Process.Text(id), text, c.describe(ex))
	case !c.profile.Implements(spec.GetPlacementTest) || c.checked >= maxChecked:
		return nil
	}
	c.checked++
	return visible.Within(c.ctx, c.profile.Visibility(), func(bool) (gone bool, err error) {
		ex := c.get(key, id)
		if ex.Err == nil && owned.OfRun(owned.Row(ex), run) != "" {
			return false, fmt.Errorf("the test %s (%s) exists after its deletion was answered with 200", redact.Process.Text(id), text)
		}
		return true, ex.Err
	})
}

// deletions are deleted tests of one workspace: their runs, by folded id.
type deletions map[string]string

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
				if text := owned.OfRun(row.Value, deleted[role][paging.FoldID(id)]); text != "" {
					shown = append(shown, fmt.Errorf("the test %s (%s) is deleted, but the list still shows it", redact.Process.Text(id), text))
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

// testsOf returns the tests of a workspace that runs have named. It reads the list once. A
// workspace without a paid plan has none: its tests can neither be listed nor have been
// created.
func (c *cleaner) testsOf(role string, key client.Key) (owned.Listed, error) {
	if known, ok := c.tests[role]; ok {
		return known, nil
	}
	op := spec.MustOperation(spec.ListPlacementTests)
	list := paging.List(c.send, client.Request{Operation: op.ID, Method: op.Method, Path: op.Path, Key: key}, profile.ParamStartingAfter)
	rows, err := paging.All(c.ctx, list, 100, maxPages)
	var noPage *paging.NoPageError
	switch {
	case errors.As(err, &noPage) && noPage.Exchange.Status == http.StatusPaymentRequired:
	case errors.As(err, &noPage):
		return owned.Listed{}, fmt.Errorf("the list of tests could not be read: %s", c.describe(noPage.Exchange))
	case err != nil:
		return owned.Listed{}, err
	}
	c.tests[role] = owned.Look(rows)
	return c.tests[role], nil
}
