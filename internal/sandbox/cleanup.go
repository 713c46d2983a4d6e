package sandbox

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/fixtures/target"
	"outreach.example/conformance/internal/client"
	"outreach.example/conformance/internal/judge"
	"outreach.example/conformance/internal/outage"
	"outreach.example/conformance/internal/paging"
	"outreach.example/conformance/internal/sandbox/journal"
	"outreach.example/conformance/internal/sandbox/lock"
	"outreach.example/conformance/spec"
)

// Left is what killed runs left on a target, according to their journals.
type Left struct {
	Tests    []string // names of tests that they created, or were about to create
	Accounts []string // emails of accounts that they moved, or were about to move
}

// FindLeft reads the journals in the directory. Tests are those on all targets,
// since a target may have several addresses; accounts are those on the target at
// baseURL. Unreadable journals are ignored: Cleanup reports them.
func FindLeft(dir, baseURL string) (left Left) {
	pending, _ := journal.Find(dir)
	for _, p := range pending {
		if p.Alive {
			continue
		}
		for _, e := range p.Entries {
			switch {
			case e.Do == journal.Create:
				left.Tests = append(left.Tests, e.Name)
			case e.Do == journal.Move && isOf(p, baseURL):
				left.Accounts = append(left.Accounts, e.Email)
			}
		}
	}
	return left
}

// SomethingLeft reports whether a killed run left a journal for the target in the
// directory. Unreadable journals are ignored: Cleanup reports them.
func SomethingLeft(dir, baseURL string) bool {
	pending, err := journal.Find(dir)
	return err == nil && slices.ContainsFunc(pending, func(p journal.Pending) bool { return !p.Alive && isOf(p, baseURL) })
}

// isOf reports whether the journal is of a run on the target.
func isOf(p journal.Pending, baseURL string) bool {
	return strings.TrimRight(p.Header.BaseURL, "/") == strings.TrimRight(baseURL, "/")
}

// Cleaned is the result of a cleanup, one line per change.
type Cleaned struct {
	Done []string
	// NeverCreated are tests that a run announced but did not create. A load run
	// announces its tests in advance, so there may be hundreds.
	NeverCreated []string
}

// Cleanup rolls back what killed runs changed on the target, according to their
// journals in the directory. It skips journals of other targets and of active
// runs. Before each change it calls watch, which may be nil, with the number of
// changes left. The error names the first few changes that were not rolled back
// and counts the rest; their journal stays.
func Cleanup(ctx context.Context, t *target.Target, dir string, watch func(left int)) (Cleaned, error) {
	return cleanup(ctx, t, client.Options{}, dir, watch)
}

// Bounds of a cleanup right after a run.
const (
	afterRunTimeout = time.Minute
	hurriedTimeout  = 5 * time.Second
)

// CleanupAfterRun is Cleanup for the run that has just ended. An interruption does
// not stop it, but makes it hurry: a user waits, so requests may take 5 s at most.
// It ends after 1 minute.
func CleanupAfterRun(ctx context.Context, t *target.Target, dir string, watch func(left int)) (Cleaned, error) {
	var options client.Options
	if ctx.Err() != nil {
		options.Timeout = min(cmp.Or(t.Profile.Pace.Timeout, client.DefaultTimeout), hurriedTimeout)
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), afterRunTimeout)
	defer cancel()
	return cleanup(ctx, t, options, dir, watch)
}

func cleanup(ctx context.Context, t *target.Target, options client.Options, dir string, watch func(left int)) (Cleaned, error) {
	pending, err := journal.Find(dir)
	if err != nil {
		return Cleaned{}, err
	}
	api, err := t.Client(options)
	if err != nil {
		return Cleaned{}, err
	}
	defer api.Close()
	if watch == nil {
		watch = func(int) {}
	}
	var cleaned Cleaned
	c := &cleaner{ctx: ctx, api: api, profile: t.Profile, tests: map[string]testList{}, watch: watch}
	c.outage.Limit = maxUnanswered
	for _, p := range pending {
		if !p.Alive && isOf(p, t.BaseURL) {
			c.left += len(p.Entries)
		}
	}
	var failed []error
	for _, p := range pending {
		switch {
		case p.Alive:
			cleaned.Done = append(cleaned.Done, fmt.Sprintf("%s: skipped, the run is still active", p.Path))
			continue
		case !isOf(p, t.BaseURL):
			cleaned.Done = append(cleaned.Done, fmt.Sprintf("%s: skipped, it belongs to the target %s", p.Path, p.Header.BaseURL))
			continue
		}
		left := c.undoAll(p.Entries, &cleaned)
		if len(left) == 0 {
			failed = append(failed, p.Remove())
			continue
		}
		failed = append(failed, firstFew(left)...)
		failed = append(failed, fmt.Errorf("%s stays and lists every change; remove it once nothing of it is left on the target", p.Path))
	}
	return cleaned, errors.Join(failed...)
}

// maxShown is how many changes that were not rolled back are shown: the first few
// show the cause, and a load run may leave hundreds.
const maxShown = 3

