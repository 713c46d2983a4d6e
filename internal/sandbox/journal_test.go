package sandbox

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	. "github.com/onsi/gomega"
)

func startJournal(t *testing.T) (*Journal, string) {
	t.Helper()
	dir := t.TempDir()
	j, err := StartJournal(dir, NewRun(), "http://127.0.0.1:1")
	if err != nil {
		t.Fatal(err)
	}
	return j, dir
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestPendingIsWhatWasNotClosed(t *testing.T) {
	j, dir := startJournal(t)
	_, err := j.Open(Entry{Do: Create, Home: "one", After: "a"})
	must(t, err)
	again, err := j.Open(Entry{Do: Create, Home: "one", After: "b"})
	must(t, err)
	moved, err := j.Open(Entry{Do: Move, Email: "b@example.com", Home: "h", Away: "w"})
	must(t, err)
	_, err = j.Open(Entry{Do: Move, Email: "a@example.com", Home: "h", Away: "w"})
	must(t, err)
	must(t, j.Close(moved))
	if again != 1 || moved != 2 {
		t.Errorf("the creations in a workspace share an entry: %d, %d", again, moved)
	}
	if under, err := FindPending(dir); err != nil || !under[0].Alive {
		t.Errorf("an open journal belongs to an active run: %v", err)
	}
	must(t, j.Finish())

	pending, err := FindPending(dir)
	must(t, err)
	if len(pending) != 1 || pending[0].Alive || pending[0].Forged || pending[0].Header.BaseURL != "http://127.0.0.1:1" {
		t.Fatalf("found %+v", pending)
	}
	e := pending[0].Entries
	if len(e) != 2 || e[0].Do != Move || e[1].Home != "one" || e[1].After != "a" {
		t.Errorf("pending, the last first: %+v", e)
	}
	must(t, pending[0].Remove())
	if left, _ := FindPending(dir); len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestFinishedJournalIsGone(t *testing.T) {
	j, dir := startJournal(t)
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			seq, err := j.Open(Entry{Do: Move, Email: "x"})
			if err != nil || j.Close(seq) != nil {
				t.Error("not recorded")
			}
		})
	}
	all.Wait()
	must(t, j.Finish())
	if files, _ := os.ReadDir(dir); len(files) != 0 {
		t.Errorf("left behind: %v", files)
	}
}

