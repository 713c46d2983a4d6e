// Package lock keeps two runs from using the same rows of one server at the
// same time. A run that moves or deletes rows that only one run can use first
// takes the lock: it creates an inbox placement test with a certain name in the
// main workspace. Every other run can see that test. The run renews the test while
// it is active, so a test that is not renewed belongs to a run that was killed.
//
// The package judges nothing. It must not import the suites or the load
// generator: both use it.
package lock

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/google/uuid"

	"outreach.example/conformance/fixtures"
	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/internal/client"
	"outreach.example/conformance/internal/judge"
	"outreach.example/conformance/internal/paging"
	"outreach.example/conformance/internal/redact"
	"outreach.example/conformance/internal/sandbox/journal"
	"outreach.example/conformance/internal/sandbox/owned"
	"outreach.example/conformance/internal/visible"
	"outreach.example/conformance/spec"
)

// Prefix begins the name of the test that shows a lock. The id of the run follows.
const Prefix = "conformance lock "

const (
	// DefaultTimeout is how long to wait for another run that holds the lock. It is
	// more than MaxAge, so nobody waits in vain for a run that was killed.
	DefaultTimeout = 150 * time.Second
	// MaxAge is the age from which a lock counts as left by a killed run.
	MaxAge = 2 * time.Minute
	// renewEvery leaves time for further attempts if one or two renewals fail.
	renewEvery = MaxAge / 4
)

// Lock is the lock of one run. It is not safe for concurrent use.
type Lock struct {
	Send    paging.Sender // such as Client.Do
	Profile *profile.Profile
	// Journal remembers the test, so that cleanup can delete it if the run is
	// killed; nil for none.
	Journal *journal.Journal
	// LeftBehind are the ids of killed runs, whose locks count no more.
	LeftBehind []string
	// Ended are the ids of runs that have ended, however young their tests are.
	Ended []string
	// Run is the id of the run; empty for a random one.
	Run string
	// Permit is called before each request except those that delete the test.
	// Its error ends the attempt. nil permits everything.
	Permit func() error
	// Name begins the name of the test. Processes that form one run have the same one.
	// Empty means that of Run.
	Name string

	own   string       // name of this process's tests; empty before the first
	tests *owned.Tests // of the main workspace
	test  test
	clock test                 // the last test of the run that showed the target's clock
	first time.Time            // when the run first created a test; zero if it did not
	lost  bool                 // a creation had no response, so its test may exist
	seen  map[string]time.Time // when a lock of another run was seen first, by its id
	stale []Stale
}

// test is a test that shows the lock; the zero value stands for none.
type test struct {
	id      string
	created time.Time // by the target's clock; zero if unknown
	shown   time.Time // when that was read, by ours
}

// Stale is the test of a run that was killed.
type Stale struct{ ID, Name string }

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
	return NameFor(uuid.NewSHA1(uuid.Nil, fmt.Appendf(nil, "%d %d", seed, start.UnixNano())).String())
}

