package suites

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"

	"outreach.example/conformance/client"
	"outreach.example/conformance/fixtures"
	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/judge"
	"outreach.example/conformance/schemas"
	"outreach.example/conformance/spec"
)

// Two runs at the same time would fail an honest server: one moves or deletes
// what the other is about to, or keeps the other's key at its limit. So whoever
// uses what only one run can use first lays claim to it, where every other run
// can see that: by a test of a certain name in the main workspace.

// claimPrefix begins the name of the test by which a run lays its claim.
const claimPrefix = "conformance claim "

const (
	// claimLasts is the age from which a claim is one that a killed run has left.
	claimLasts = time.Hour
	// claimPages is how many pages of the newest tests are searched for claims.
	claimPages = 6
	claimLimit = "50"
)

// claim is the run's own.
type claim struct {
	mu      sync.Mutex
	decided bool
	denied  string // what is missing when another run has the claim
	mark    mark
}

// mark is the test that shows the claim; zero without one.
type mark struct {
	id, name string
	entry    int // the journal's on it
}

// claimRows makes sure that no other run uses what the profile lists for use by
// one, or ends the spec. A target on which no claim can be laid (it makes no
// tests, or the profile lets the run make none) is used without.
func (c *check) claimRows() {
	c.claim.mu.Lock()
	defer c.claim.mu.Unlock()
	key, ok := c.Profile.FullKey(dataset.Main)
	if !ok || c.Profile.Stateless || c.Profile.Writes != fixtures.WritesListed {
		return
	}
	if !c.claim.decided {
		c.claim.denied = c.layClaim(token(key))
		c.claim.decided = true
		c.spares.forget() // other runs may have deleted some since
	}
	if c.claim.denied != "" {
		c.lack("%s", c.claim.denied)
	}
}

// layClaim lays a claim beside which there is no other, for which it waits if
// need be. It returns what is missing if that takes too long.
func (c *check) layClaim(key client.Key) (denied string) {
	deadline := time.Now().Add(c.claimPatience())
	for {
		if c.claim.mark.id == "" && !c.showClaim(key) {
			return ""
		}
		other, found := c.otherClaim(key)
		if !found {
			return ""
		}
		c.dropClaim(c.ctx) // of two who see each other both give way
		for found {
			if time.Now().After(deadline) {
				return fmt.Sprintf("to be the only run on this target: the test %q shows that another uses the same rows; repeat the run when that has ended, or if it was killed, `outreach-conformance cleanup` first", other)
			}
			c.pause(time.Second/2 + rand.N(time.Second/2))
			other, found = c.otherClaim(key)
		}
	}
}

// pause waits, or ends the spec if that is interrupted.
func (c *check) pause(d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-c.ctx.Done():
		c.stop(answer{Exchange: client.Exchange{Err: client.ErrCanceled}})
	}
}

// showClaim creates the test, and reports whether there is one.
func (c *check) showClaim(key client.Key) bool {
	create := spec.MustOperation(spec.CreatePlacementTest)
	c.claim.mark.name = claimPrefix + uuid.NewString() // not drawn from the seed: two runs may have the same
	k := call{op: create, key: key, owner: c.owner(dataset.Main),
		body: fixtures.PlacementTest(rand.New(rand.NewPCG(c.Seed, 0)), c.claim.mark.name)}
	c.claim.mark.entry = c.announce(k)
	ex := c.unjudged(k)
	made := object(ex.Body)
	if c.claim.mark.id, _ = made["id"].(string); ex.Status != http.StatusOK || c.claim.mark.id == "" {
		if ex.Err == nil {
			c.noteUndone(c.claim.mark.entry)
		}
		c.claim.mark.id = ""
		return false
	}
	c.mine.add(c.claim.mark.id)
	c.noteMade(c.claim.mark.entry, c.claim.mark.id)
	return true
}

// otherClaim looks for the claim of another run among the newest tests.
func (c *check) otherClaim(key client.Key) (name string, found bool) {
	list := call{op: spec.MustOperation(spec.ListPlacementTests), key: key}.with("sort_order", "desc").with("limit", claimLimit)
	for k, page := list, 0; page < claimPages; page++ {
		ex := c.unjudged(k)
		body := object(ex.Body)
		items, _ := body["items"].([]any)
		if name, found := c.claim.mark.others(items, answeredAt(ex), c.LeftBehind); found {
			return c.Client.Redact(judge.Clip(name)), true
		}
		cursor, _ := body["next_starting_after"].(string)
		if cursor == "" || len(items) == 0 {
			break
		}
		k = list.with("starting_after", cursor)
	}
	return "", false
}

// others finds the name of another run's claim that still holds: it is neither
// old nor among those that killed runs have left behind.
func (m mark) others(items []any, now time.Time, left []string) (name string, found bool) {
	for _, item := range items {
		row, _ := item.(map[string]any)
		name, _ := row["name"].(string)
		if !strings.HasPrefix(name, claimPrefix) || slices.Contains(left, name) || m.id != "" && (name == m.name || keyOf(row) == foldID(m.id)) {
			continue
		}
		made, err := time.Parse(time.RFC3339Nano, scalar(row["timestamp_created"]))
		if err != nil || now.Sub(made) < claimLasts {
			return name, true
		}
	}
	return "", false
}

// answeredAt is the target's own time of an answer, or else ours.
func answeredAt(ex client.Exchange) time.Time {
	if at, err := http.ParseTime(ex.Header.Get("Date")); err == nil {
		return at
	}
	return time.Now()
}

// object reads a JSON object; what is none is empty.
func object(text []byte) map[string]any {
	body, err := schemas.Decode(text)
	members, ok := body.(map[string]any)
	if err != nil || !ok {
		return map[string]any{}
	}
	return members
}

// unjudged sends a request of the harness's own. It counts for the budget, and
// an answer that does not come ends the spec.
func (c *check) unjudged(k call) client.Exchange {
	c.permit(k)
	ex := c.Client.Do(c.ctx, k.request())
	if ex.Err != nil {
		c.stop(answer{Exchange: ex, call: k})
	}
	return ex
}

// leave gives up the run's claim, if it has one.
func (e *Env) leave(ctx context.Context) {
	e.claim.mu.Lock()
	defer e.claim.mu.Unlock()
	e.dropClaim(ctx)
	e.claim.decided, e.claim.denied = false, ""
}

// dropClaim deletes the test that shows the claim. The caller holds claim.mu.
func (e *Env) dropClaim(ctx context.Context) {
	if e.claim.mark.id == "" {
		return
	}
	ctx, cancel := restoring(ctx)
	defer cancel()
	key, _ := e.Profile.FullKey(dataset.Main)
	k := call{op: spec.MustOperation(spec.DeletePlacementTest), id: e.claim.mark.id, key: token(key)}
	if !e.tidy(ctx, "claim", k, http.StatusNotFound) {
		return
	}
	e.claim.mark.id = ""
	if err := e.undone(e.claim.mark.entry); err != nil {
		e.Ledger.Troubled("claim", err.Error())
	}
}
