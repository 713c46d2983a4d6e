package sandbox

import (
	"context"
	"errors"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/internal/client"
	"outreach.example/conformance/internal/paging"

	"outreach.example/conformance/spec"
)

const (
	// pagesBefore bounds the look before the first creation.
	pagesBefore = 10
	// pagesNewest bounds a look for the tests of the run, and pagesLeft one for those that an
	// earlier run has left.
	pagesNewest, pagesLeft = 200, 5000
	// clockSkew is how far the time in an id may be from that of the response to the
	// creation, if no list showed which ids existed before.
	clockSkew = time.Minute
	// mostAge is by how much an id may be older than others that creations received, if a
	// list showed that the id did not exist before.
	mostAge = time.Hour
)

// before is what was listed before the first creation. A nil before allows nothing.
type before struct {
	ids      map[string]bool
	complete bool // the list was read to its end
	sorted   bool // the ids are of version 7 and run from the newest to older ones
	newest   string
	runs     map[string]string // the first test of each run that drew a name, by the run's id
	earlier  bool              // an earlier run has created the tests: no more is known than its newest
}

// allows reports whether the id cannot have existed before. at is the time of the creation
// that received it, and youngest is the least age of an id that a creation received, if any did: the
// target's clock may be behind. An id that is older than a listed one has no such excuse.
func (b *before) allows(id string, at time.Time, youngest *time.Duration) bool {
	if b == nil || b.ids[paging.FoldID(id)] || !sound(id) {
		return false
	}
	made, tells := issued(id)
	switch {
	case b.complete:
		if _, known := issued(b.newest); youngest != nil && (!known || newer(id, b.newest)) {
			at = at.Add(-*youngest)
		}
		return !tells || at.Sub(made) <= mostAge // else the list had left it out
	case b.sorted && b.newest != "":
		return newer(id, b.newest)
	}
	return tells && made.Sub(at).Abs() <= clockSkew
}

// tokenID is the form of an id that is no UUID.
var tokenID = regexp.MustCompile(`^[A-Za-z0-9_-]{1,128}$`)

// sound reports whether the id is in the only spelling that it has. A target may show an
// older test under another spelling of its id, such as one without dashes.
func sound(id string) bool {
	if uuid.Validate(id) == nil {
		return len(id) == len(uuid.Nil.String())
	}
	return tokenID.MatchString(id) && uuid.Validate(strings.ReplaceAll(id, "-", "")) != nil
}

