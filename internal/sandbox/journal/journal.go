// Package journal records on disk what a run changes on its target, before the
// request is sent. If the run is killed, its changes can be rolled back later.
//
// A journal is a file of JSON lines. It is removed when no change is pending. The
// package sends nothing. It imports no other package of this module but redact.
package journal

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/gofrs/flock"

	"outreach.example/conformance/internal/redact"
)

// Entry is a line about one change. All lines about it have the same Seq.
type Entry struct {
	Seq int    `json:"seq"`
	Do  Action `json:"do"`

	Key string `json:"key,omitempty"` // name of the key that made the change
	// A test that is being created has a random name or, if it is sent without one, a
	// random subject. They find the test while the id is unknown.
	Name    string `json:"name,omitempty"`
	Subject string `json:"subject,omitempty"`
	ID      string `json:"id,omitempty"`    // of a test that is proven to be the run's own
	After   string `json:"after,omitempty"` // id of the newest test before the run created any; empty if unknown

	Email string `json:"email,omitempty"` // of an account that is being moved
	Home  string `json:"home,omitempty"`  // id of the workspace to which the account belongs, or in which the test is created if known
	Away  string `json:"away,omitempty"`  // id of the workspace to which the account is being moved
}

// Action is the kind of an entry.
type Action string

// The actions. A Create or Move is open until a Done with the same Seq.
const (
	Begin  Action = "begin"  // the first line: which run, which target
	Create Action = "create" // a test is about to be created or, with ID, was created
	Move   Action = "move"   // an account is about to be moved
	Done   Action = "done"   // the change was rolled back or never took place
)

// Header is the journal's first line.
type Header struct {
	Do      Action `json:"do"`
	Run     string `json:"run"`
	BaseURL string `json:"base_url"`
}

// Journal is an open journal. It is safe for concurrent use. A nil Journal
// records nothing: Open returns 0, the number of no entry.
type Journal struct {
	mu   sync.Mutex
	path string
	file *os.File
	lock *flock.Flock // held while the run is active; the system frees it when the process dies
	last int
	open map[int]bool
}

// pattern matches the journals in a directory.
const pattern = "journal-*.jsonl"

// Start opens a new journal for a run in the directory. The journal stores no key, and
// no id that contains one.
func Start(dir, run, baseURL string) (*Journal, error) {
	path := filepath.Join(dir, "journal-"+run+".jsonl")
	file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("journal: %w", err)
	}
	j := &Journal{path: path, file: file, lock: flock.New(path), open: map[int]bool{}}
	if _, err := j.lock.TryLock(); err != nil {
		return nil, errors.Join(fmt.Errorf("journal: %w", err), file.Close())
	}
	return j, j.write(Header{Begin, run, baseURL})
}