func TestATornLastLineIsForgiven(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "journal-x.jsonl")
	good := `{"do":"begin","run":"x","base_url":"http://h"}` + "\n" + `{"seq":1,"do":"create","name":"a"}` + "\n"
	must(t, os.WriteFile(path, []byte(good+`{"seq":2,"do":"cre`), 0o600))
	pending, err := FindPending(dir)
	must(t, err)
	if len(pending[0].Entries) != 1 {
		t.Errorf("entries %+v", pending[0].Entries)
	}
	must(t, os.WriteFile(path, []byte(good+"nonsense\n"+good), 0o600))
	if _, err := FindPending(dir); err == nil || !strings.Contains(err.Error(), "journal-x.jsonl:3") {
		t.Errorf("a broken line in the middle: %v", err)
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(`{"do":"begin"}` + "\n" + `{"seq":1,"do":"move"}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		dir := t.TempDir()
		must(t, os.WriteFile(filepath.Join(dir, "journal-f.jsonl"), data, 0o600))
		pending, err := FindPending(dir)
		if err == nil && len(pending) != 1 {
			t.Errorf("%d journals", len(pending))
		}
	})
}

func TestNilJournalRecordsNothing(t *testing.T) {
	var j *Journal
	entry, err := j.Open(Entry{Do: Create, Home: "a"})
	if entry != 0 || err != nil || j.nothingCreated() != nil || j.Close(entry) != nil {
		t.Error(entry, err)
	}
}

// Once nothing is left, the creations are no longer pending. Moves are.
func TestNothingCreated(t *testing.T) {
	j, dir := startJournal(t)
	for _, e := range []Entry{{Do: Create, Home: "one"}, {Do: Create, Home: "two"}, {Do: Move, Email: "a"}} {
		_, err := j.Open(e)
		must(t, err)
	}
	must(t, j.nothingCreated())
	must(t, j.Finish())
	pending, err := FindPending(dir)
	must(t, err)
	if e := pending[0].Entries; len(e) != 1 || e[0].Do != Move {
		t.Errorf("%+v", e)
	}
}

// Only the journal of a run proves which run it is. Whoever has seen the id cannot forge it.
func TestForgedFiles(t *testing.T) {
	run, other := NewRun(), NewRun()
	for name, tc := range map[string]struct {
		header string
		forged bool
	}{
		"of the run":          {fmt.Sprintf(`"run":%q,"proof":%q`, run.ID, run.Proof), false},
		"without a proof":     {fmt.Sprintf(`"run":%q`, run.ID), true},
		"with another proof":  {fmt.Sprintf(`"run":%q,"proof":%q`, run.ID, other.Proof), true},
		"of no run":           {`"run":"x","proof":""`, true},
		"in another spelling": {fmt.Sprintf(`"run":%q,"proof":%q`, strings.ToUpper(run.ID), run.Proof), true},
	} {
		dir := t.TempDir()
		must(t, os.WriteFile(filepath.Join(dir, "journal-x.jsonl"), []byte(`{"do":"begin",`+tc.header+`,"base_url":"http://h"}`+"\n"), 0o600))
		pending, err := FindPending(dir)
		must(t, err)
		if pending[0].Forged != tc.forged {
			t.Errorf("%s: forged is %v", name, pending[0].Forged)
		}
	}
}

// One run at a time uses a workspace, in whatever directories the journals are. Processes of
// one run share it.
func TestOneRunUsesAWorkspace(t *testing.T) {
	g := NewWithT(t)
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	t.Setenv("HOME", t.TempDir())
	const here, main, other = "http://127.0.0.1:1", "a", "b"
	start := func(run Run, base string, workspaces ...string) (*Journal, string, error) {
		dir := t.TempDir()
		j, err := StartJournal(dir, run, base, workspaces...)
		return j, dir, err
	}
	first, dir, err := start(RunOf("one", "group"), here, main, other)
	g.Expect(err).NotTo(HaveOccurred())
	second, _, err := start(RunOf("two", "group"), here+"/", other)
	g.Expect(err).NotTo(HaveOccurred(), "the same run")
	_, empty, err := start(NewRun(), here, other)
	var busy *BusyError
	g.Expect(errors.As(err, &busy)).To(BeTrue(), "%v", err)
	g.Expect(busy.Journal).To(HavePrefix(dir))
	g.Expect(os.ReadDir(empty)).To(BeEmpty(), "a run that did not begin leaves no journal")
	for _, apart := range []struct{ base, workspace string }{{here, "c"}, {"http://127.0.0.1:2", main}} {
		j, _, err := start(NewRun(), apart.base, apart.workspace)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(j.Finish()).To(Succeed())
	}
	g.Expect(first.Finish()).To(Succeed())
	_, _, err = start(NewRun(), here, other)
	g.Expect(errors.As(err, &busy)).To(BeTrue(), "the second process still uses it: %v", err)
	g.Expect(second.Finish()).To(Succeed())
	last, _, err := start(NewRun(), here, main, other)
	g.Expect(err).NotTo(HaveOccurred())

	cache, err := os.UserCacheDir()
	g.Expect(err).NotTo(HaveOccurred())
	files := func() []string {
		all, _ := filepath.Glob(filepath.Join(cache, "outreach-conformance", "*"))
		return all
	}
	g.Expect(files()).To(HaveLen(8), "two for each of four workspaces")
	for _, file := range files() {
		g.Expect(os.Chtimes(file, time.Time{}, time.Now().Add(-2*unused))).To(Succeed())
	}
	next, _, err := start(NewRun(), here, "d")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(files()).To(HaveLen(6), "two that are in use, and a new one")
	g.Expect(next.Finish()).To(Succeed())
	g.Expect(last.Finish()).To(Succeed())
}

// What could not be recorded is not done, also when it is tried again.
func TestAJournalThatCannotBeWrittenPermitsNothing(t *testing.T) {
	j, _ := startJournal(t)
	must(t, j.file.Close()) // a write fails, as on a full disk
	for range 2 {
		if seq, err := j.Open(Entry{Do: Create, Home: "one"}); err == nil {
			t.Errorf("the creation %d is not in the journal", seq)
		}
	}
}

// To look for journals makes none: that of a run that has just ended is gone.
func TestLookingMakesNoJournal(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal-x.jsonl")
	if _, err := held(path); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("there is a journal now")
	}
}
