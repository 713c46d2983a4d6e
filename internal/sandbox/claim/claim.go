// Package claim keeps runs out of each other's way. Two that use the same rows
// of one server at the same time would fail an honest one: one moves or deletes
// what the other is about to, or keeps the other's key at its limit. So whoever
// uses what only one run can use first lays claim to it, where every other run
// can see that: by an inbox placement test of a certain name in the main
// workspace.
//
// It judges nothing and imports neither the suites nor the load generator, which
// both use it.
package claim

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"time"

	"github.com/google/uuid"

	"outreach.example/conformance/fixtures"
	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/internal/client"
	"outreach.example/conformance/internal/judge"
	"outreach.example/conformance/internal/sandbox/journal"
	"outreach.example/conformance/schemas"
	"outreach.example/conformance/spec"
)

// Prefix begins the name of the test by which a run lays its claim.
const Prefix = "conformance claim "

const (
	// DefaultPatience is how long to wait for another run that has the claim.
	DefaultPatience = time.Minute
	// lasts is the age from which a claim is one that a killed run has left.
	lasts = time.Hour
	// renewed is how often Keep renews a claim: if the target refuses that once
	// or twice, it is still in time.
	renewed = lasts / 4
)

// Claim is that of one run. It is not safe for concurrent use.
type Claim struct {
	Client  *client.Client
	Profile *profile.Profile
	// Journal remembers the test, so that it goes if the run is killed; nil for nothing.
	Journal *journal.Journal
	// LeftBehind are the names of tests that killed runs have left (LeftBehind).
	LeftBehind []string
	// Permit is called before each request but those that take a test away; nil
	// allows all. It may panic.
	Permit func()
	// Name is that of the test, where several processes are one run; empty for a
	// name of this claim's own.
	Name string

	mark mark
}

// mark is the test that shows the claim; zero without one.
type mark struct {
	id, name string
	entry    int // the journal's
}

// Possible reports whether a run with this profile can lay a claim: the target
// keeps what it is told, and the profile lets the run create tests and change
// what it lists.
func Possible(p *profile.Profile) bool {
	_, ok := p.FullKey(dataset.Main)
	return ok && !p.Stateless && p.Writes == profile.WritesListed
}

// OfRun is the name of the claim that all processes share that were given the
// same seed and start.
func OfRun(seed uint64, start time.Time) string {
	return Prefix + uuid.NewSHA1(uuid.Nil, fmt.Appendf(nil, "%d %d", seed, start.UnixNano())).String()
}

// Lay lays a claim beside which there is no other. If another run has one it
// calls waits, which may be nil, and waits until that is gone, but no longer than
// the patience: then it returns the other's name. On a target that makes no test
// no claim can be laid: that is neither.
//
// Its error is that an answer did not come, or that the journal cannot be
// written: whether there is another run is then not known.
func (c *Claim) Lay(ctx context.Context, patience time.Duration, waits func(other string)) (other string, err error) {
	deadline := time.Now().Add(patience)
	for {
		if shown, err := c.show(ctx); err != nil || !shown {
			return "", err
		}
		other, err := c.other(ctx)
		if err != nil || other == "" {
			return "", err
		}
		if err := c.Drop(ctx); err != nil { // of two who see each other both give way
			return "", err
		}
		if waits != nil {
			waits(other)
		}
		for other != "" {
			if time.Now().After(deadline) {
				return other, nil
			}
			if client.Sleep(ctx, time.Second/2+rand.N(time.Second/2)) != nil {
				return "", client.ErrCanceled // as a request that waits says it
			}
			if other, err = c.other(ctx); err != nil {
				return "", err
			}
		}
	}
}

// Denied says what another's claim means, whose name Lay returned.
func Denied(other string) string {
	return fmt.Sprintf("the test %q shows that another uses the same rows; repeat the run when that has ended, or if it was killed, `outreach-conformance cleanup` first", other)
}

// Keep renews the claim before it is taken for one that a killed run has left,
// until the returned function is called.
func (c *Claim) Keep(ctx context.Context) (stop func()) { return c.keep(ctx, renewed) }