// Open records a change before it is made, and returns the number of its entry.
// If Open returns an error, the change must not be made.
func (j *Journal) Open(e Entry) (seq int, err error) {
	if j == nil {
		return 0, nil
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.last++
	e.Seq = j.last
	j.open[e.Seq] = true
	if err := j.write(e); err != nil {
		return 0, fmt.Errorf("the journal cannot be written, so nothing is changed: %w", err)
	}
	return e.Seq, nil
}

// Made records the id of a test that is proven to be the run's own. An id that contains a key is
// not stored: cleanup then finds the test by its name.
func (j *Journal) Made(seq int, id string) error {
	if j == nil || seq == 0 || redact.Process.Text(id) != id {
		return nil
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.write(Entry{Seq: seq, Do: Create, ID: id})
}

// Close records that the change was rolled back or never took place.
func (j *Journal) Close(seq int) error {
	if j == nil || seq == 0 {
		return nil
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if !j.open[seq] {
		return nil
	}
	delete(j.open, seq)
	return j.write(Entry{Seq: seq, Do: Done})
}

// write appends a line. The caller holds mu, or no other goroutine has the journal.
func (j *Journal) write(line any) error {
	encoded, err := json.Marshal(line)
	if err != nil {
		return fmt.Errorf("journal: %w", err)
	}
	if _, err := j.file.Write(redact.Process.Content(append(encoded, '\n'))); err != nil {
		return fmt.Errorf("journal: %w", err)
	}
	return nil
}

// Finish closes the file, and removes it if no change is pending.
func (j *Journal) Finish() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	err := errors.Join(j.file.Close(), j.lock.Unlock())
	if len(j.open) == 0 {
		err = errors.Join(err, os.Remove(j.path))
	}
	return err
}

// Pending is the content of a journal.
type Pending struct {
	Path    string
	Header  Header
	Alive   bool    // the run is still active
	Entries []Entry // the changes to roll back, the last one first
}

// Find reads the journals in the directory.
func Find(dir string) ([]Pending, error) {
	paths, err := filepath.Glob(filepath.Join(dir, pattern))
	if err != nil {
		return nil, fmt.Errorf("journal: %w", err)
	}
	slices.Sort(paths)
	var all []Pending
	for _, path := range paths {
		p, err := read(path)
		if err != nil {
			return all, err
		}
		if p.Alive, err = held(path); err != nil {
			return all, err
		}
		all = append(all, p)
	}
	return all, nil
}

// Tells reports whether a journal in the directory records any change on the target
// at the address, rolled back or not. It reads only the beginning of each file, as
// the journal of a long load run is large. Unreadable journals are ignored.
func Tells(dir, baseURL string) bool {
	paths, err := filepath.Glob(filepath.Join(dir, pattern))
	return err == nil && slices.ContainsFunc(paths, func(path string) bool { return tells(path, baseURL) })
}

func tells(path, baseURL string) bool {
	file, err := os.Open(path)
	if err != nil {
		return false
	}
	defer func() { _ = file.Close() }()
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, maxLine)
	var h Header
	return lines.Scan() && json.Unmarshal(lines.Bytes(), &h) == nil && h.BaseURL == baseURL && lines.Scan()
}

// held reports whether an active run holds the journal's lock.
func held(path string) (bool, error) {
	lock := flock.New(path)
	free, err := lock.TryLock()
	if err != nil {
		return false, fmt.Errorf("journal: %w", err)
	}
	if free {
		err = lock.Unlock()
	}
	return !free, err
}

// maxLine is the maximum length of a line.
const maxLine = 64 << 10

// read reads a journal. A truncated last line is ignored: the process was killed
// before it made that change.
func read(path string) (Pending, error) {
	file, err := os.Open(path)
	if err != nil {
		return Pending{}, fmt.Errorf("journal: %w", err)
	}
	defer func() { _ = file.Close() }() // it was only read
	p := Pending{Path: path}
	open := map[int]*Entry{}
	lines := bufio.NewScanner(file)
	lines.Buffer(make([]byte, 0, 4096), maxLine)
	var broken error
	for n := 1; lines.Scan(); n++ {
		if broken != nil {
			return Pending{}, broken // it is not the last line
		}
		if n == 1 {
			broken = json.Unmarshal(lines.Bytes(), &p.Header)
		} else {
			broken = apply(open, lines.Bytes())
		}
		if broken != nil {
			broken = fmt.Errorf("journal: %s:%d: not an entry: %w", path, n, broken)
		}
	}
	if err := lines.Err(); err != nil {
		return Pending{}, fmt.Errorf("journal: %s: %w", path, err)
	}
	for _, e := range open {
		p.Entries = append(p.Entries, *e)
	}
	slices.SortFunc(p.Entries, func(a, b Entry) int { return b.Seq - a.Seq })
	return p, nil
}

// apply updates the open changes with a line.
func apply(open map[int]*Entry, line []byte) error {
	var e Entry
	if err := json.Unmarshal(line, &e); err != nil {
		return err
	}
	switch e.Do {
	case Create, Move:
		if known, ok := open[e.Seq]; ok {
			known.ID = e.ID
			return nil
		}
		open[e.Seq] = &e
	case Done:
		delete(open, e.Seq)
	default:
		return fmt.Errorf("unknown action %q", e.Do)
	}
	return nil
}

// Remove removes the file. All its changes must have been rolled back.
func (p Pending) Remove() error { return os.Remove(p.Path) }
