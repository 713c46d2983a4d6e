// Package store keeps the rows of one list in ascending order of id, each with
// its document already rendered, for many readers and few writers.
//
// A List is copy-on-write: a reader takes a Snapshot and never waits, a writer
// copies one chunk of rows and the list of chunks. A snapshot never changes, so
// one page is a consistent picture of the list; the next page of a walk is
// taken from a newer snapshot, and since a walk goes on from the position of an
// id, it yields each row that stays exactly once, whatever comes or goes.
//
// Finding a position costs a binary search, so page 10,000 costs what page 1
// costs. A write costs about n/chunkRows + chunkRows row copies.
//
// It imports nothing of this module: what a row means is its caller's.
package store

import (
	"errors"
	"fmt"
	"iter"
	"slices"
	"sort"
	"sync"
	"sync/atomic"
)

// chunkRows is the number of rows of a full chunk: large enough that a million
// rows need few chunks, small enough that a write copies little.
const chunkRows = 256

// ErrNotFound says that the list has no row with the id.
var ErrNotFound = errors.New("store: no such row")

// Row is one row of a list. Its document is never changed in place.
type Row[A any] struct {
	ID    string // orders the list
	Doc   []byte // the row as JSON
	Attrs A      // what filters look at, so that no document is parsed on a scan
}

// List is the rows of one list. Its methods may be called concurrently.
type List[A any] struct {
	writing sync.Mutex
	current atomic.Pointer[Snapshot[A]]
}

// Build makes a list of rows that come in strictly ascending order of id. The
// documents of a chunk are copied into one block, so that a page reads memory
// that lies together.
func Build[A any](rows iter.Seq2[Row[A], error]) (*List[A], error) {
	built := &Snapshot[A]{}
	var chunk []Row[A]
	seal := func() {
		if len(chunk) > 0 {
			packDocs(chunk)
			built.chunks = append(built.chunks, slices.Clip(chunk))
			built.size += len(chunk)
			chunk = nil
		}
	}
	last := ""
	for row, err := range rows {
		if err != nil {
			return nil, err
		}
		if row.ID <= last {
			return nil, fmt.Errorf("row %d: id %q does not come after %q: give the rows in ascending order of id",
				built.size+len(chunk), row.ID, last)
		}
		last = row.ID
		if chunk == nil {
			chunk = make([]Row[A], 0, chunkRows)
		}
		if chunk = append(chunk, row); len(chunk) == chunkRows {
			seal()
		}
	}
	seal()
	list := &List[A]{}
	list.current.Store(built)
	return list, nil
}

// packDocs moves the documents of the rows into one block of memory.
func packDocs[A any](rows []Row[A]) {
	size := 0
	for i := range rows {
		size += len(rows[i].Doc)
	}
	block := make([]byte, 0, size)
	for i := range rows {
		from := len(block)
		block = append(block, rows[i].Doc...)
		rows[i].Doc = block[from:len(block):len(block)]
	}
}

// Fork returns a list that starts with the same rows and then goes its own way.
// It copies nothing.
func (l *List[A]) Fork() *List[A] {
	fork := &List[A]{}
	fork.current.Store(l.current.Load())
	return fork
}

// Snapshot returns the rows as they are now.
func (l *List[A]) Snapshot() *Snapshot[A] { return l.current.Load() }

// Get returns the row with the id.
func (l *List[A]) Get(id string) (Row[A], bool) { return l.Snapshot().Get(id) }

// Insert adds the row at the place of its id and reports whether the id was new.
func (l *List[A]) Insert(row Row[A]) bool {
	l.writing.Lock()
	defer l.writing.Unlock()
	now := l.current.Load()
	at := now.Seek(func(r *Row[A]) bool { return r.ID >= row.ID })
	if found := now.row(at); found != nil && found.ID == row.ID {
		return false
	}
	chunks := slices.Clone(now.chunks)
	switch {
	case len(chunks) == 0:
		chunks = append(chunks, []Row[A]{row})
	case at.chunk == len(chunks): // behind the last row
		if tail := chunks[len(chunks)-1]; len(tail) < chunkRows {
			chunks[len(chunks)-1] = slices.Insert(slices.Clone(tail), len(tail), row)
		} else {
			chunks = append(chunks, []Row[A]{row})
		}
	default:
		grown := slices.Insert(slices.Clone(chunks[at.chunk]), at.row, row)
		chunks[at.chunk] = grown
		if half := len(grown) / 2; len(grown) > chunkRows {
			chunks[at.chunk] = slices.Clone(grown[:half])
			chunks = slices.Insert(chunks, at.chunk+1, slices.Clone(grown[half:]))
		}
	}
	l.current.Store(&Snapshot[A]{chunks: chunks, size: now.size + 1})
	return true
}

