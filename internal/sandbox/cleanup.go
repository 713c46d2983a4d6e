package sandbox

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/internal/client"
	"outreach.example/conformance/internal/judge"

	"outreach.example/conformance/internal/redact"
)

// Left is what killed runs left on a target, according to their journals.
type Left struct {
	Runs     []string // ids of the runs
	Accounts []string // emails of accounts that they moved, or were about to move
}

// FindLeft reads the journals in the directory. Runs are those on all targets, since a
// target may have several addresses; accounts are those on the target at baseURL.
// Unreadable and forged journals are ignored: Cleanup reports them.
func FindLeft(dir, baseURL string) (left Left) {
	pending, _ := FindPending(dir)
	for _, p := range pending {
		if p.Alive || p.Forged {
			continue
		}
		left.Runs = append(left.Runs, p.Header.ID)
		for _, e := range p.Entries {
			if e.Do == Move && isOf(p, baseURL) {
				left.Accounts = append(left.Accounts, e.Email)
			}
		}
	}
	return left
}

// Unsettled returns a line for each ended run whose journal for the target is in the
// directory and lists changes: what that run has not seen rolled back. current is the id of
// the caller's run. Unreadable journals are ignored: Cleanup reports them.
func Unsettled(dir, baseURL, current string) (lines []string) {
	pending, _ := FindPending(dir)
	for _, p := range pending {
		if p.Alive || p.Forged || !isOf(p, baseURL) || len(p.Entries) == 0 {
			continue
		}
		which, what := "this run", "what became of each test that it asked for"
		if p.Header.ID != current {
			which = "the earlier run " + p.Header.ID
		}
		if p.Entries[0].Do == Move {
			what = "whether each account is at home"
		}
		lines = append(lines, fmt.Sprintf("%s could not find out %s", which, what))
	}
	return lines
}

// isOf reports whether the journal is of a run on the target.
func isOf(p Pending, baseURL string) bool {
	return strings.TrimRight(p.Header.BaseURL, "/") == strings.TrimRight(baseURL, "/")
}

// Cleanup rolls back what killed runs changed on the target, according to their
// journals in the directory. It skips journals of other targets and of active
// runs. Before each change it calls watch, which may be nil, with the number of
// changes left. done has a line for each change. The error names the first few changes that
// were not rolled back and counts the rest; their journal stays.
//
// A journal narrows what is rolled back. Whether a test is a run's own is up to what the
// target shows, and the home of an account is up to the profile.
func Cleanup(ctx context.Context, api *client.Client, p *profile.Profile, dir string, watch func(left int)) (done []string, err error) {
	return cleanup(ctx, api, p, dir, watch, 0)
}

// cleanup is Cleanup with a bound on each request; 0 for that of the client.
func cleanup(ctx context.Context, api *client.Client, p *profile.Profile, dir string, watch func(left int), bound time.Duration) (done []string, err error) {
	pending, err := FindPending(dir)
	if err != nil {
		return nil, err
	}
	if watch == nil {
		watch = func(int) {}
	}
	c := newCleaner(ctx, api, p, watch)
	c.bound = bound
	var failed []error
	for _, p := range pending {
		switch {
		case p.Alive:
			c.did("%s: skipped, the run is still active", p.Path)
			continue
		case !isOf(p, api.BaseURL()):
			c.did("%s: skipped, it belongs to the target %s", p.Path, p.Header.BaseURL)
			continue
		case p.Forged:
			failed = append(failed, fmt.Errorf("%s: its first line does not prove that the run %s wrote it (remove the file)", p.Path, p.Header.ID))
			continue
		}
		if p.Header.Ordinary {
			NameOrdinary(p.Header.ID, p.Header.Proof)
		}
		before := len(c.done)
		left := c.undoAll(p)
		if len(left) == 0 {
			if len(c.done) == before {
				c.did("%s: nothing of the run is left on the target; the journal is removed", p.Path)
			}
			failed = append(failed, p.Remove())
			continue
		}
		failed = append(failed, firstFew(left)...)
		failed = append(failed, fmt.Errorf("%s stays and lists every change; remove it once nothing of it is left on the target", p.Path))
	}
	return c.done, errors.Join(failed...)
}

