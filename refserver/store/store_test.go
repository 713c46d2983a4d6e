package store

import (
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"
)

func rowsOf(ids ...string) iter.Seq2[Row[int], error] {
	return func(yield func(Row[int], error) bool) {
		for i, id := range ids {
			if !yield(Row[int]{ID: id, Doc: []byte("doc " + id), Attrs: i}, nil) {
				return
			}
		}
	}
}

func numbered(n int) []string {
	ids := make([]string, n)
	for i := range ids {
		ids[i] = fmt.Sprintf("%08d", i*2)
	}
	return ids
}

func build(t testing.TB, ids ...string) *List[int] {
	t.Helper()
	list, err := Build(rowsOf(ids...))
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func ids(rows iter.Seq[*Row[int]]) []string {
	var got []string
	for row := range rows {
		got = append(got, row.ID)
	}
	return got
}

func TestBuildRefusesRowsThatAreOutOfOrder(t *testing.T) {
	for _, order := range [][]string{{"b", "a"}, {"a", "a"}, {""}} {
		if _, err := Build(rowsOf(order...)); err == nil {
			t.Errorf("Build(%q) took rows that do not ascend", order)
		}
	}
}

func TestBuildPassesOnAnErrorOfTheRows(t *testing.T) {
	broken := errors.New("broken")
	_, err := Build(func(yield func(Row[int], error) bool) { yield(Row[int]{}, broken) })
	if !errors.Is(err, broken) {
		t.Errorf("Build returned %v, want the rows' error", err)
	}
}

func TestDocumentsSurvivePacking(t *testing.T) {
	list := build(t, numbered(3*chunkRows+7)...)
	for row := range list.Snapshot().Ascend(Position{}) {
		if string(row.Doc) != "doc "+row.ID {
			t.Fatalf("row %s has document %q", row.ID, row.Doc)
		}
		if cap(row.Doc) != len(row.Doc) {
			t.Fatalf("row %s: an append to the document would write into its neighbour", row.ID)
		}
	}
}

func TestSeekAtTheEdges(t *testing.T) {
	empty := build(t)
	full := build(t, numbered(2*chunkRows)...).Snapshot()
	if empty.Snapshot().Seek(func(*Row[int]) bool { return true }) != empty.Snapshot().End() {
		t.Error("seeking in an empty list does not give its end")
	}
	if full.Seek(func(*Row[int]) bool { return true }) != full.Start() {
		t.Error("seeking the first row does not give the start")
	}
	if full.Seek(func(*Row[int]) bool { return false }) != full.End() {
		t.Error("seeking past the last row does not give the end")
	}
	if got := ids(full.Descend(full.Start())); got != nil {
		t.Errorf("there are rows %q before the start", got)
	}
	if got := ids(full.Ascend(full.End())); got != nil {
		t.Errorf("there are rows %q behind the end", got)
	}
}

func TestForkGoesItsOwnWay(t *testing.T) {
	seed := build(t, "a", "b", "c")
	fork := seed.Fork()
	fork.Delete("b")
	if _, ok := seed.Get("b"); !ok {
		t.Error("a deletion in the fork reached the list that it was made from")
	}
	if _, ok := fork.Get("b"); ok {
		t.Error("the fork still has the deleted row")
	}
}

func TestUpdateKeepsTheRowWhenTheChangeFails(t *testing.T) {
	list := build(t, "a")
	fault := errors.New("fault")
	if _, err := list.Update("a", func(r Row[int]) (Row[int], error) { r.Attrs = 9; return r, fault }); !errors.Is(err, fault) {
		t.Errorf("Update returned %v", err)
	}
	if row, _ := list.Get("a"); row.Attrs != 0 {
		t.Errorf("the row changed to %d in spite of the error", row.Attrs)
	}
	if _, err := list.Update("z", nil); !errors.Is(err, ErrNotFound) {
		t.Errorf("Update of a row that is not there returned %v", err)
	}
}

// TestAgainstMap does random writes on a list and on a map and compares them
// from random positions in both directions.
func TestAgainstMap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		first := numbered(rapid.SampledFrom([]int{0, 1, chunkRows - 1, chunkRows, 2*chunkRows + 3}).Draw(t, "first"))
		list, err := Build(rowsOf(first...))
		if err != nil {
			t.Fatal(err)
		}
		model := map[string]int{}
		for i, id := range first {
			model[id] = i
		}
		anyID := rapid.Custom(func(t *rapid.T) string { return fmt.Sprintf("%08d", rapid.IntRange(0, 1400).Draw(t, "id")) })
		for range rapid.IntRange(1, 120).Draw(t, "writes") {
			id, value := anyID.Draw(t, "id"), rapid.Int().Draw(t, "value")
			_, known := model[id]
			switch rapid.IntRange(0, 2).Draw(t, "write") {
			case 0:
				if list.Insert(Row[int]{ID: id, Attrs: value}) == known {
					t.Fatalf("Insert(%s) with known=%v", id, known)
				}
				if !known {
					model[id] = value
				}
			case 1:
				if _, ok := list.Delete(id); ok != known {
					t.Fatalf("Delete(%s) = %v with known=%v", id, ok, known)
				}
				delete(model, id)
			case 2:
				_, err := list.Update(id, func(r Row[int]) (Row[int], error) { r.Attrs = value; return r, nil })
				if (err == nil) != known {
					t.Fatalf("Update(%s) = %v with known=%v", id, err, known)
				}
				if known {
					model[id] = value
				}
			}
		}
		now, want := list.Snapshot(), slices.Sorted(maps.Keys(model))
		if now.Len() != len(want) {
			t.Fatalf("Len() = %d, want %d", now.Len(), len(want))
		}
		for _, id := range want {
			if row, ok := now.Get(id); !ok || row.Attrs != model[id] {
				t.Fatalf("Get(%s) = %v, %v; want %d", id, row.Attrs, ok, model[id])
			}
		}
		after := anyID.Draw(t, "after")
		at := now.Seek(func(r *Row[int]) bool { return r.ID > after })
		cut, found := slices.BinarySearch(want, after)
		if found {
			cut++
		}
		if got := ids(now.Ascend(at)); strings.Join(got, " ") != strings.Join(want[cut:], " ") {
			t.Fatalf("after %s ascending: %q, want %q", after, got, want[cut:])
		}
		down := slices.Clone(want[:cut])
		slices.Reverse(down)
		if got := ids(now.Descend(at)); strings.Join(got, " ") != strings.Join(down, " ") {
			t.Fatalf("before %s descending: %q, want %q", after, got, down)
		}
	})
}

// TestSnapshotStandsStill reads one snapshot while rows come and go.
func TestSnapshotStandsStill(t *testing.T) {
	first := numbered(2 * chunkRows)
	list := build(t, first...)
	before := list.Snapshot()
	var writers sync.WaitGroup
	for w := range 2 {
		writers.Go(func() {
			for i := range 200 {
				list.Delete(first[(i*7+w)%len(first)])
				list.Insert(Row[int]{ID: fmt.Sprintf("%08d", 2*i+1+w*1000)})
			}
		})
	}
	for range 20 {
		if got := ids(before.Ascend(before.Start())); !slices.Equal(got, first) {
			t.Fatal("the snapshot changed under its reader")
		}
	}
	writers.Wait()
	if got := ids(before.Ascend(before.Start())); !slices.Equal(got, first) {
		t.Fatal("the snapshot changed under its reader")
	}
}