// Update replaces the row with what change makes of it and returns the new row.
// No other write happens meanwhile; an error of change leaves the row as it was.
// The id stays.
func (l *List[A]) Update(id string, change func(Row[A]) (Row[A], error)) (Row[A], error) {
	l.writing.Lock()
	defer l.writing.Unlock()
	now := l.current.Load()
	at, ok := now.find(id)
	if !ok {
		return Row[A]{}, ErrNotFound
	}
	changed, err := change(*now.row(at))
	if err != nil {
		return Row[A]{}, err
	}
	changed.ID = id
	chunks := slices.Clone(now.chunks)
	chunks[at.chunk] = slices.Clone(chunks[at.chunk])
	chunks[at.chunk][at.row] = changed
	l.current.Store(&Snapshot[A]{chunks: chunks, size: now.size})
	return changed, nil
}

// Delete takes the row out of the list and returns it.
func (l *List[A]) Delete(id string) (Row[A], bool) {
	l.writing.Lock()
	defer l.writing.Unlock()
	now := l.current.Load()
	at, ok := now.find(id)
	if !ok {
		return Row[A]{}, false
	}
	gone := *now.row(at)
	chunks := slices.Clone(now.chunks)
	if rest := chunks[at.chunk]; len(rest) == 1 {
		chunks = slices.Delete(chunks, at.chunk, at.chunk+1)
	} else {
		chunks[at.chunk] = slices.Concat(rest[:at.row], rest[at.row+1:])
	}
	l.current.Store(&Snapshot[A]{chunks: chunks, size: now.size - 1})
	return gone, true
}

// Snapshot is the rows of a list at one moment. It never changes.
type Snapshot[A any] struct {
	chunks [][]Row[A] // none is empty
	size   int
}

// Position is a place between two rows of a snapshot, or at either end.
type Position struct{ chunk, row int }

// Len returns the number of rows.
func (s *Snapshot[A]) Len() int { return s.size }

// Get returns the row with the id.
func (s *Snapshot[A]) Get(id string) (Row[A], bool) {
	at, ok := s.find(id)
	if !ok {
		return Row[A]{}, false
	}
	return *s.row(at), true
}

// Start is the position before the first row.
func (s *Snapshot[A]) Start() Position { return Position{} }

// End is the position behind the last row.
func (s *Snapshot[A]) End() Position { return Position{chunk: len(s.chunks)} }

// Seek returns the position before the first row for which reached is true.
// Once reached is true for a row it must be true for all that follow.
func (s *Snapshot[A]) Seek(reached func(*Row[A]) bool) Position {
	chunk := sort.Search(len(s.chunks), func(i int) bool {
		rows := s.chunks[i]
		return reached(&rows[len(rows)-1])
	})
	if chunk == len(s.chunks) {
		return s.End()
	}
	rows := s.chunks[chunk]
	return Position{chunk, sort.Search(len(rows), func(i int) bool { return reached(&rows[i]) })}
}

// Ascend yields the rows behind the position in ascending order. The rows must
// not be changed.
func (s *Snapshot[A]) Ascend(from Position) iter.Seq[*Row[A]] {
	return func(yield func(*Row[A]) bool) {
		for chunk, first := from.chunk, from.row; chunk < len(s.chunks); chunk, first = chunk+1, 0 {
			rows := s.chunks[chunk]
			for i := first; i < len(rows); i++ {
				if !yield(&rows[i]) {
					return
				}
			}
		}
	}
}

// Descend yields the rows before the position in descending order. The rows
// must not be changed.
func (s *Snapshot[A]) Descend(from Position) iter.Seq[*Row[A]] {
	return func(yield func(*Row[A]) bool) {
		for chunk, behind := from.chunk, from.row; ; {
			if behind == 0 {
				if chunk--; chunk < 0 {
					return
				}
				behind = len(s.chunks[chunk])
			}
			behind--
			if !yield(&s.chunks[chunk][behind]) {
				return
			}
		}
	}
}

// find returns the position before the row with the id.
func (s *Snapshot[A]) find(id string) (Position, bool) {
	at := s.Seek(func(r *Row[A]) bool { return r.ID >= id })
	row := s.row(at)
	return at, row != nil && row.ID == id
}

// row returns the row behind the position, nil at the end.
func (s *Snapshot[A]) row(at Position) *Row[A] {
	if at.chunk == len(s.chunks) {
		return nil
	}
	return &s.chunks[at.chunk][at.row]
}
