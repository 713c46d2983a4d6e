// Package lock keeps two runs from using the same rows of one server at the
// same time. A run that moves or deletes rows that only one run can use first
// takes the lock: it creates an inbox placement test with a certain name in the
// main workspace. Every other run can see that test.
//
// The package judges nothing. It must not import the suites or the load
// generator: both use it.
package lock

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

// Prefix begins the name of the test that shows a lock.
const Prefix = "conformance lock "

const (
	// DefaultTimeout is how long to wait for another run that holds the lock.
	DefaultTimeout = time.Minute
	// maxAge is the age from which a lock counts as left by a killed run.
	maxAge = time.Hour
	// renewEvery leaves time for further attempts if one or two renewals fail.
	renewEvery = maxAge / 4
)

// Lock is the lock of one run. It is not safe for concurrent use.
type Lock struct {
	Client  *client.Client
	Profile *profile.Profile
	// Journal remembers the test, so that cleanup can delete it if the run is
	// killed; nil for none.
	Journal *journal.Journal
	// LeftBehind are the names of tests that killed runs left on the target.
	LeftBehind []string
	// Permit is called before each request except those that delete the test.
	// Its error ends the attempt. nil permits everything.
	Permit func() error
	// Name is the name of the test if several processes form one run; empty for
	// a random name.
	Name string

	test test
}

// test is the test that shows the lock; the zero value stands for none.
type test struct {
	id, name string
	entry    int // in the journal
}

// Possible reports whether a run with this profile can take a lock: the target
// serves and stores tests, and the profile allows the run to create them and to
// change the rows that it lists.
func Possible(p *profile.Profile) bool {
	_, ok := p.FullKey(dataset.Main)
	served := p.Implements(spec.CreatePlacementTest) && p.Implements(spec.ListPlacementTests) && p.Implements(spec.DeletePlacementTest)
	return ok && served && !p.Stateless && p.Writes == profile.WritesListed
}

// NameOf returns the name that all processes with the same seed and start share.
func NameOf(seed uint64, start time.Time) string {
	return Prefix + uuid.NewSHA1(uuid.Nil, fmt.Appendf(nil, "%d %d", seed, start.UnixNano())).String()
}

// Take takes the lock. If another run holds it, Take calls waits, which may be
// nil, and waits until the lock is free, but no longer than timeout. Then it
// returns the name of the holder's test. On a target that creates no tests, Take
// takes no lock and returns no holder.
//
// An error means that a response is missing or that the journal cannot be
// written. Whether another run holds the lock is then unknown.
func (l *Lock) Take(ctx context.Context, timeout time.Duration, waits func(holder string)) (holder string, err error) {
	deadline := time.Now().Add(timeout)
	for {
		if shown, err := l.show(ctx); err != nil || !shown {
			return "", err
		}
		holder, err := l.other(ctx)
		if err != nil || holder == "" {
			return "", err
		}
		if err := l.Release(ctx); err != nil { // of two runs that see each other, both give way
			return "", err
		}
		if waits != nil {
			waits(holder)
		}
		for holder != "" {
			if time.Now().After(deadline) {
				return holder, nil
			}
			if client.Sleep(ctx, time.Second/2+rand.N(time.Second/2)) != nil {
				return "", client.ErrCanceled // the same error as from a request that waits
			}
			if holder, err = l.other(ctx); err != nil {
				return "", err
			}
		}
	}
}

// HeldBy describes the situation in which another run holds the lock. Take
// returned the holder.
func HeldBy(holder string) string {
	return fmt.Sprintf("the test %q shows that another run uses the same rows (retry when it has ended; if it was killed, run `outreach-conformance cleanup`)", holder)
}

// KeepAlive renews the lock before it counts as left by a killed run, until
// stop is called.
func (l *Lock) KeepAlive(ctx context.Context) (stop func()) { return l.keepAlive(ctx, renewEvery) }

