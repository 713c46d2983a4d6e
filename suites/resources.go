package suites

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/google/uuid"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/internal/judge"
	"outreach.example/conformance/spec"
)

// What a spec changes on the target, and how it is put back. Whatever a
// response says was created or moved is noted here, whether the spec meant it
// to happen or the target should have refused.

// noteChange registers the clean-up for an answer that changed something;
// entry is the journal's on the call.
func (c *check) noteChange(a answer, entry int) {
	served := a.Status/100 == 2
	refused := a.Exchange.Err == nil && !served && a.Status < 500 // after a server error nobody knows
	c.noteUnanswered(a)
	switch a.call.op.ID {
	case spec.CreatePlacementTest:
		id := a.text("id")
		if served && id != "" {
			c.mine.add(id)
			c.noteMade(entry, id)
			c.afterwards(func(ctx context.Context) { c.deleteTest(ctx, id, a.call, entry) })
		} else if refused {
			c.noteUndone(entry)
		}
	case spec.MoveAccounts:
		switch {
		case served:
			c.noteMove(a.call)
		case refused:
			c.noteStayed(a.call)
		default:
			c.noteAway(a.call)
		}
	}
}

// newTest creates a minimal test in the main workspace.
func (c *check) newTest() answer {
	return c.must(c.request(dataset.Main, spec.MustOperation(spec.CreatePlacementTest)))
}

// deleteTest removes a test that the run created, with the key that created it
// or, where that is a key of narrow scope or none, with the main key. That it
// is gone already is fine.
func (c *check) deleteTest(ctx context.Context, id string, creation call, entry int) {
	key := creation.key
	if full, ok := c.Profile.FullKey(dataset.Main); ok && (creation.authorization != nil || creation.owner == "") {
		key = token(full)
	}
	if c.tidy(ctx, call{op: spec.MustOperation(spec.DeletePlacementTest), id: id, key: key}, http.StatusNotFound) {
		c.noteUndone(entry)
	}
}

// tidy is Env.tidy for what the spec has changed.
func (c *check) tidy(ctx context.Context, k call, alsoFine int) bool {
	return c.Env.tidy(ctx, c.name(), k, alsoFine)
}

// tidy sends a clean-up request and reports whether that is done. What it
// leaves behind is trouble, not a violation: the operation is judged by its own
// specs.
func (e *Env) tidy(ctx context.Context, where string, k call, alsoFine int) bool {
	ex := e.Client.Do(ctx, k.request())
	switch {
	case ex.Err == nil && ex.Status == http.StatusOK:
		e.doubts.settle(k)
		return true
	case ex.Err == nil && ex.Status == alsoFine:
		return true
	}
	became := fmt.Sprintf("%s answered %s", k.op.ID, e.Client.Redact(judge.DescribeStatus(ex)))
	if ex.Err != nil {
		became = unanswered(k, ex.Err)
	}
	e.doubts.cast(k, became)
	e.Ledger.Troubled(where, fmt.Sprintf("could not put the target back as it was: %s; `outreach-conformance cleanup` tries again", became))
	return false
}

// spareSubsequence returns a subsequence that the profile lets the run delete
// and that still exists. It is given back unless it was deleted.
func (c *check) spareSubsequence() string {
	c.claimRows()
	c.spares.mu.Lock()
	defer c.spares.mu.Unlock()
	c.fillSpares()
	if len(c.spares.free) == 0 {
		c.lack("the id of a subsequence in the workspace %q that may be deleted and still exists", dataset.Main)
	}
	id := c.spares.free[0]
	c.spares.free = c.spares.free[1:]
	return id
}

// plentyOfSpares is more spares than the run's other specs need.
const plentyOfSpares = 16

// sparesBeside takes the next older and the next younger spare until the spec
// has ended, if there are plenty.
func (c *check) sparesBeside(id string) []string {
	c.spares.mu.Lock()
	defer c.spares.mu.Unlock()
	c.fillSpares()
	if len(c.spares.free) < plentyOfSpares {
		return nil
	}
	older := func(a, b string) int { return strings.Compare(foldID(a), foldID(b)) }
	sorted := slices.SortedFunc(slices.Values(c.spares.free), older)
	i, _ := slices.BinarySearchFunc(sorted, id, older)
	beside := sorted[max(0, i-1):min(i+1, len(sorted))]
	c.spares.free = slices.DeleteFunc(c.spares.free, func(id string) bool { return slices.Contains(beside, id) })
	c.afterwards(func(context.Context) {
		for _, id := range beside {
			c.giveBack(id)
		}
	})
	return beside
}