// LookBefore reads the list, once, before the first creation: at most 10 pages, the
// newest tests first. A target that shows no list leaves the times in the ids to
// decide. permit is called before each request, and its error is returned; nil permits
// all. Any other error means that a response is missing.
func (t *Tests) LookBefore(ctx context.Context, permit func() error) error {
	t.looking.Lock()
	defer t.looking.Unlock()
	if t.sawBefore() != nil {
		return nil
	}
	ctx = client.From(ctx, "the tests before the first one of "+t.key.Name)
	seen := &before{ids: map[string]bool{}, sorted: true, runs: map[string]string{}}
	if t.profile.Implements(spec.ListPlacementTests) {
		fetch := t.list()
		w := paging.Run(ctx, func(ctx context.Context, cursor string, limit int) (paging.Page, error) {
			if permit != nil {
				if err := permit(); err != nil {
					return paging.Page{}, err
				}
			}
			return fetch(ctx, cursor, limit)
		}, paging.Fixed(spec.MaxLimit), pagesBefore)
		var noPage *paging.NoPageError
		if w.Err != nil && !errors.As(w.Err, &noPage) {
			return w.Err
		}
		seen.add(w)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.before = seen
	return nil
}

// lookAfter is LookBefore for the tests of an earlier run. newest is the id of the newest
// test before its first one; empty if unknown.
func (t *Tests) lookAfter(newest string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.before = &before{newest: newest, sorted: newest != "", earlier: true}
}

func (t *Tests) sawBefore() *before {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.before
}

func (b *before) add(w paging.Walk) {
	last := ""
	for _, row := range w.Rows() {
		b.sorted = b.sorted && (last == "" || newer(last, row.Key))
		b.ids[row.Key] = true
		b.newest = max(b.newest, row.Key)
		last = row.Key
	}
	noteRuns(b.runs, w.Rows())
	b.complete = w.Complete()
}

// Foreign returns which test of another run the target shows: before the first creation, or
// now, if that run began at the same time. It is empty if there is none. ended are the ids of
// runs that have ended. permit is as in LookBefore.
func (t *Tests) Foreign(ctx context.Context, run string, ended []string, permit func() error) (string, error) {
	if err := t.LookBefore(ctx, permit); err != nil {
		return "", err
	}
	rows, err := t.Newest(client.From(ctx, "the tests of other runs, with "+t.key.Name))
	var noPage *paging.NoPageError
	if err != nil && !errors.As(err, &noPage) {
		return "", err
	}
	shown := maps.Clone(t.sawBefore().runs)
	noteRuns(shown, rows)
	for _, other := range slices.Sorted(maps.Keys(shown)) {
		if other != bare(run) && !oneRun(run, other) && !slices.ContainsFunc(ended, func(id string) bool { return bare(id) == other }) {
			return shown[other], nil
		}
	}
	return "", nil
}

// noteRuns notes the first test of each run among the rows.
func noteRuns(runs map[string]string, rows []paging.Row) {
	for _, row := range rows {
		if text := MarkOf(row.Value).Text(); text != "" && runs[runIn(text)] == "" {
			runs[runIn(text)] = "the test " + text
		}
	}
}

// NewestBefore returns the newest id that existed before the first creation. It is
// empty if the ids cannot tell.
func (t *Tests) NewestBefore() string {
	b := t.sawBefore()
	if b == nil || !b.sorted {
		return ""
	}
	if _, ok := issued(b.newest); !ok {
		return ""
	}
	return b.newest
}

// Newest returns the tests that were created since the look before the first
// creation, and perhaps older ones. The error is that of the list, or says that the
// list does not end.
func (t *Tests) Newest(ctx context.Context) ([]paging.Row, error) {
	if !t.profile.Implements(spec.ListPlacementTests) {
		return nil, nil
	}
	fetch, until, most := t.list(), t.NewestBefore(), pagesNewest
	if b := t.sawBefore(); b != nil && b.earlier {
		most = pagesLeft
	}
	return paging.All(ctx, func(ctx context.Context, cursor string, limit int) (paging.Page, error) {
		page, err := fetch(ctx, cursor, limit)
		if n := len(page.Rows); err == nil && n > 0 && until != "" && descends(page.Rows) && !newer(page.Rows[n-1].Key, until) {
			page.Cursor = "" // all further rows existed before
		}
		return page, err
	}, spec.MaxLimit, most)
}

// descends reports whether the rows run from the newest to older ones.
func descends(rows []paging.Row) bool {
	for i := 1; i < len(rows); i++ {
		if !newer(rows[i-1].Key, rows[i].Key) {
			return false
		}
	}
	return len(rows) > 1
}

// list returns what reads the list, the newest tests first.
func (t *Tests) list() paging.Fetch {
	op := spec.MustOperation(spec.ListPlacementTests)
	return paging.List(t.send, client.Request{Operation: op.ID, Method: op.Method, Path: op.Path, Key: t.key, Allowed: readable,
		Query: url.Values{profile.ParamSortOrder: {"desc"}}}, profile.ParamStartingAfter)
}

// Listed is a test that the list shows with a text that the run has drawn.
type Listed struct {
	ID, Text string
	Foreign  string // why it may not be the run's own nevertheless; empty if it is
}

// ofRun returns the listed tests of the run. Their age is by the target's own clock, which may
// differ from ours: the newest of all rows shows it.
func (t *Tests) ofRun(ctx context.Context, run string) (all []Listed, err error) {
	rows, err := t.Newest(ctx)
	if err != nil {
		return nil, err
	}
	var newest time.Time
	for _, row := range rows {
		if made := created(row.Value); made.After(newest) {
			newest = made
		}
	}
	began, known := issued(run)
	b, until := t.sawBefore(), t.NewestBefore()
	for _, row := range rows {
		text := MarkOf(row.Value).Text()
		if text == "" || runIn(text) != bare(run) {
			continue
		}
		one := Listed{Text: text}
		one.ID, _ = row.Value["id"].(string)
		switch {
		case t.isDisputed(one.ID):
			one.Foreign = disputed
		case !known, b == nil, b.ids[row.Key], !sound(one.ID), !b.complete && until != "" && !newer(one.ID, until),
			newest.Sub(created(row.Value)) > time.Since(began)+mostAge:
			one.Foreign = older
		}
		all = append(all, one)
	}
	return all, nil
}

func (t *Tests) isDisputed(id string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	known := t.received[paging.FoldID(id)]
	return known != nil && known.disputed
}

// created returns when the row was created, by the target's clock; zero if it does not tell.
func created(row map[string]any) time.Time {
	text, _ := row["timestamp_created"].(string)
	at, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		id, _ := row["id"].(string)
		at, _ = issued(id)
	}
	return at
}
