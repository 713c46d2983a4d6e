package sandbox

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/gofrs/flock"

	"outreach.example/conformance/internal/redact"
)

// BusyError says that another run on this machine uses the same workspace.
type BusyError struct{ Journal string } // the file of that run

func (e *BusyError) Error() string {
	return fmt.Sprintf("another run uses the same workspace of the target: its journal is %s (wait until it has ended)", e.Journal)
}

// attempts and attemptEvery bound the wait for a process that looks at a workspace in passing.
const (
	attempts     = 10
	attemptEvery = 50 * time.Millisecond
)

// use makes the run the only one on this machine that uses the workspaces, whatever the
// directories of the journals. Processes of one run share them. A user without a directory
// for such files cannot tell.
func (j *Journal) use(run Run, baseURL string, workspaces []string) error {
	dir, err := os.UserCacheDir()
	if err != nil || len(workspaces) == 0 {
		return nil
	}
	dir = filepath.Join(dir, "outreach-conformance")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil
	}
	tidy(dir)
	for _, workspace := range workspaces {
		name := fmt.Sprintf("%x", sha256.Sum256([]byte(strings.TrimRight(baseURL, "/")+" "+workspace)))
		if err := j.useOne(filepath.Join(dir, name), run.ID); err != nil {
			return err
		}
	}
	return nil
}

// unused is after what time the files of a workspace that no run uses are removed.
const unused = 24 * time.Hour

// tidy removes the files of workspaces that nobody has used for long. Addresses on a machine's
// own ports seldom come again.
func tidy(dir string) {
	old, _ := filepath.Glob(filepath.Join(dir, "*.txt"))
	for _, about := range old {
		if file, err := os.Stat(about); err != nil || time.Since(file.ModTime()) < unused {
			continue
		}
		path := strings.TrimSuffix(about, ".txt") + ".lock"
		lock := flock.New(path)
		if alone, err := lock.TryLock(); err == nil && alone {
			_ = os.Remove(about)
			_ = os.Remove(path)
		}
		_ = lock.Close()
	}
}

// useOne takes the lock of one workspace. Who has it alone writes into the file beside it
// which run and which journal use the workspace, and then shares it.
func (j *Journal) useOne(path, id string) error {
	lock := flock.New(path+".lock", flock.SetPermissions(0o600))
	about := path + ".txt"
	var user string
	for range attempts {
		alone, err := lock.TryLock()
		if err == nil && alone {
			absolute, _ := filepath.Abs(j.path)
			err = errors.Join(os.WriteFile(about, redact.Process.Content([]byte(id+" "+absolute)), 0o600), lock.Unlock())
		}
		shared := false
		if err == nil {
			shared, err = lock.TryRLock()
		}
		if err != nil {
			return nil // the file system knows no locks
		}
		if shared {
			text, _ := os.ReadFile(about)
			of, journal, _ := strings.Cut(string(text), " ")
			if of == id || oneRun(of, id) {
				j.uses = append(j.uses, lock)
				return nil
			}
			user = journal
			_ = lock.Unlock()
		}
		time.Sleep(attemptEvery)
	}
	return &BusyError{user}
}
