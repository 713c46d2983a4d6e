package harness

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/google/uuid"

	"outreach.example/conformance/client"
	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/journal"
	"outreach.example/conformance/judge"
	"outreach.example/conformance/schemas"
	"outreach.example/conformance/spec"
	"outreach.example/conformance/target"
)

// Cleanup puts back what killed runs changed on the target, as their journals
// in the directory tell, and says what it did, a line each. Journals of other
// targets and of runs under way are left alone. Its error names what could not
// be put back; the journal of that stays.
func Cleanup(ctx context.Context, t *target.Target, dir string) (done []string, err error) {
	pending, err := journal.Find(dir)
	if err != nil {
		return nil, err
	}
	api, err := newClient(Config{Target: t})
	if err != nil {
		return nil, err
	}
	defer api.Close()
	c := &cleaner{ctx: ctx, api: api, target: t}
	var failed []error
	for _, p := range pending {
		switch {
		case p.Alive:
			done = append(done, fmt.Sprintf("%s: left alone, the run is still under way", p.Path))
			continue
		case strings.TrimRight(p.Header.BaseURL, "/") != strings.TrimRight(t.BaseURL, "/"):
			done = append(done, fmt.Sprintf("%s: left alone, it belongs to the target %s", p.Path, p.Header.BaseURL))
			continue
		}
		var left []error
		for _, e := range p.Entries {
			what, err := c.undo(e)
			if err != nil {
				left = append(left, err)
				continue
			}
			done = append(done, what)
		}
		if len(left) == 0 {
			left = append(left, p.Remove())
		}
		failed = append(failed, left...)
	}
	return done, errors.Join(failed...)
}

// cleaner undoes the entries of journals.
type cleaner struct {
	ctx    context.Context
	api    *client.Client
	target *target.Target
}

func (c *cleaner) undo(e journal.Entry) (string, error) {
	if e.Do == journal.Move {
		return c.moveHome(e)
	}
	ids := []string{e.ID}
	if e.ID == "" {
		found, err := c.named(e.Name)
		if err != nil {
			return "", err
		}
		ids = found
	}
	for _, id := range ids {
		ex, err := c.send(dataset.Main, spec.DeletePlacementTest, id, nil, nil)
		if err != nil {
			return "", err
		}
		if ex.Status != http.StatusOK && ex.Status != http.StatusNotFound {
			return "", fmt.Errorf("the test %s (%s) could not be deleted: %s", c.api.Redact(id), e.Name, c.describe(ex))
		}
	}
	if len(ids) == 0 {
		return fmt.Sprintf("the test %s was never created", e.Name), nil
	}
	return fmt.Sprintf("the test %s is deleted", e.Name), nil
}

// moveHome moves an account from where it was last sent. An account that is not
// there is at home already.
func (c *cleaner) moveHome(e journal.Entry) (string, error) {
	if _, err := uuid.Parse(e.Away); err != nil { // an invalid move that had no answer
		return fmt.Sprintf("the account %s cannot have left its workspace: %q names no other", e.Email, e.Away), nil
	}
	body := fmt.Appendf(nil, `{"emails":[%q],"source_workspace_id":%q,"destination_workspace_id":%q}`, e.Email, e.Away, e.Home)
	ex, err := c.send(dataset.Admin, spec.MoveAccounts, "", nil, body)
	if err != nil {
		return "", err
	}
	if ex.Status == http.StatusOK || ex.Status == http.StatusNotFound {
		return fmt.Sprintf("the account %s is in its workspace", e.Email), nil
	}
	return "", fmt.Errorf("the account %s could not be moved home to %s: %s", e.Email, e.Home, c.describe(ex))
}

// cleanupPages bounds how far the list of tests is read for a name.
const cleanupPages = 5000

// named returns the ids of the tests of that name, which the run made unique.
func (c *cleaner) named(name string) ([]string, error) {
	var ids []string
	cursor := ""
	for range cleanupPages {
		query := url.Values{"limit": {"100"}}
		if cursor != "" {
			query.Set("starting_after", cursor)
		}
		ex, err := c.send(dataset.Main, spec.ListPlacementTests, "", query, nil)
		if err != nil {
			return nil, err
		}
		body, err := schemas.Decode(ex.Body)
		page, _ := body.(map[string]any)
		items, isArray := page["items"].([]any)
		if ex.Status != http.StatusOK || err != nil || !isArray {
			return nil, fmt.Errorf("the list of tests could not be read to find %s: %s", name, c.describe(ex))
		}
		for _, item := range items {
			row, _ := item.(map[string]any)
			if id, ok := row["id"].(string); ok && row["name"] == name {
				ids = append(ids, id)
			}
		}
		next, _ := page["next_starting_after"].(string)
		if next == "" || next == cursor || len(items) == 0 {
			return slices.Compact(ids), nil
		}
		cursor = next
	}
	return nil, fmt.Errorf("the list of tests does not end: %s was not found within %d pages", name, cleanupPages)
}

// describe is what the target answered, without a key that it may repeat.
func (c *cleaner) describe(ex client.Exchange) string { return c.api.Redact(judge.DescribeStatus(ex)) }

// send sends a request with the role's key of all scopes.
func (c *cleaner) send(role, operation, id string, query url.Values, body []byte) (client.Exchange, error) {
	key, ok := c.target.Profile.FullKey(role)
	if !ok {
		return client.Exchange{}, fmt.Errorf("the profile has no key of the workspace %q with the scope all:all", role)
	}
	op := spec.MustOperation(operation)
	ex := c.api.Do(c.ctx, client.Request{Operation: op.ID, Method: op.Method, Path: strings.Replace(op.Path, "{id}", url.PathEscape(id), 1),
		Query: query, Body: body, Key: client.Key{Name: key.Name, Token: key.Token}})
	return ex, ex.Err
}