// NameFor returns the name of the lock of a run.
func NameFor(run string) string { return Prefix + run }

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
		if waits != nil {
			waits(holder)
			waits = nil
		}
		if err := l.withdraw(ctx); err != nil { // of two runs that see each other, both give way
			return "", err
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

// Stale returns the tests of killed runs that Take has seen. Nobody has rolled back
// what these runs changed, unless somebody else did.
func (l *Lock) Stale() []Stale { return l.stale }

// HeldBy describes the situation in which another run holds the lock. Take
// returned the holder.
func HeldBy(holder string) string {
	return fmt.Sprintf("the test %q shows that another run uses the same rows (retry when it has ended)", holder)
}

// Abandoned describes the situation in which a run was killed while it held the lock.
func Abandoned(by Stale) string {
	return fmt.Sprintf("the test %q shows that a run was killed (`outreach-conformance cleanup` moves accounts home)", by.Name)
}

// KeepAlive renews the lock before it counts as left by a killed run, until
// stop is called.
func (l *Lock) KeepAlive(ctx context.Context) (stop func()) { return l.keepAlive(ctx, renewEvery) }

func (l *Lock) keepAlive(ctx context.Context, every time.Duration) (stop func()) {
	if client.Replayed(ctx) {
		return func() {}
	}
	whole := client.From(context.WithoutCancel(ctx), client.Renewal) // an interrupted renewal would leave a test behind
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
	_ = l.remove(ctx, old) // if this fails, the journal still lists the old test
}

// show creates the test unless it exists, and reports whether it exists now.
func (l *Lock) show(ctx context.Context) (shown bool, err error) {
	if l.test.id != "" { // an earlier attempt failed later on
		return true, nil
	}
	if l.tests == nil {
		l.tests = owned.New(l.send, l.Profile, l.key())
		l.Run = cmp.Or(l.Run, journal.NewRun().ID)
		l.Name = cmp.Or(l.Name, NameFor(l.Run))
		l.own = owned.Name(l.Name+" ", l.Run)
	}
	if err := l.tests.LookBefore(ctx, nil); err != nil {
		return false, err
	}
	if l.lost {
		return l.resume(ctx)
	}
	return l.create(ctx)
}

// create creates the test.
func (l *Lock) create(ctx context.Context) (shown bool, err error) {
	if _, err := l.Journal.Open(journal.Entry{Do: journal.Create, Key: l.key().Name,
		Home: l.Profile.Workspaces[dataset.Main].ID, After: l.tests.NewestBefore()}); err != nil {
		return false, err
	}
	body, err := json.Marshal(fixtures.PlacementTest(rand.New(rand.NewPCG(1, 0)), l.own))
	if err != nil {
		return false, err
	}
	ex := l.send(ctx, l.request(spec.CreatePlacementTest, "", nil, body))
	if l.first.IsZero() && !ex.Sent.IsZero() {
		l.first = owned.At(ex)
	}
	switch {
	case ex.Err != nil:
		l.lost = !ex.Sent.IsZero()
		return false, ex.Err
	case ex.Status/100 != 2 && ex.Status < http.StatusInternalServerError:
		return false, nil
	}
	row := owned.Row(ex)
	if id, _ := row["id"].(string); id != "" {
		l.tests.Received(id, owned.Creation{Mark: l.mark(), At: owned.At(ex)})
	}
	return l.find(ctx, row, owned.At(ex))
}

// resume finds the test of a creation without a response, or creates it again.
func (l *Lock) resume(ctx context.Context) (shown bool, err error) {
	if shown, err = l.find(ctx, nil, time.Now()); err == nil && !shown {
		shown, err = l.create(ctx)
	}
	l.lost = l.lost && err != nil
	return shown, err
}

// find looks for the test that was created: by the id in the response and, if that is
// not the run's own test, by its name. It waits until the target shows the test.
func (l *Lock) find(ctx context.Context, made map[string]any, at time.Time) (shown bool, err error) {
	var row map[string]any
	err = visible.Within(ctx, l.Profile.Visibility(), func(last bool) (done bool, err error) {
		row, err = l.proven(ctx, made, at)
		if isNoPage(err) && !last {
			return false, nil
		}
		return err != nil || row != nil, err
	})
	switch {
	case isNoPage(err):
		l.lost = true // Release looks again
		return false, nil
	case err != nil:
		l.lost = true
		return false, err
	case row == nil:
		return false, nil
	}
	l.test = shownBy(row)
	l.clock = l.test
	return true, nil
}

// isNoPage reports whether the target answered a request for a page with something else.
func isNoPage(err error) bool {
	var noPage *paging.NoPageError
	return errors.As(err, &noPage)
}

// proven returns the row of the run's own test; nil if the target shows none.
func (l *Lock) proven(ctx context.Context, made map[string]any, at time.Time) (map[string]any, error) {
	if id, _ := made["id"].(string); id != "" {
		proof, err := l.tests.Prove(ctx, id)
		if err != nil || proof.State == owned.Own {
			return made, err
		}
	}
	rows, err := l.tests.Newest(ctx)
	if err != nil {
		return nil, err
	}
	for _, row := range rows {
		if l.mark().On(row.Value) && row.Key != paging.FoldID(l.test.id) &&
			l.tests.Excluded(row.Key, owned.Creation{Mark: l.mark(), At: at}) == "" {
			return row.Value, nil
		}
	}
	return nil, nil
}

// shownBy returns the test that a row shows.
func shownBy(row map[string]any) (t test) {
	t.id, _ = row["id"].(string)
	created, _ := row["timestamp_created"].(string)
	t.created, _ = time.Parse(time.RFC3339Nano, created)
	t.shown = time.Now()
	return t
}

// Release gives the lock up, if the run may have created its test.
func (l *Lock) Release(ctx context.Context) error {
	permit := l.Permit
	l.Permit = nil // rolling back needs no permission
	defer func() { l.Permit = permit }()
	ctx = client.From(ctx, client.Renewal) // which test is left depends on how often the lock was renewed
	if l.first.IsZero() || client.Replayed(ctx) {
		return nil
	}
	err := l.withdraw(ctx)
	_ = visible.Within(ctx, l.Profile.Visibility(), func(bool) (settled bool, _ error) {
		rows, unread := l.tests.Newest(ctx)
		if unread != nil && l.lost {
			err = errors.Join(err, fmt.Errorf(notReleased, "the lock's test could not be searched for", unread))
		}
		settled = unread != nil || !l.lost
		for _, row := range rows { // the creation may have been repeated on its way
			if l.mark().On(row.Value) && l.tests.Excluded(row.Key, owned.Creation{Mark: l.mark(), At: l.first}) == "" {
				err = errors.Join(err, l.remove(ctx, shownBy(row.Value)))
				settled = true
			}
		}
		return settled, nil
	})
	l.lost = l.lost && err != nil
	return err
}

// withdraw deletes the test.
func (l *Lock) withdraw(ctx context.Context) error {
	if l.test.id == "" {
		return nil
	}
	if err := l.remove(ctx, l.test); err != nil {
		return err
	}
	l.test = test{}
	return nil
}

const notReleased = "rollback failed: %s: %w (`outreach-conformance cleanup` tries again)"

func (l *Lock) remove(ctx context.Context, t test) error {
	ex := l.Send(ctx, l.request(spec.DeletePlacementTest, t.id, nil, nil))
	switch {
	case ex.Err != nil:
		return fmt.Errorf(notReleased, spec.DeletePlacementTest+" had no response", ex.Err)
	case ex.Status != http.StatusOK && ex.Status != http.StatusNotFound:
		return fmt.Errorf(notReleased, spec.DeletePlacementTest, errors.New(redact.Process.Text(judge.DescribeStatus(ex))))
	}
	return nil
}

func (l *Lock) mark() owned.Mark { return owned.Mark{Name: l.own} }

// ours reports whether a process of this run created the test. The target may have
// changed the name.
func (l *Lock) ours(id, name string) bool {
	return l.Name != "" && (name == l.Name || strings.HasPrefix(name, l.Name+" ")) || l.test.id != "" && strings.EqualFold(id, l.test.id)
}

// send sends a request if Permit allows it; the exchange's error is Permit's otherwise.
func (l *Lock) send(ctx context.Context, r client.Request) client.Exchange {
	if l.Permit != nil {
		if err := l.Permit(); err != nil {
			return client.Exchange{Request: r, Err: err}
		}
	}
	return l.Send(ctx, r)
}

func (l *Lock) request(operation, id string, query url.Values, body []byte) client.Request {
	op := spec.MustOperation(operation)
	return client.Request{Operation: op.ID, Method: op.Method, Path: op.URLPath(id), Query: query, Body: body, Key: l.key(), Settle: op.Unsafe(),
		// A test may be gone, and the target may not serve the operation.
		Allowed: client.Only(http.StatusOK, http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusNotImplemented)}
}

func (l *Lock) key() client.Key {
	key, _ := l.Profile.FullKey(dataset.Main)
	return key.ForClient()
}
