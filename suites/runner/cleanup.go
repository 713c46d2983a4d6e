package runner

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/fixtures/target"
	"outreach.example/conformance/internal/client"
	"outreach.example/conformance/internal/judge"
	"outreach.example/conformance/internal/sandbox/journal"
	"outreach.example/conformance/internal/sandbox/lock"
	"outreach.example/conformance/schemas"
	"outreach.example/conformance/spec"
)

// Cleaned is what a cleanup came to, a line each.
type Cleaned struct {
	Done []string
	// NeverCreated are tests that a run announced and did not come to create: of a
	// load run, which announces them ahead, there may be hundreds.
	NeverCreated []string
}

// Cleanup puts back what killed runs changed on the target, as their journals
// in the directory tell. Journals of other targets and of runs under way are left
// alone. Its error names the first few changes that could not be put back, and how
// many more there are; the journal of those stays.
func Cleanup(ctx context.Context, t *target.Target, dir string) (Cleaned, error) {
	return WatchedCleanup(ctx, t, dir, func(int) {})
}

// WatchedCleanup is Cleanup for somebody who waits: before each change it tells how
// many are left.
func WatchedCleanup(ctx context.Context, t *target.Target, dir string, watch func(left int)) (Cleaned, error) {
	pending, err := journal.Find(dir)
	if err != nil {
		return Cleaned{}, err
	}
	api, err := newClient(Config{Target: t})
	if err != nil {
		return Cleaned{}, err
	}
	defer api.Close()
	var cleaned Cleaned
	c := &cleaner{ctx: ctx, api: api, target: t, listed: map[string]testList{}, watch: watch}
	for _, p := range pending {
		if !p.Alive && isOf(p, t) {
			c.left += len(p.Entries)
		}
	}
	var failed []error
	for _, p := range pending {
		switch {
		case p.Alive:
			cleaned.Done = append(cleaned.Done, fmt.Sprintf("%s: left alone, the run is still under way", p.Path))
			continue
		case !isOf(p, t):
			cleaned.Done = append(cleaned.Done, fmt.Sprintf("%s: left alone, it belongs to the target %s", p.Path, p.Header.BaseURL))
			continue
		}
		left := c.undoAll(p.Entries, &cleaned)
		if len(left) == 0 {
			failed = append(failed, p.Remove())
			continue
		}
		failed = append(failed, firstFew(left)...)
		failed = append(failed, fmt.Errorf("%s stays until that is done, and lists it all; remove it once nothing of it is left on the target", p.Path))
	}
	return cleaned, errors.Join(failed...)
}

// mostTold is how many of the changes that could not be put back are told of: the
// first say why, and a load run leaves hundreds.
const mostTold = 3

// firstFew counts all but the first.
func firstFew(left []error) []error {
	switch more := len(left) - mostTold; {
	case more <= 0:
		return left
	case more == 1:
		return append(left[:mostTold:mostTold], errors.New("1 more change was not put back"))
	default:
		return append(left[:mostTold:mostTold], fmt.Errorf("%d more changes were not put back", more))
	}
}

// isOf reports whether the journal is of a run on the target.
func isOf(p journal.Pending, t *target.Target) bool {
	return strings.TrimRight(p.Header.BaseURL, "/") == strings.TrimRight(t.BaseURL, "/")
}

// undoAll undoes the changes of a run, its claim last: that keeps others off the
// rows until they are as they were, and stays where they are not.
func (c *cleaner) undoAll(entries []journal.Entry, cleaned *Cleaned) (left []error) {
	isClaim := func(e journal.Entry) bool { return e.Do == journal.Create && strings.HasPrefix(e.Name, lock.Prefix) }
	undo := func(claims bool) {
		for _, e := range entries {
			if isClaim(e) != claims {
				continue
			}
			what, never, err := c.undo(e)
			switch {
			case err != nil:
				left = append(left, err)
			case never:
				cleaned.NeverCreated = append(cleaned.NeverCreated, what)
			default:
				cleaned.Done = append(cleaned.Done, what)
			}
		}
	}
	if undo(false); len(left) == 0 {
		undo(true)
	}
	return left
}

// cleaner undoes the entries of journals.
type cleaner struct {
	ctx    context.Context
	api    *client.Client
	target *target.Target
	listed map[string]testList // by role: a load run leaves many, and one look finds them all
	silent int                 // requests in a row that had no answer
	left   int                 // changes that are still to be undone
	watch  func(left int)
}

// mostSilent is after how many requests without an answer, one after the other,
// no more are sent: what is left stays in the journal for another time.
const mostSilent = 3

// undo says what became of the entry, and whether it never came about.
func (c *cleaner) undo(e journal.Entry) (what string, never bool, err error) {
	c.watch(c.left)
	c.left--
	if e.Do == journal.Move {
		what, err = c.moveHome(e)
		return what, false, err
	}
	return c.deleteTest(e)
}

