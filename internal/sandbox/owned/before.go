package owned

import (
	"cmp"
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
	"outreach.example/conformance/internal/sandbox/journal"
	"outreach.example/conformance/spec"
)

const (
	pageSize = 100
	// pagesBefore bounds the look before the first creation.
	pagesBefore = 10
	// pagesNewest bounds a look for the tests of the run.
	pagesNewest = 200
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
}

// allows reports whether the id cannot have existed before. at is the time of the creation
// that received it, and youngest is the least age of an id that a creation received, if any did: the
// target's clock may be behind. An id that is older than a listed one has no such excuse.
func (b *before) allows(id string, at time.Time, youngest *time.Duration) bool {
	switch {
	case b == nil || b.ids[paging.FoldID(id)] || !Sound(id):
		return false
	case b.complete:
		made, tells := issued(id)
		if _, known := issued(b.newest); youngest != nil && (!known || Newer(id, b.newest)) {
			at = at.Add(-*youngest)
		}
		return !tells || at.Sub(made) <= mostAge // else the list had left it out
	case b.sorted && b.newest != "":
		return Newer(id, b.newest)
	}
	made, tells := issued(id)
	return tells && made.Sub(at).Abs() <= clockSkew
}

// tokenID is the form of an id that is no UUID.
var tokenID = regexp.MustCompile(`^[A-Za-z0-9_-]{1,128}$`)

// Sound reports whether the id is in the only spelling that it has. A target may show an
// older test under another spelling of its id, such as one without dashes.
func Sound(id string) bool {
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
	if t.looked() {
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
		}, paging.Fixed(pageSize), pagesBefore)
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

func (t *Tests) looked() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.before != nil
}

func (b *before) add(w paging.Walk) {
	last := ""
	for _, row := range w.Rows() {
		b.sorted = b.sorted && (last == "" || Newer(last, row.Key))
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
	t.mu.Lock()
	defer t.mu.Unlock()
	shown := maps.Clone(t.before.runs)
	noteRuns(shown, rows)
	for _, other := range slices.Sorted(maps.Keys(shown)) {
		if other != bare(run) && !journal.OneRun(run, other) && !slices.ContainsFunc(ended, func(id string) bool { return bare(id) == other }) {
			return shown[other], nil
		}
	}
	return "", nil
}

// noteRuns notes the first test of each run among the rows.
func noteRuns(runs map[string]string, rows []paging.Row) {
	for _, row := range rows {
		if m := MarkOf(row.Value); m != (Mark{}) && runs[RunIn(m.Text())] == "" {
			runs[RunIn(m.Text())] = "the test " + m.Text()
		}
	}
}

// NewestBefore returns the newest id that existed before the first creation. It is
// empty if the ids cannot tell.
func (t *Tests) NewestBefore() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.before == nil || !t.before.sorted {
		return ""
	}
	if _, ok := issued(t.before.newest); !ok {
		return ""
	}
	return t.before.newest
}

// Newest returns the tests that were created since the look before the first
// creation, and perhaps older ones. The error is that of the list, or says that the
// list does not end.
func (t *Tests) Newest(ctx context.Context) ([]paging.Row, error) {
	if !t.profile.Implements(spec.ListPlacementTests) {
		return nil, nil
	}
	fetch, until := t.list(), t.NewestBefore()
	return paging.All(ctx, func(ctx context.Context, cursor string, limit int) (paging.Page, error) {
		page, err := fetch(ctx, cursor, limit)
		if n := len(page.Rows); err == nil && n > 0 && until != "" && descends(page.Rows) && !Newer(page.Rows[n-1].Key, until) {
			page.Cursor = "" // all further rows existed before
		}
		return page, err
	}, pageSize, pagesNewest)
}

// descends reports whether the rows run from the newest to older ones.
func descends(rows []paging.Row) bool {
	for i := 1; i < len(rows); i++ {
		if !Newer(rows[i-1].Key, rows[i].Key) {
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

// ByMark returns the ids of the rows that show a mark, by the mark's text.
func ByMark(rows []paging.Row, marks map[Mark]bool) map[string][]string {
	drawn := map[string]string{}
	for m := range marks {
		drawn[m.Name], drawn[m.Subject] = m.Text(), m.Text()
	}
	delete(drawn, "")
	found := map[string][]string{}
	for _, row := range rows {
		shown := MarkOf(row.Value)
		text := cmp.Or(drawn[shown.Name], drawn[shown.Subject])
		if id, ok := row.Value["id"].(string); ok && text != "" {
			found[text] = append(found[text], id)
		}
	}
	return found
}
