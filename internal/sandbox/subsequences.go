package sandbox

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/internal/paging"
)

// subsequences are those that the profile allows the run to delete. Each is
// handed out once. One that was not deleted is given back.
type subsequences struct {
	mu    sync.Mutex
	known bool     // free is filled
	free  []string // the richest first
}

// forget makes the next TakeSubsequence look again which ones exist.
func (q *subsequences) forget() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.known, q.free = false, nil
}

// TakeSubsequence returns a subsequence of the main workspace that the profile
// allows the run to delete and that still exists. It takes the run's lock. The
// error is *Denied if there is none left. list reads all subsequences of the main
// workspace; it is called at most once, and its error is returned. The Richest stay as long
// as there are others.
func (s *Sandbox) TakeSubsequence(ctx context.Context, list func() ([]paging.Row, error)) (id string, err error) {
	return s.take(ctx, Richest, list)
}

// TakeRichest is TakeSubsequence for one of the Richest, if one is left.
func (s *Sandbox) TakeRichest(ctx context.Context, list func() ([]paging.Row, error)) (id string, err error) {
	return s.take(ctx, 0, list)
}

// take takes the free subsequence at the position, or the last one before it.
func (s *Sandbox) take(ctx context.Context, at int, list func() ([]paging.Row, error)) (id string, err error) {
	if err := s.Lock(ctx); err != nil {
		return "", err
	}
	s.subsequences.mu.Lock()
	defer s.subsequences.mu.Unlock()
	if err := s.findSubsequences(list); err != nil {
		return "", err
	}
	free := s.subsequences.free
	if len(free) == 0 {
		return "", denied("the entry workspaces.%s.expendable_subsequences (one that still exists)", dataset.Main)
	}
	at = min(at, len(free)-1)
	id = free[at]
	s.subsequences.free = slices.Delete(free, at, at+1)
	return id, nil
}

// GiveBack returns subsequences that were not deleted.
func (s *Sandbox) GiveBack(ids ...string) {
	s.subsequences.mu.Lock()
	defer s.subsequences.mu.Unlock()
	s.subsequences.free = append(s.subsequences.free, ids...)
}

// plenty is more subsequences than the run's other specs need.
const plenty = 16

// TakeNeighbours takes the next older and the next younger of the free
// subsequences behind the Richest, if there are plenty. The caller gives them back.
func (s *Sandbox) TakeNeighbours(id string) []string {
	s.subsequences.mu.Lock()
	defer s.subsequences.mu.Unlock()
	free := s.subsequences.free
	if len(free) < plenty {
		return nil
	}
	older := func(a, b string) int { return strings.Compare(paging.FoldID(a), paging.FoldID(b)) }
	sorted := slices.SortedFunc(slices.Values(free[Richest:]), older)
	i, _ := slices.BinarySearchFunc(sorted, id, older)
	beside := sorted[max(0, i-1):min(i+1, len(sorted))]
	s.subsequences.free = slices.DeleteFunc(free, func(id string) bool { return slices.Contains(beside, id) })
	return beside
}

// findSubsequences looks once which of the profile's subsequences exist. The
// caller holds the mutex.
func (s *Sandbox) findSubsequences(list func() ([]paging.Row, error)) error {
	if s.subsequences.known {
		return nil
	}
	free := slices.Clone(s.Profile.Workspaces[dataset.Main].ExpendableSubsequences)
	// A stateless target lists an example, and deletes nothing.
	if !s.Profile.Stateless && len(free) > 0 {
		rows, err := list()
		if err != nil {
			return err
		}
		exists := map[string]map[string]any{}
		for _, row := range rows {
			exists[row.Key] = row.Value
		}
		free = slices.DeleteFunc(free, func(id string) bool { return exists[paging.FoldID(id)] == nil })
		richestFirst(free, func(id string) map[string]any { return exists[paging.FoldID(id)] })
	}
	s.subsequences.known, s.subsequences.free = true, free
	return nil
}

// Richest is how many of the subsequences together show the most different fields. They are
// kept for the spec that must show each field: what others delete depends on the timing.
const Richest = 2

// richestFirst moves those ids to the front whose rows together show the most
// different fields, so that deleting them shows as much as possible.
func richestFirst(ids []string, row func(id string) map[string]any) {
	shown := map[string]bool{}
	for front := range min(Richest, len(ids)) {
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