// fillSpares looks, the first time, which spares still exist. The caller holds the lock.
func (c *check) fillSpares() {
	list := spec.MustOperation(spec.ListSubsequences)
	if !c.spares.filled {
		listed := c.Profile.Workspaces[dataset.Main].ExpendableSubsequences
		switch {
		case c.Profile.Stateless: // what it lists is an example, and what is deleted stays
			c.spares.free = slices.Clone(listed)
		case len(listed) > 0:
			there := byKey(c.walk(c.as(dataset.Main, list), pagesOf(maxLimit)))
			free := slices.DeleteFunc(slices.Clone(listed), func(id string) bool { return there[foldID(id)] == nil })
			c.spares.free = showiestFirst(free, func(id string) map[string]any { return there[foldID(id)] })
		}
		c.spares.filled = true
	}
}

// giveBack returns a spare subsequence that was not deleted.
func (c *check) giveBack(id string) {
	c.spares.mu.Lock()
	defer c.spares.mu.Unlock()
	c.spares.free = append(c.spares.free, id)
}

// noteMove remembers where accounts are, and registers their way home.
func (c *check) noteMove(k call) {
	body := k.object()
	destination, _ := body["destination_workspace_id"].(string)
	emails, _ := body["emails"].([]string)
	c.accounts.mu.Lock()
	defer c.accounts.mu.Unlock()
	if c.accounts.at == nil {
		c.accounts.at = map[string]string{}
	}
	for _, email := range emails {
		c.accounts.at[email] = destination
	}
	c.afterwards(c.returnAccounts)
}

// noteAway is noteMove for a call of which nobody knows whether it moved the
// accounts: those that it may have taken away from home are looked for there. On
// its way home an account is still noted where it was, and to what is no id of a
// workspace there is no way.
func (c *check) noteAway(k call) {
	body := k.object()
	destination, _ := body["destination_workspace_id"].(string)
	if _, err := uuid.Parse(destination); err != nil {
		c.noteStayed(k)
		return
	}
	emails, _ := body["emails"].([]string)
	for _, email := range emails {
		if home, ok := c.homeOf(email); ok && home.ID != destination {
			c.noteMove(k.withField("emails", []string{email}))
		}
	}
}

// noteStayed writes down that a refused move left the accounts where they were.
func (c *check) noteStayed(k call) {
	emails, _ := k.object()["emails"].([]string)
	c.accounts.mu.Lock()
	defer c.accounts.mu.Unlock()
	for _, email := range emails {
		if _, moved := c.accounts.at[email]; !moved {
			c.noteHome(email)
		}
	}
}

// returnAccounts moves every account that is not where the profile says back home.
func (c *check) returnAccounts(ctx context.Context) {
	c.accounts.mu.Lock()
	defer c.accounts.mu.Unlock()
	for _, role := range slices.Sorted(maps.Keys(c.Profile.Workspaces)) {
		home := c.Profile.Workspaces[role]
		for _, email := range home.Accounts {
			at, moved := c.accounts.at[email]
			if !moved {
				continue
			}
			delete(c.accounts.at, email)
			if at == home.ID {
				c.noteHome(email)
				continue
			}
			back := call{op: spec.MustOperation(spec.MoveAccounts), body: move(profile.Workspace{ID: at}, home, email)}
			admin, ok := c.Profile.AdminKey(home)
			if !ok {
				c.doubts.cast(back, "the profile has no key of its admin workspace, to move it back")
				continue
			}
			back.key = token(admin)
			// A 404 says that it is not there: an interrupted move took it home, or
			// never took it away. While that is in doubt it stays in the journal.
			if c.tidy(ctx, back, http.StatusNotFound) && c.doubts.about(email) == "" {
				c.noteHome(email)
			}
		}
	}
}

// showiest is how many ids showiestFirst brings to the front.
const showiest = 2

// showiestFirst brings those ids to the front whose rows together show the most
// different fields, so that what is deleted first shows all it can.
func showiestFirst(ids []string, row func(id string) map[string]any) []string {
	shown := map[string]bool{}
	for front := range min(showiest, len(ids)) {
		best, most := front, -1
		for i := front; i < len(ids); i++ {
			with := maps.Clone(shown)
			addFields(with, row(ids[i]), "")
			if len(with) > most {
				best, most = i, len(with)
			}
		}
		ids[front], ids[best] = ids[best], ids[front]
		addFields(shown, row(ids[front]), "")
	}
	return ids
}

// addFields adds the paths of all values in a JSON value that are not null.
func addFields(paths map[string]bool, value any, at string) {
	switch value := value.(type) {
	case nil:
		return
	case map[string]any:
		for name, v := range value {
			addFields(paths, v, at+"."+name)
		}
	case []any:
		for _, v := range value {
			addFields(paths, v, at+".ITEM")
		}
	}
	paths[at] = true
}