func (l *Lock) keepAlive(ctx context.Context, every time.Duration) (stop func()) {
	whole := context.WithoutCancel(ctx) // an interrupted renewal would leave a test behind
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		ticker := time.NewTicker(every)
		defer ticker.Stop()
		for {
			select {
			case <-ticker.C:
				l.renew(whole)
			case <-ctx.Done():
				return
			}
		}
	}()
	return func() { cancel(); <-done }
}

// renew creates a new test in place of the old one. If that fails, the next
// renewal or the journal makes up for it.
func (l *Lock) renew(ctx context.Context) {
	old := l.test
	if old.id == "" {
		return
	}
	l.test = test{}
	if shown, err := l.show(ctx); err != nil || !shown {
		l.test = old
		return
	}
	young := l.test
	l.test = old
	_ = l.Release(ctx) // if this fails, the journal still lists the old test
	l.test = young
}

// show creates the test unless it exists, and reports whether it exists now.
func (l *Lock) show(ctx context.Context) (shown bool, err error) {
	if l.test.id != "" { // an earlier attempt failed later on
		return true, nil
	}
	name := l.Name
	if name == "" {
		name = Prefix + uuid.NewString() // not from the seed: two runs may have the same
	}
	body, err := json.Marshal(fixtures.PlacementTest(rand.New(rand.NewPCG(1, 0)), name))
	if err != nil {
		return false, err
	}
	entry, err := l.Journal.Open(journal.Entry{Do: journal.Create, Name: name, Key: l.key().Name, Home: l.Profile.Workspaces[dataset.Main].ID})
	if err != nil {
		return false, err
	}
	ex := l.send(ctx, l.request(spec.CreatePlacementTest, "", nil, body))
	if ex.Err != nil {
		return false, ex.Err
	}
	id, _ := object(ex.Body)["id"].(string)
	if ex.Status != http.StatusOK || id == "" {
		return false, l.Journal.Close(entry)
	}
	l.test = test{id: id, name: name, entry: entry}
	return true, l.Journal.Made(entry, id)
}

// Release gives the lock up, if the run holds it.
func (l *Lock) Release(ctx context.Context) error {
	if l.test.id == "" {
		return nil
	}
	ex := l.Client.Do(ctx, l.request(spec.DeletePlacementTest, l.test.id, nil, nil))
	const failed = "rollback failed: %s %s (`outreach-conformance cleanup` tries again)"
	switch {
	case ex.Err != nil:
		return fmt.Errorf(failed, spec.DeletePlacementTest, "had no response: "+ex.Err.Error())
	case ex.Status != http.StatusOK && ex.Status != http.StatusNotFound:
		return fmt.Errorf(failed, spec.DeletePlacementTest, "answered "+l.Client.Redact(judge.DescribeStatus(ex)))
	}
	l.test.id = ""
	return l.Journal.Close(l.test.entry)
}

// send sends a request if Permit allows it; the exchange's error is Permit's otherwise.
func (l *Lock) send(ctx context.Context, r client.Request) client.Exchange {
	if l.Permit != nil {
		if err := l.Permit(); err != nil {
			return client.Exchange{Request: r, Err: err}
		}
	}
	return l.Client.Do(ctx, r)
}

func (l *Lock) request(operation, id string, query url.Values, body []byte) client.Request {
	op := spec.MustOperation(operation)
	return client.Request{Operation: op.ID, Method: op.Method, Path: op.URLPath(id), Query: query, Body: body, Key: l.key(), Settle: op.Unsafe()}
}

func (l *Lock) key() client.Key {
	key, _ := l.Profile.FullKey(dataset.Main)
	return client.Key{Name: key.Name, Token: key.Token}
}

// object reads a JSON object; any other text reads as an empty one.
func object(text []byte) map[string]any {
	body, err := schemas.Decode(text)
	members, ok := body.(map[string]any)
	if err != nil || !ok {
		return map[string]any{}
	}
	return members
}