// Bounds of a cleanup right after a run.
const (
	afterRunTimeout = time.Minute
	hurriedTimeout  = 5 * time.Second
)

// CleanupAfterRun is Cleanup for the run that has just ended. An interruption does
// not stop it, but makes it hurry: a user waits, so requests may take 5 s at most.
// It ends after 1 minute. The time in which it waits for a rate limit does not count,
// unless the run was interrupted.
func CleanupAfterRun(ctx context.Context, api *client.Client, p *profile.Profile, dir string, watch func(left int)) (done []string, err error) {
	interrupted := ctx.Err() != nil
	bound := time.Duration(0)
	if interrupted {
		bound = hurriedTimeout
	}
	ctx, cancel := within(ctx, afterRunTimeout, func() (time.Duration, bool) { return afterRunTimeout, !interrupted })
	defer cancel()
	return cleanup(ctx, api, p, dir, watch, bound)
}

// maxShown is how many changes that were not rolled back are shown: the first few
// show the cause, and a load run may leave hundreds.
const maxShown = 3

// firstFew replaces all but the first errors with their number.
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

// undoAll rolls back the changes of a run.
func (c *cleaner) undoAll(p Pending) (left []error) {
	is := func(do Action) (some []Entry) {
		return slices.DeleteFunc(slices.Clone(p.Entries), func(e Entry) bool { return e.Do != do })
	}
	moves := is(Move)
	for i, e := range moves { // the newest first: an account is where it was sent last
		c.watch(len(moves) - i)
		what, err := c.moveHome(e)
		if err != nil {
			left = append(left, err)
		} else if what != "" {
			c.did("%s", what)
		}
	}
	for _, e := range is(Create) {
		left = append(left, c.deleteTests(p.Header.ID, e)...)
	}
	return left
}

// cleaner rolls back the entries of journals.
type cleaner struct {
	ctx     context.Context
	api     *client.Client
	profile *profile.Profile
	done    []string        // one line for each change
	home    map[string]bool // emails of accounts that were seen at home
	outage  client.Detector
	watch   func(left int)
	bound   time.Duration // on each request; 0 for that of the client
}

func newCleaner(ctx context.Context, api *client.Client, p *profile.Profile, watch func(left int)) *cleaner {
	c := &cleaner{ctx: ctx, api: api, profile: p, home: map[string]bool{}, watch: watch}
	c.outage.Limit = maxUnanswered
	return c
}

func (c *cleaner) did(format string, args ...any) {
	c.done = append(c.done, fmt.Sprintf(format, args...))
}

// maxUnanswered is after how many requests in a row without a response cleanup
// sends no more. The journal keeps what is left for the next attempt.
const maxUnanswered = 3

// role returns the role of the workspace in the profile, or main if the profile has no key of
// that workspace.
func (c *cleaner) role(workspaceID string) string {
	for _, role := range slices.Sorted(maps.Keys(c.profile.Workspaces)) {
		if strings.EqualFold(c.profile.Workspaces[role].ID, workspaceID) && workspaceID != "" {
			if _, ok := c.profile.FullKey(role); ok {
				return role
			}
		}
	}
	return dataset.Main
}

// describe returns the response in words, without any key that it repeats.
func (c *cleaner) describe(ex client.Exchange) string {
	return redact.Process.Text(judge.DescribeStatus(ex))
}

// key returns the role's key with all scopes.
func (c *cleaner) key(role string) (client.Key, error) {
	key, ok := c.profile.FullKey(role)
	if !ok {
		return client.Key{}, fmt.Errorf("the profile has no key of the workspace %q with the scope all:all", role)
	}
	return key.ForClient(), nil
}

// send sends a request, unless the target has stopped responding.
func (c *cleaner) send(ctx context.Context, r client.Request) client.Exchange {
	if err := c.outage.Err(); err != nil {
		return client.Exchange{Request: r, Err: fmt.Errorf("%s was not sent: %w", r.Operation, err)}
	}
	if c.bound > 0 {
		bounded, cancel := context.WithTimeout(ctx, c.bound)
		defer cancel()
		ctx = bounded
	}
	ex := c.api.Do(ctx, r)
	c.outage.Observe(ex.Err)
	return ex
}
