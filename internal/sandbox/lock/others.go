package lock

import (
	"context"
	"net/url"
	"slices"
	"strings"
	"time"

	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/internal/judge"
	"outreach.example/conformance/internal/paging"
	"outreach.example/conformance/internal/redact"
	"outreach.example/conformance/internal/sandbox/owned"
	"outreach.example/conformance/spec"
)

const (
	// newestPages is how many pages of the newest tests are searched for locks.
	newestPages = 6
	pageSize    = 50
)

// other returns the name of another run's lock, or "". It looks among the tests
// that the target's search finds, since a load run creates many tests after its
// lock. It then looks among the newest tests, in case the search finds nothing.
func (l *Lock) other(ctx context.Context) (string, error) {
	for _, look := range []struct {
		query url.Values
		pages int
	}{
		{url.Values{"search": {strings.TrimSpace(Prefix)}, "sort_order": {"desc"}}, 1},
		{url.Values{"sort_order": {"desc"}}, newestPages},
	} {
		other, err := l.among(ctx, look.query, look.pages)
		if other != "" || err != nil {
			return other, err
		}
	}
	return "", nil
}

// Others reports whether the target shows a lock of another run, whether that run is
// active or was killed.
func (l *Lock) Others(ctx context.Context) (bool, error) {
	other, err := l.other(ctx)
	return other != "" || len(l.stale) > 0, err
}

// among looks for another run's lock in the first pages of a list of tests.
func (l *Lock) among(ctx context.Context, query url.Values, pages int) (string, error) {
	fetch := paging.List(l.send, l.request(spec.ListPlacementTests, "", query, nil), profile.ParamStartingAfter)
	found := ""
	walk := paging.Run(ctx, func(ctx context.Context, cursor string, limit int) (paging.Page, error) {
		page, err := fetch(ctx, cursor, limit)
		if found = l.others(page.Rows, time.Now()); found != "" {
			page.Cursor = "" // ends the walk
		}
		return page, err
	}, paging.Fixed(pageSize), pages)
	if walk.Err != nil && !isNoPage(walk.Err) {
		return "", walk.Err
	}
	return redact.Process.Text(judge.Clip(found)), nil
}

// others returns the name of another run's lock among the rows, or "". The locks of
// killed runs do not count: those in journals, and those that nobody has renewed.
func (l *Lock) others(rows []paging.Row, now time.Time) string {
	holder := ""
	for _, row := range rows {
		name, _ := row.Value["name"].(string)
		id, _ := row.Value["id"].(string)
		ofOne := func(run string) bool { return owned.OfRun(row.Value, run) != "" }
		if !strings.HasPrefix(name, Prefix) || slices.ContainsFunc(l.LeftBehind, ofOne) || l.ours(id, name) {
			continue
		}
		if !slices.ContainsFunc(l.Ended, ofOne) && l.age(row, now) < MaxAge {
			holder = name
			continue
		}
		if s := (Stale{id, name}); owned.RunIn(name) != "" && !slices.Contains(l.stale, s) {
			l.stale = append(l.stale, s)
		}
	}
	return holder
}

// age returns for how long nobody has renewed the lock of another run. The target's
// clock tells, as the run's own test shows it. Without it, the time counts since the
// lock was seen first.
func (l *Lock) age(row paging.Row, now time.Time) time.Duration {
	if l.seen == nil {
		l.seen = map[string]time.Time{}
	}
	first, known := l.seen[row.Key]
	if !known {
		first = now
		l.seen[row.Key] = now
	}
	created, _ := row.Value["timestamp_created"].(string)
	if made, err := time.Parse(time.RFC3339Nano, created); err == nil && !l.clock.created.IsZero() {
		return max(now.Sub(first), l.clock.created.Add(now.Sub(l.clock.shown)).Sub(made))
	}
	return now.Sub(first)
}