// deleteTest deletes a test in the workspace in which it was created: with
// another's key it would look as if it were not there.
func (c *cleaner) deleteTest(e journal.Entry) (what string, never bool, err error) {
	role := c.role(e.Home, dataset.Main)
	ids := []string{e.ID}
	if e.ID == "" {
		found, refused, err := c.named(role, e.Name)
		if err != nil {
			return "", false, err
		}
		if refused {
			return fmt.Sprintf("the test %s was never created: its workspace has no paid plan", e.Name), true, nil
		}
		ids = found
	}
	for _, id := range ids {
		ex, err := c.send(role, spec.DeletePlacementTest, id, nil, nil)
		if err != nil {
			return "", false, err
		}
		if ex.Status != http.StatusOK && ex.Status != http.StatusNotFound {
			return "", false, fmt.Errorf("the test %s (%s) could not be deleted: %s", c.api.Redact(id), e.Name, c.describe(ex))
		}
	}
	if len(ids) == 0 {
		return fmt.Sprintf("the test %s was never created", e.Name), true, nil
	}
	return fmt.Sprintf("the test %s is deleted", e.Name), false, nil
}

// role returns the role that the workspace plays in the profile, or the other
// one where there is none with a key.
func (c *cleaner) role(workspaceID, other string) string {
	for _, role := range slices.Sorted(maps.Keys(c.target.Profile.Workspaces)) {
		if strings.EqualFold(c.target.Profile.Workspaces[role].ID, workspaceID) && workspaceID != "" {
			if _, ok := c.target.Profile.FullKey(role); ok {
				return role
			}
		}
	}
	return other
}

// cleanupPages bounds how far a list of tests is read.
const cleanupPages = 5000

// testList is the tests of a workspace by their name.
type testList struct {
	ids map[string][]string
	// refused: the workspace has no paid plan, which keeps its tests from being
	// listed as it kept them from being created.
	refused bool
}

// named returns the ids of the tests of that name, which the run made unique.
func (c *cleaner) named(role, name string) (ids []string, refused bool, err error) {
	found, known := c.listed[role]
	if !known {
		if found, err = c.list(role); err != nil {
			return nil, false, fmt.Errorf("the test %s cannot be looked for: %w", name, err)
		}
		c.listed[role] = found
	}
	return found.ids[name], found.refused, nil
}

// list reads all tests of a workspace.
func (c *cleaner) list(role string) (testList, error) {
	found := testList{ids: map[string][]string{}}
	cursor := ""
	for range cleanupPages {
		query := url.Values{"limit": {"100"}}
		if cursor != "" {
			query.Set("starting_after", cursor)
		}
		ex, err := c.send(role, spec.ListPlacementTests, "", query, nil)
		if err != nil {
			return testList{}, err
		}
		if ex.Status == http.StatusPaymentRequired {
			found.refused = true
			return found, nil
		}
		body, err := schemas.Decode(ex.Body)
		page, _ := body.(map[string]any)
		items, isArray := page["items"].([]any)
		if ex.Status != http.StatusOK || err != nil || !isArray {
			return testList{}, fmt.Errorf("the list of tests could not be read: %s", c.describe(ex))
		}
		for _, item := range items {
			row, _ := item.(map[string]any)
			id, hasID := row["id"].(string)
			name, hasName := row["name"].(string)
			if hasID && hasName {
				found.ids[name] = append(found.ids[name], id)
			}
		}
		next, _ := page["next_starting_after"].(string)
		if next == "" || next == cursor || len(items) == 0 {
			return found, nil
		}
		cursor = next
	}
	return testList{}, fmt.Errorf("the list of tests does not end within %d pages", cleanupPages)
}

// describe is what the target answered, without a key that it may repeat.
func (c *cleaner) describe(ex client.Exchange) string { return c.api.Redact(judge.DescribeStatus(ex)) }

// send sends a request with the role's key of all scopes.
func (c *cleaner) send(role, operation, id string, query url.Values, body []byte) (client.Exchange, error) {
	key, ok := c.target.Profile.FullKey(role)
	if !ok {
		return client.Exchange{}, fmt.Errorf("the profile has no key of the workspace %q with the scope all:all", role)
	}
	return c.sendWith(key, operation, id, query, body)
}

func (c *cleaner) sendWith(key profile.Key, operation, id string, query url.Values, body []byte) (client.Exchange, error) {
	op := spec.MustOperation(operation)
	if c.silent >= mostSilent {
		return client.Exchange{}, fmt.Errorf("%s was not sent: the target had left %d requests in a row without an answer", op.ID, c.silent)
	}
	ex := c.api.Do(c.ctx, client.Request{Operation: op.ID, Method: op.Method, Path: op.URLPath(id),
		Query: query, Body: body, Key: client.Key{Name: key.Name, Token: key.Token}})
	if c.silent++; ex.Err == nil {
		c.silent = 0
	}
	return ex, ex.Err
}
