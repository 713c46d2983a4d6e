package claim

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"outreach.example/conformance/internal/client"
	"outreach.example/conformance/internal/judge"
	"outreach.example/conformance/internal/sandbox/journal"
	"outreach.example/conformance/spec"
)

const (
	// newestPages is how many pages of the newest tests are searched for claims.
	newestPages = 6
	pageSize    = "50"
)

// other looks for the claim of another run and returns its name: among the
// newest tests, and among those that the target's search finds, since a load run
// buries its claim under the tests that it creates. A target whose search finds
// nothing is still right about its newest tests.
func (c *Claim) other(ctx context.Context) (string, error) {
	for _, look := range []struct {
		query url.Values
		pages int
	}{
		{url.Values{"search": {strings.TrimSpace(Prefix)}, "sort_order": {"desc"}, "limit": {pageSize}}, 1},
		{url.Values{"sort_order": {"desc"}, "limit": {pageSize}}, newestPages},
	} {
		other, err := c.among(ctx, look.query, look.pages)
		if other != "" || err != nil {
			return other, err
		}
	}
	return "", nil
}

// among looks through the pages of a list of tests.
func (c *Claim) among(ctx context.Context, query url.Values, pages int) (string, error) {
	for range pages {
		ex, err := c.ask(ctx, spec.ListPlacementTests, query, nil)
		if err != nil {
			return "", err
		}
		body := object(ex.Body)
		items, _ := body["items"].([]any)
		if name := c.others(items, answeredAt(ex)); name != "" {
			return c.Client.Redact(judge.Clip(name)), nil
		}
		cursor, _ := body["next_starting_after"].(string)
		if cursor == "" || len(items) == 0 {
			return "", nil
		}
		query.Set("starting_after", cursor)
	}
	return "", nil
}

// others finds the name of another run's claim that still holds: it is neither
// old nor among those that killed runs have left behind.
func (c *Claim) others(items []any, now time.Time) string {
	for _, item := range items {
		row, _ := item.(map[string]any)
		name, _ := row["name"].(string)
		id, _ := row["id"].(string)
		if !strings.HasPrefix(name, Prefix) || slices.Contains(c.LeftBehind, name) || c.ours(id, name) {
			continue
		}
		created, _ := row["timestamp_created"].(string)
		made, err := time.Parse(time.RFC3339Nano, created)
		if err != nil || now.Sub(made) < lasts {
			return name
		}
	}
	return ""
}

// ours reports whether the test is of this run. A target may have changed one of the two.
func (c *Claim) ours(id, name string) bool {
	if c.Name != "" && name == c.Name {
		return true
	}
	return c.mark.id != "" && (name == c.mark.name || strings.EqualFold(id, c.mark.id))
}

// answeredAt is the target's own time of an answer, or else ours.
func answeredAt(ex client.Exchange) time.Time {
	if at, err := http.ParseTime(ex.Header.Get("Date")); err == nil {
		return at
	}
	return time.Now()
}

// LeftBehind returns the names of the tests that killed runs have left, as their
// journals in the directory tell. One that cannot be read tells nothing: who
// puts back what is left is the one to say so.
func LeftBehind(dir string) (names []string) {
	pending, _ := journal.Find(dir)
	for _, p := range pending {
		for _, e := range p.Entries {
			if !p.Alive && e.Do == journal.Create {
				names = append(names, e.Name)
			}
		}
	}
	return names
}
