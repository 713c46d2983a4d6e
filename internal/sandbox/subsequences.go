package sandbox

import (
	"context"
	"fmt"
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
	known bool     // ids is filled
	ids   []string // the richest first
	taken map[string]bool
}

// Share is the part of the subsequences that a spec may take, as positions: what it gets must
// not depend on how fast the others are. The first positions are those of the Richest. Of is
// how many positions belong to specs.
type Share struct{ From, To, Of int }

// TakeSubsequence returns a subsequence of the main workspace that the profile
// allows the run to delete and that still exists. The error is *Denied if there is none left
// for the share, or if another run may use them. list reads all subsequences of the main
// workspace; it is called at most once, and its error is returned.
func (s *Sandbox) TakeSubsequence(ctx context.Context, share Share, list func() ([]paging.Row, error)) (id string, err error) {
	if err := s.Alone(ctx); err != nil {
		return "", err
	}
	q := &s.subsequences
	q.mu.Lock()
	defer q.mu.Unlock()
	if err := s.findSubsequences(share.Of, list); err != nil {
		return "", err
	}
	// A spec that looks again at what it found takes some that belong to no spec.
	n := len(q.ids)
	for _, id := range slices.Concat(q.ids[min(share.From, n):min(share.To, n)], q.ids[min(share.Of, n):]) {
		if !q.taken[id] {
			q.taken[id] = true
			return id, nil
		}
	}
	return "", denied("%s", LacksSubsequence(dataset.Main))
}

// LacksSubsequence names the input that is missing if the role's workspace has no subsequence to
// take.
func LacksSubsequence(role string) string {
	return fmt.Sprintf("the entry workspaces.%s.expendable_subsequences (one that still exists)", role)
}

// GiveBack returns subsequences that were not deleted.
func (s *Sandbox) GiveBack(ids ...string) {
	s.subsequences.mu.Lock()
	defer s.subsequences.mu.Unlock()
	for _, id := range ids {
		delete(s.subsequences.taken, id)
	}
}

// TakeNeighbours takes the next older and the next younger of the subsequences that belong to
// no spec. The caller gives them back.
func (s *Sandbox) TakeNeighbours(id string, share Share) []string {
	q := &s.subsequences
	q.mu.Lock()
	defer q.mu.Unlock()
	left := slices.DeleteFunc(slices.Clone(q.ids[min(share.Of, len(q.ids)):]), func(id string) bool { return q.taken[id] })
	slices.SortFunc(left, olderFirst)
	i, _ := slices.BinarySearchFunc(left, id, olderFirst)
	beside := left[max(0, i-1):min(i+1, len(left))]
	for _, id := range beside {
		q.taken[id] = true
	}
	return beside
}

func olderFirst(a, b string) int { return strings.Compare(paging.FoldID(a), paging.FoldID(b)) }

// findSubsequences looks once which of the profile's subsequences exist. of is how
// many positions belong to specs. The caller holds the mutex.
func (s *Sandbox) findSubsequences(of int, list func() ([]paging.Row, error)) error {
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
	s.subsequences.known, s.subsequences.ids = true, apart(free, of)
	if s.subsequences.taken == nil { // specs keep what they have when the run looks again
		s.subsequences.taken = map[string]bool{}
	}
	return nil
}

// apart orders the ids, of which the Richest come first. of is how many positions belong to
// specs. If there are plenty, no two of the others that belong to specs are neighbours.
func apart(ids []string, of int) []string {
	const distance = 3
	others := ids[min(Richest, len(ids)):]
	if of <= Richest || len(others) < distance*(of-Richest) {
		return ids
	}
	slices.SortFunc(others, olderFirst)
	var specs, left []string
	for i, id := range others {
		if i%distance == 1 && len(specs) < of-Richest {
			specs = append(specs, id)
		} else {
			left = append(left, id)
		}
	}
	copy(others, append(specs, left...))
	return ids
}

// Richest is how many of the subsequences together show the most different fields. They are
// for the spec that must show each field.
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
