package sandbox

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"outreach.example/conformance/internal/paging"
	"outreach.example/conformance/internal/redact"
	"outreach.example/conformance/internal/sandbox/owned"
	"outreach.example/conformance/internal/visible"
	"outreach.example/conformance/reports"
	"outreach.example/conformance/spec"
)

// sweep looks at the end of the run for tests that the run created and that still
// exist, whatever the responses said. It deletes those that are the run's own and
// reports what remains. wait allows further looks for tests that show, or go, late. again
// reports whether cleanup may find more.
func (s *Sandbox) sweep(ctx context.Context, wait bool) (again bool) {
	s.tests.mu.Lock()
	byRole := maps.Clone(s.tests.byRole)
	s.tests.mu.Unlock()
	for _, role := range slices.Sorted(maps.Keys(byRole)) {
		w := byRole[role]
		if !w.mayHold() {
			continue
		}
		if !s.Profile.Implements(spec.ListPlacementTests) {
			again = s.unlisted(w, errors.New("the target profile excludes "+spec.ListPlacementTests)) || again
			continue
		}
		var found []*remains
		err := visible.Within(ctx, s.Profile.Visibility(), func(bool) (settled bool, err error) {
			found, err = s.look(ctx, w)
			return err != nil || !wait || !slices.ContainsFunc(found, (*remains).unsettled), err
		})
		if err != nil {
			again = s.unlisted(w, err) || again
			continue
		}
		again = s.conclude(w, found) || again
	}
	return again
}

// mayHold reports whether the run may have created tests in the workspace.
func (w *workspace) mayHold() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.ContainsFunc(w.creations, func(cr *creation) bool { return cr.fate != noTest })
}

// remains is what a look shows of the tests with one mark.
type remains struct {
	creations []*creation
	ids       []string
	why       string // they are left; empty if they are not
	again     bool   // a deletion may help later
	waits     bool   // for tests that are not shown yet
	lost      bool   // no view shows a test that the target said it created
}

func (r *remains) unsettled() bool { return r.waits || r.again || len(r.ids) > 0 && r.why == "" }

// look lists the newest tests and deletes those that the run created.
func (s *Sandbox) look(ctx context.Context, w *workspace) ([]*remains, error) {
	rows, err := w.Newest(ctx)
	var noPage *paging.NoPageError
	if errors.As(err, &noPage) {
		err = fmt.Errorf("the list of tests could not be read: %s", redact.Process.Text(noPage.Error()))
	}
	if err != nil {
		return nil, err
	}
	found, marks := w.byMark()
	var removing errgroup.Group // the client bounds how many requests are in flight
	for text, ids := range owned.ByMark(rows, marks) {
		r := found[text]
		r.ids = ids
		removing.Go(func() error { s.removeListed(ctx, w, r); return nil })
	}
	_ = removing.Wait()
	for _, r := range found {
		if len(r.ids) > 0 {
			continue
		}
		for _, cr := range r.creations {
			r.waits = r.waits || (cr.fate == served || cr.fate == unknown) && !w.isDeleted(cr.id)
			// The id of an older row means that the target created none.
			older := cr.id != "" && w.Excluded(cr.id, owned.Creation{Mark: cr.mark, At: cr.at}) != ""
			r.lost = r.lost || cr.fate == served && !older && !w.isAsked(cr.id)
		}
	}
	return slices.Collect(maps.Values(found)), nil
}

// byMark returns the creations, grouped by the text of their mark.
func (w *workspace) byMark() (map[string]*remains, map[owned.Mark]bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	all, marks := map[string]*remains{}, map[owned.Mark]bool{}
	for _, cr := range w.creations {
		text := cr.mark.Text()
		if all[text] == nil {
			all[text] = &remains{}
		}
		all[text].creations = append(all[text].creations, cr)
		marks[cr.mark] = true
	}
	return all, marks
}

// removeListed deletes the listed tests that are the run's own, or says why not.
func (s *Sandbox) removeListed(ctx context.Context, w *workspace, r *remains) {
	cr := r.creations[0]
	for _, id := range r.ids {
		excluded := w.Excluded(id, owned.Creation{Mark: cr.mark, At: cr.at})
		switch {
		case excluded != "":
			r.why = excluded
		case w.isDeleted(id):
			r.why, r.again = "the target lists it after it answered its deletion with 200", true
		default:
			if err := s.delete(ctx, cr.change.By, id, w); err != nil {
				r.why, r.again = err.Error(), true
				continue
			}
			for _, cr := range r.creations {
				w.rolledBack(cr)
			}
		}
	}
}

// unlisted reports tests that no list could show.
func (s *Sandbox) unlisted(w *workspace, err error) (again bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	var names []string
	for _, cr := range w.creations {
		if cr.fate == served || cr.fate == unknown {
			names = append(names, cr.name())
		}
	}
	s.left(names, err.Error(), true)
	return len(names) > 0
}

// conclude reports the tests that are left.
func (s *Sandbox) conclude(w *workspace, found []*remains) (again bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	left := map[string][]string{}
	hopeful := map[string]bool{}
	for _, r := range found {
		if r.lost {
			r.why, r.again = "the target said that it created them, but no list and no get shows them", true
		}
		if r.why != "" {
			left[r.why] = append(left[r.why], r.creations[0].name())
			hopeful[r.why] = r.again
		}
		again = again || r.again || r.why == "" && slices.ContainsFunc(r.creations, func(cr *creation) bool { return cr.fate == unknown })
	}
	for _, why := range slices.Sorted(maps.Keys(left)) {
		s.left(left[why], why, hopeful[why])
	}
	return again
}

// name returns the text that shows the test, or its id.
func (cr *creation) name() string { return cmp.Or(cr.mark.Text(), cr.id) }

// left reports tests that may be left on the target.
func (s *Sandbox) left(names []string, why string, again bool) {
	if len(names) == 0 {
		return
	}
	hint := ""
	if again {
		hint = " (`outreach-conformance cleanup` tries again)"
	}
	s.Trouble(reports.Rollback, fmt.Sprintf("%s may be left on the target: %s%s", theTests(names), why, hint))
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