// firstFew replaces all but the first errors by their number.
func firstFew(left []error) []error {
	switch more := len(left) - maxShown; {
	case more <= 0:
		return left
	case more == 1:
		return append(left[:maxShown:maxShown], errors.New("1 more change was not rolled back"))
	default:
		return append(left[:maxShown:maxShown], fmt.Errorf("%d more changes were not rolled back", more))
	}
}

// undoAll rolls back the changes of a run, the lock last: it keeps other runs off
// the rows until they are as before. It stays if they are not.
func (c *cleaner) undoAll(entries []journal.Entry, cleaned *Cleaned) (left []error) {
	isLock := func(e journal.Entry) bool { return e.Do == journal.Create && strings.HasPrefix(e.Name, lock.Prefix) }
	undo := func(locks bool) {
		for _, e := range entries {
			if isLock(e) != locks {
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

// cleaner rolls back the entries of journals.
type cleaner struct {
	ctx     context.Context
	api     *client.Client
	profile *profile.Profile
	tests   map[string]testList // by role: one look finds all tests of a load run
	outage  outage.Detector
	left    int // changes that remain
	watch   func(left int)
}

// maxUnanswered is after how many requests in a row without a response cleanup
// sends no more. The journal keeps what is left for the next attempt.
const maxUnanswered = 3

// undo rolls back one entry. It returns what it did, and whether the change never
// took place.
func (c *cleaner) undo(e journal.Entry) (what string, never bool, err error) {
	c.watch(c.left)
	c.left--
	if e.Do == journal.Move {
		what, err = c.moveHome(e)
		return what, false, err
	}
	return c.deleteTest(e)
}

// deleteTest deletes a test in the workspace in which it was created. To a key of
// another workspace, the test would not exist.
func (c *cleaner) deleteTest(e journal.Entry) (what string, never bool, err error) {
	role := c.role(e.Home, dataset.Main)
	ids := []string{e.ID}
	if e.ID == "" {
		found, err := c.testsOf(role)
		if err != nil {
			return "", false, fmt.Errorf("the test %s cannot be searched for: %w", e.Name, err)
		}
		if found.refused {
			return fmt.Sprintf("the test %s was never created: its workspace has no paid plan", e.Name), true, nil
		}
		ids = found.ids[e.Name]
	}
	for _, id := range ids {
		key, err := c.key(role)
		if err != nil {
			return "", false, err
		}
		op := spec.MustOperation(spec.DeletePlacementTest)
		ex := c.send(c.ctx, client.Request{Operation: op.ID, Method: op.Method, Path: op.URLPath(id), Key: key})
		if ex.Err != nil {
			return "", false, ex.Err
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

// role returns the role of the workspace in the profile, or the other role if the
// profile has no key of that workspace.
func (c *cleaner) role(workspaceID, other string) string {
	for _, role := range slices.Sorted(maps.Keys(c.profile.Workspaces)) {
		if strings.EqualFold(c.profile.Workspaces[role].ID, workspaceID) && workspaceID != "" {
			if _, ok := c.profile.FullKey(role); ok {
				return role
			}
		}
	}
	return other
}

// maxPages bounds how many pages of a list of tests are read.
const maxPages = 5000

// testList is the tests of a workspace.
type testList struct {
	ids map[string][]string // by name, which the run made unique
	// refused: the workspace has no paid plan. Its tests can neither be listed nor
	// have been created.
	refused bool
}

// testsOf returns the tests of a workspace, which it reads once.
func (c *cleaner) testsOf(role string) (testList, error) {
	if known, ok := c.tests[role]; ok {
		return known, nil
	}
	key, err := c.key(role)
	if err != nil {
		return testList{}, err
	}
	op := spec.MustOperation(spec.ListPlacementTests)
	list := paging.List(c.send, client.Request{Operation: op.ID, Method: op.Method, Path: op.Path, Key: key}, profile.ParamStartingAfter)
	rows, err := paging.All(c.ctx, list, 100, maxPages)
	found := testList{ids: map[string][]string{}}
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
		name, hasName := row.Value["name"].(string)
		if hasID && hasName {
			found.ids[name] = append(found.ids[name], id)
		}
	}
	c.tests[role] = found
	return found, nil
}

// describe returns the response in words, without any key that it repeats.
func (c *cleaner) describe(ex client.Exchange) string { return c.api.Redact(judge.DescribeStatus(ex)) }

// key returns the role's key with all scopes.
func (c *cleaner) key(role string) (client.Key, error) {
	key, ok := c.profile.FullKey(role)
	if !ok {
		return client.Key{}, fmt.Errorf("the profile has no key of the workspace %q with the scope all:all", role)
	}
	return token(key), nil
}

// send sends a request, unless the target has stopped responding.
func (c *cleaner) send(ctx context.Context, r client.Request) client.Exchange {
	if err := c.outage.Err(); err != nil {
		return client.Exchange{Request: r, Err: fmt.Errorf("%s was not sent: %w", r.Operation, err)}
	}
	ex := c.api.Do(ctx, r)
	c.outage.Observe(ex.Err)
	return ex
}