func (c *Claim) keep(ctx context.Context, every time.Duration) (stop func()) {
	whole := context.WithoutCancel(ctx) // a renewal that breaks off would leave a test behind
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		ticker := time.NewTicker(every)
		defer ticker.Stop()
		for {
			select {
			case <-ticker.C:
				c.renew(whole)
			case <-ctx.Done():
				return
			}
		}
	}()
	return func() { cancel(); <-done }
}

// renew shows the claim by a new test in place of the old one. What goes wrong
// with that can be put right by the next renewal, and at last by the journal.
func (c *Claim) renew(ctx context.Context) {
	old := c.mark
	if old.id == "" {
		return
	}
	if shown, err := c.show(ctx); err != nil || !shown {
		c.mark = old
		return
	}
	young := c.mark
	c.mark = old
	_ = c.Drop(ctx) // the journal still has it if that fails
	c.mark = young
}

// show creates the test, and reports whether there is one.
func (c *Claim) show(ctx context.Context) (shown bool, err error) {
	name := c.Name
	if name == "" {
		name = Prefix + uuid.NewString() // not drawn from the seed: two runs may have the same
	}
	body, err := json.Marshal(fixtures.PlacementTest(rand.New(rand.NewPCG(1, 0)), name))
	if err != nil {
		return false, err
	}
	made := mark{name: name}
	if c.Journal != nil {
		if made.entry, err = c.Journal.Open(journal.Entry{Do: journal.Create, Name: name, Key: c.key().Name,
			Home: c.Profile.Workspaces[dataset.Main].ID}); err != nil {
			return false, fmt.Errorf("nothing is changed that cannot be written down first: %w", err)
		}
	}
	ex, err := c.ask(ctx, spec.CreatePlacementTest, nil, body)
	if err != nil {
		return false, err
	}
	made.id, _ = object(ex.Body)["id"].(string)
	if ex.Status != http.StatusOK || made.id == "" {
		return false, c.settled(made.entry)
	}
	c.mark = made
	if c.Journal != nil && c.Client.Redact(made.id) == made.id { // else the name will do: no file may hold a key
		return true, c.Journal.Made(made.entry, made.id)
	}
	return true, nil
}

// Drop gives the claim up, if there is one.
func (c *Claim) Drop(ctx context.Context) error {
	if c.mark.id == "" {
		return nil
	}
	ex := c.Client.Do(ctx, c.request(spec.DeletePlacementTest, c.mark.id, nil, nil))
	const undone = "could not put the target back as it was: %s %s; `outreach-conformance cleanup` tries again"
	switch {
	case ex.Err != nil:
		return fmt.Errorf(undone, spec.DeletePlacementTest, "was not answered: "+ex.Err.Error())
	case ex.Status != http.StatusOK && ex.Status != http.StatusNotFound:
		return fmt.Errorf(undone, spec.DeletePlacementTest, "answered "+c.Client.Redact(judge.DescribeStatus(ex)))
	}
	c.mark.id = ""
	return c.settled(c.mark.entry)
}

// settled notes in the journal that the test is gone, or never was.
func (c *Claim) settled(entry int) error {
	if c.Journal == nil || entry == 0 {
		return nil
	}
	return c.Journal.Close(entry)
}

// ask sends a request that must be permitted. An answer that does not come is an error.
func (c *Claim) ask(ctx context.Context, operation string, query url.Values, body []byte) (client.Exchange, error) {
	if c.Permit != nil {
		c.Permit()
	}
	ex := c.Client.Do(ctx, c.request(operation, "", query, body))
	return ex, ex.Err
}

func (c *Claim) request(operation, id string, query url.Values, body []byte) client.Request {
	op := spec.MustOperation(operation)
	return client.Request{Operation: op.ID, Method: op.Method, Path: op.URLPath(id),
		Query: query, Body: body, Key: c.key()}
}

func (c *Claim) key() client.Key {
	key, _ := c.Profile.FullKey(dataset.Main)
	return client.Key{Name: key.Name, Token: key.Token}
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
