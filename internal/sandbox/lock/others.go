package lock

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/internal/client"
	"outreach.example/conformance/internal/judge"
	"outreach.example/conformance/internal/paging"
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

// among looks for another run's lock in the first pages of a list of tests.
func (l *Lock) among(ctx context.Context, query url.Values, pages int) (string, error) {
	var answered time.Time
	fetch := paging.List(func(ctx context.Context, r client.Request) client.Exchange {
		ex := l.send(ctx, r)
		answered = answeredAt(ex)
		return ex
	}, l.request(spec.ListPlacementTests, "", query, nil), profile.ParamStartingAfter)
	found := ""
	walk := paging.Run(ctx, func(ctx context.Context, cursor string, limit int) (paging.Page, error) {
		page, err := fetch(ctx, cursor, limit)
		if found = l.others(page.Rows, answered); found != "" {
			page.Cursor = "" // ends the walk
		}
		return page, err
	}, paging.Fixed(pageSize), pages)
	var noPage *paging.NoPageError
	if walk.Err != nil && !errors.As(walk.Err, &noPage) {
		return "", walk.Err
	}
	return l.Client.Redact(judge.Clip(found)), nil
}

// others returns the name of another run's lock among the rows, or "". Old locks
// and those that killed runs left behind do not count.
func (l *Lock) others(rows []paging.Row, now time.Time) string {
	for _, row := range rows {
		name, _ := row.Value["name"].(string)
		id, _ := row.Value["id"].(string)
		if !strings.HasPrefix(name, Prefix) || slices.Contains(l.LeftBehind, name) || l.ours(id, name) {
			continue
		}
		created, _ := row.Value["timestamp_created"].(string)
		made, err := time.Parse(time.RFC3339Nano, created)
		if err != nil || now.Sub(made) < maxAge {
			return name
		}
	}
	return ""
}

// ours reports whether this run created the test. The target may have changed
// either the id or the name.
func (l *Lock) ours(id, name string) bool {
	if l.Name != "" && name == l.Name {
		return true
	}
	return l.test.id != "" && (name == l.test.name || strings.EqualFold(id, l.test.id))
}

// answeredAt returns the time of a response by the target's clock, or else by ours.
func answeredAt(ex client.Exchange) time.Time {
	if at, err := http.ParseTime(ex.Header.Get("Date")); err == nil {
		return at
	}
	return time.Now()
}
