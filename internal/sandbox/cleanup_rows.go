package sandbox

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"outreach.example/conformance/internal/paging"
	"outreach.example/conformance/internal/redact"
)

// deleteTests deletes the tests of a run in a workspace. To a key of another workspace, they
// would not exist.
func (c *cleaner) deleteTests(run string, e Entry) (left []error) {
	key, err := c.key(c.role(e.Home))
	if err != nil {
		return []error{err}
	}
	tests := NewTests(c.send, c.profile, key)
	tests.lookAfter(e.After)
	sweep := sweeper{tests: tests, run: run, within: c.profile.Visibility(), parallel: 1,
		gone:  func(string) bool { return false },
		waits: func(map[string]bool) bool { return false },
		delete: func(ctx context.Context, t Listed, left int) string {
			c.watch(left)
			why := deleteTest(ctx, c.send, c.profile, key, t.ID)
			if why == "" {
				c.did("the test %s is deleted", t.Text)
				return ""
			}
			return "it could not be deleted: " + why
		}}
	remains, err := sweep.sweep(c.ctx)
	var noPage *paging.NoPageError
	switch {
	case errors.As(err, &noPage) && noPage.Exchange.Status == http.StatusPaymentRequired: // it cannot have created any
	case err != nil:
		return []error{fmt.Errorf("the tests of the run %s cannot be searched for: %w", run, unreadable(err))}
	}
	for _, r := range remains {
		if r.Foreign != "" {
			c.did("the test %s stays: by the target's clock, its row existed before the run", r.Text)
			continue
		}
		left = append(left, fmt.Errorf("the test %s (%s): %s", redact.Process.Text(r.ID), r.Text, r.why))
	}
	return left
}
