package sandbox

// This file records on disk what a run changes on its target, before the
// request is sent. If the run is killed, its changes can be rolled back later.
//
// A journal is a file of JSON lines. It is removed when no change is pending.

import (
	"bufio"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/gofrs/flock"
	"github.com/google/uuid"

	"outreach.example/conformance/internal/disk"
	"outreach.example/conformance/internal/redact"
)

// Entry is a line about one change. All lines about it have the same Seq.
type Entry struct {
	Seq int    `json:"seq"`
	Do  Action `json:"do"`

	After string `json:"after,omitempty"` // id of the newest test before the run created any; empty if unknown

	Email string `json:"email,omitempty"` // of an account that is being moved
	Home  string `json:"home,omitempty"`  // id of the workspace to which the account belongs, or in which tests are created if known
	Away  string `json:"away,omitempty"`  // id of the workspace to which the account is being moved
}

// Action is the kind of an entry.
type Action string

// The actions. A Create or Move is open until a Done with the same Seq.
const (
	Begin  Action = "begin"  // the first line: which run, which target
	Create Action = "create" // tests are about to be created in a workspace: their names carry the id of the run
	Move   Action = "move"   // an account is about to be moved
	Done   Action = "done"   // the change was rolled back or never took place
)

// Run is a run. The target shows its id in names; only its journal has the proof.
type Run struct {
	ID    string `json:"run"`
	Proof string `json:"proof"`
	Group string `json:"group,omitempty"`
	// Ordinary means that the names of the run do not show its id (NameOrdinary).
	Ordinary bool `json:"ordinary,omitempty"`
}

// NewRun returns a run that begins now.
func NewRun() Run { return RunOf(uuid.NewString(), "") }

// RunOf returns the run with the proof that begins now. Its id is a version 7 UUID, whose other
// bits follow from the proof: who has seen the id of a run cannot write its journal. The
// processes of one run have the same group, which gives their ids the same end; empty for
// a run of one process.
func RunOf(proof, group string) Run {
	r := Run{Proof: proof, Group: group}
	r.ID = r.idAt(uint64(time.Now().UnixMilli()))
	return r
}

func (r Run) idAt(ms uint64) string {
	sum := sha256.Sum256([]byte(r.Proof))
	id := uuid.UUID(sum[:16])
	binary.BigEndian.PutUint64(id[:], ms<<16|uint64(id[6]&0x0f|0x70)<<8|uint64(id[7]))
	id[8] = id[8]&0x3f | 0x80
	if r.Group != "" {
		sum = sha256.Sum256([]byte(r.Group))
		copy(id[len(id)-groupSize:], sum[:])
	}
	return id.String()
}

// groupSize is how many bytes of an id follow from the group.
const groupSize = 4

// oneRun reports whether two ids, with dashes or without, are of processes of one run.
func oneRun(id, other string) bool {
	const digits = 2 * groupSize
	return len(id) > digits && len(other) > digits && id[len(id)-digits:] == other[len(other)-digits:]
}

// Proven reports whether the id follows from the proof.
func (r Run) Proven() bool {
	id, err := uuid.Parse(r.ID)
	return err == nil && r.idAt(binary.BigEndian.Uint64(id[:])>>16) == r.ID
}

// Header is the journal's first line.
type Header struct {
	Do Action `json:"do"`
	Run
	BaseURL string `json:"base_url"`
}

// Journal is an open journal. It is safe for concurrent use. A nil Journal
// records nothing: Open returns 0, the number of no entry.
type Journal struct {
	mu   sync.Mutex
	path string
	file *os.File
	lock *flock.Flock   // held while the run is active; the system frees it when the process dies
	uses []*flock.Flock // of the workspaces (see Use)
	last int
	open map[int]Entry
}

// pattern matches the journals in a directory.
const pattern = "journal-*.jsonl"

// StartJournal opens a new journal for a run in the directory. The journal stores no key, and
// no id that contains one. Until Finish, the run is the only one on this machine that uses
// the workspaces; the error is a *BusyError if another one does.
func StartJournal(dir string, run Run, baseURL string, workspaces ...string) (*Journal, error) {
	path := filepath.Join(dir, "journal-"+run.ID+".jsonl")
	file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("journal: %w", err)
	}
	j := &Journal{path: path, file: file, lock: flock.New(path), open: map[int]Entry{}}
	if err := j.lock.Lock(); err != nil { // another process may just look whether it is held
		return nil, errors.Join(fmt.Errorf("journal: %w", err), file.Close())
	}
	if err := j.use(run, baseURL, workspaces); err != nil {
		return nil, errors.Join(err, j.Finish())
	}
	return j, j.write(Header{Begin, run, baseURL})
}

// Open records a change before it is made, and returns the number of its entry. Creations in
// one workspace share an entry. If Open returns an error, the change must not be made.
func (j *Journal) Open(e Entry) (seq int, err error) {
	if j == nil {
		return 0, nil
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	for seq, known := range j.open {
		if e.Do == Create && known.Do == Create && e.Home == known.Home {
			return seq, nil
		}
	}
	j.last++
	e.Seq = j.last
	if err := j.write(e); err != nil {
		return 0, fmt.Errorf("the journal cannot be written, so nothing is changed: %w", err)
	}
	j.open[e.Seq] = e
	return e.Seq, nil
}

// Close records that the change was rolled back or never took place.
func (j *Journal) Close(seq int) error {
	return j.close(func(open int, _ Entry) bool { return open == seq })
}

// nothingCreated records that no test of the run is left.
func (j *Journal) nothingCreated() error {
	return j.close(func(_ int, e Entry) bool { return e.Do == Create })
}

func (j *Journal) close(which func(seq int, e Entry) bool) error {
	if j == nil {
		return nil
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	var failed []error
	for seq, e := range j.open {
		if which(seq, e) {
			delete(j.open, seq)
			failed = append(failed, j.write(Entry{Seq: seq, Do: Done}))
		}
	}
	return errors.Join(failed...)
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
	for _, use := range j.uses {
		err = errors.Join(err, use.Close())
	}
	if len(j.open) == 0 {
		err = errors.Join(err, os.Remove(j.path))
	}
	return err
}

// Pending is the content of a journal.
type Pending struct {
	Path    string
	Header  Header
	Forged  bool    // it does not prove that the run has written it
	Alive   bool    // the run is still active
	Entries []Entry // the changes to roll back, the last one first
}

// FindPending reads the journals in the directory.
func FindPending(dir string) ([]Pending, error) {
	paths, err := filepath.Glob(filepath.Join(dir, pattern))
	if err != nil {
		return nil, fmt.Errorf("journal: %w", err)
	}
	slices.Sort(paths)
	var all []Pending
	for _, path := range paths {
		alive, err := held(path) // first: what a run that has ended left does not change any more
		var p Pending
		if err == nil {
			p, err = read(path)
		}
		switch p.Alive = alive; {
		case errors.Is(err, fs.ErrNotExist): // its run has just ended
		case err != nil:
			return all, err
		default:
			all = append(all, p)
		}
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
	file, err := disk.Open(path)
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
	lock := flock.New(path, flock.SetFlag(os.O_RDONLY)) // must not make a file
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
	file, err := disk.Open(path)
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
	p.Forged = !p.Header.Proven()
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
