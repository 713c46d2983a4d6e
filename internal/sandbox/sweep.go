package sandbox

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/internal/client"
	"outreach.example/conformance/internal/judge"
	"outreach.example/conformance/internal/paging"
	"outreach.example/conformance/internal/redact"

	"outreach.example/conformance/reports"
	"outreach.example/conformance/spec"
)

// sweeper deletes the tests of a run that a list still shows, whatever the responses to their
// creation said: at the end of the run, and after it was killed.
type sweeper struct {
	tests    *Tests
	run      string
	within   time.Duration // for how long it looks again for tests that show, or go, late
	parallel int           // deletions at the same time; -1 for no bound
	// delete deletes one of so many tests and returns why it may exist still.
	delete  func(ctx context.Context, t Listed, left int) (why string)
	gone    func(id string) bool             // the target has confirmed the deletion
	waits   func(shown map[string]bool) bool // for tests that the list has not shown
	shown   map[string]bool                  // texts of the tests that the list has shown
	deleted map[string]bool                  // ids of those that are deleted
}

// remains is a test that is left.
type remains struct {
	Listed
	why   string
	again bool // a further attempt may help
}

// sweep looks until the list shows no test of the run.
func (s *sweeper) sweep(ctx context.Context) (left []remains, err error) {
	s.shown, s.deleted = map[string]bool{}, map[string]bool{}
	err = client.Within(ctx, s.within, func(bool) (settled bool, err error) {
		left, settled, err = s.look(ctx)
		return err != nil || settled && !s.waits(s.shown), err
	})
	return left, err
}

// look deletes the listed tests that are the run's own. It reports whether another look would
// show the same.
func (s *sweeper) look(ctx context.Context) (left []remains, settled bool, err error) {
	listed, err := s.tests.ofRun(ctx, s.run)
	if err != nil {
		return nil, false, err
	}
	whys, settled := make([]remains, len(listed)), true
	var deleting errgroup.Group
	deleting.SetLimit(s.parallel)
	for i, t := range listed {
		s.shown[t.Text] = true
		whys[i].Listed = t
		switch {
		case t.Foreign != "":
			whys[i].why = t.Foreign
		case s.deleted[t.ID], s.gone(t.ID):
			whys[i].why, whys[i].again, settled = "the target lists it after it answered its deletion with 200", true, false
		default:
			settled = false
			deleting.Go(func() error {
				whys[i].why, whys[i].again = s.delete(ctx, t, len(listed)-i), true
				return nil
			})
		}
	}
	_ = deleting.Wait()
	for _, r := range whys {
		s.deleted[r.ID] = s.deleted[r.ID] || r.why == ""
	}
	return slices.DeleteFunc(whys, func(r remains) bool { return r.why == "" }), settled, nil
}

// deleteTest deletes a test that a view showed. It tries twice. why says why the test may exist
// still; it is empty if it does not.
func deleteTest(ctx context.Context, send paging.Sender, p *profile.Profile, key client.Key, id string) (why string) {
	for range 2 {
		_, why = reverse(ctx, send, p, Change{Operation: spec.MustOperation(spec.DeletePlacementTest), ID: id, Key: key})
		if why == "" {
			break
		}
	}
	return why
}

// unreadable returns the error of a list that could not be read, without any key.
func unreadable(err error) error {
	var noPage *paging.NoPageError
	if errors.As(err, &noPage) {
		return fmt.Errorf("the list of tests could not be read: %s", redact.Process.Text(judge.DescribeStatus(noPage.Exchange)))
	}
	return err
}

// Close rolls back what the run has left so far.
func (s *Sandbox) Close(ctx context.Context) {
	rollback, cancel := ForRollback(ctx)
	defer cancel()
	within := s.Profile.Visibility()
	if ctx.Err() != nil { // a user waits
		within = 0
	}
	s.tests.mu.Lock()
	byRole := maps.Clone(s.tests.byRole)
	s.tests.mu.Unlock()
	again := false
	for _, role := range slices.Sorted(maps.Keys(byRole)) {
		again = s.closeOne(rollback, byRole[role], within) || again
	}
	if again {
		return
	}
	if err := s.Journal.nothingCreated(); err != nil {
		s.Trouble(reports.Rollback, err.Error())
	}
}

// closeOne deletes what the run has left in a workspace, and reports what remains. again reports
// whether cleanup may find more.
func (s *Sandbox) closeOne(ctx context.Context, w *workspace, within time.Duration) (again bool) {
	if !s.mayHold(w) {
		return false
	}
	sweep := sweeper{tests: w.Tests, run: s.Run, within: within, parallel: -1, gone: s.gone,
		delete: func(ctx context.Context, t Listed, _ int) string {
			why := s.delete(ctx, w, t.ID)
			if why == "" {
				s.settle(func(cr *creation) bool { // several may have the name
					return cr.in == w && (paging.FoldID(cr.id) == paging.FoldID(t.ID) || cr.id == "" && cr.mark.Text() == t.Text)
				})
			}
			return why
		},
		waits: func(shown map[string]bool) bool {
			return slices.ContainsFunc(s.pending(w, served, unknown), func(cr *creation) bool { return !shown[cr.mark.Text()] })
		}}
	var left []remains
	err := errors.New("the target profile excludes " + spec.ListPlacementTests)
	if s.Profile.Implements(spec.ListPlacementTests) {
		left, err = sweep.sweep(ctx)
	}
	names, hopeful := map[string][]string{}, map[string]bool{}
	report := func(name, why string, more bool) {
		names[why] = append(names[why], name)
		hopeful[why], again = more, again || more
	}
	for _, r := range left {
		report(r.Text, r.why, r.again)
	}
	for _, cr := range s.pending(w, served, unknown) {
		switch {
		case err != nil:
			report(cr.name(), unreadable(err).Error(), true)
		case sweep.shown[cr.mark.Text()]:
		case cr.fate == unknown:
			again = true
		case !cr.asked && w.Excluded(cr.id, Creation{Mark: cr.mark, At: cr.at}) == "": // else the target created none
			report(cr.name(), "the target said that it created them, but no list and no get shows them", true)
		}
	}
	for _, why := range slices.Sorted(maps.Keys(names)) {
		hint := ""
		if hopeful[why] {
			hint = " (`outreach-conformance cleanup` tries again)"
		}
		s.Trouble(reports.Rollback, fmt.Sprintf("%s may be left on the target: %s%s", theTests(names[why]), why, hint))
	}
	return again
}

// mayHold reports whether the run may have created tests in the workspace.
func (s *Sandbox) mayHold(w *workspace) bool {
	s.tests.mu.Lock()
	defer s.tests.mu.Unlock()
	return w.used
}

// pending returns copies of the creations in a workspace that have one of the fates. One that
// shares its id with a deleted test is settled.
func (s *Sandbox) pending(w *workspace, fates ...fate) (all []*creation) {
	s.tests.mu.Lock()
	defer s.tests.mu.Unlock()
	for _, cr := range w.creations {
		first := s.tests.received[paging.FoldID(cr.id)]
		if slices.Contains(fates, cr.fate) && (first == nil || first.fate != rolledBack) {
			known := *cr
			all = append(all, &known)
		}
	}
	return all
}

// theTests names the tests, the first few of many.
func theTests(names []string) string {
	const most = 3
	slices.Sort(names)
	if names = slices.Compact(names); len(names) == 1 {
		return "the test " + names[0]
	}
	text := "the tests " + strings.Join(names[:min(most, len(names))], ", ")
	if more := len(names) - most; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}
