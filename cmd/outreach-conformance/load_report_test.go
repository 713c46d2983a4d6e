package main

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/types"

	"outreach.example/conformance/reports/console"
)

// Who reads a file of the results, such as a merge of shards, finds the former
// one or the new one, never a part.
func TestFilesOfLoadAreReplacedWhole(t *testing.T) {
	g := NewWithT(t)
	dir := t.TempDir()
	path := filepath.Join(dir, partFile)
	writing := func(text string, then error) func(io.Writer) error {
		return func(w io.Writer) error {
			_, err := io.WriteString(w, text)
			return errors.Join(err, then)
		}
	}
	g.Expect(toFile(path, writing("former", nil))).To(Succeed())
	broken := errors.New("the disk is gone")
	g.Expect(toFile(path, func(w io.Writer) error {
		g.Expect(contents(t, path)).To(Equal("former"), "while the new one is written")
		return writing("half", broken)(w)
	})).To(MatchError(broken))
	g.Expect(contents(t, path)).To(Equal("former"))
	g.Expect(toFile(path, writing("new", nil))).To(Succeed())
	g.Expect(contents(t, path)).To(Equal("new"))
	g.Expect(os.ReadDir(dir)).To(HaveLen(1))
}

// What a run waits for is told where no live line is drawn, too, and without
// what would move a terminal's cursor.
func TestProgressTellsWhatIsWaitedFor(t *testing.T) {
	var log strings.Builder
	v := newLoadView(&log, []string{"mixed"})
	v.say("waiting for another run\x1b[2J")
	v.stop()
	NewWithT(t).Expect(log.String()).To(And(HavePrefix("outreach-conformance: waiting for another run"), HaveSuffix("\n"), Not(ContainSubstring("\x1b"))))
}

// Putting back what was changed may take longer than the load: a terminal shows
// that it goes on, and who waited is told for how long. Mostly nobody notices.
func TestProgressTellsWhatIsPutBack(t *testing.T) {
	for name, tc := range map[string]struct {
		live bool
		took time.Duration
		want types.GomegaMatcher
	}{
		"short, in a log":      {false, 900 * time.Millisecond, BeEmpty()},
		"long, in a log":       {false, 1250 * time.Millisecond, Equal("outreach-conformance: rolled back changes in 1.2 s\n")},
		"short, on a terminal": {true, 900 * time.Millisecond, And(ContainSubstring(": 2 changes are left"), ContainSubstring(": 1 change is left"), HaveSuffix("\r\x1b[2K"))},
		"long, on a terminal":  {true, time.Minute, And(ContainSubstring(": 1 change is left"), HaveSuffix("\x1b[2Koutreach-conformance: rolled back changes in 60.0 s\n"))},
	} {
		t.Run(name, func(t *testing.T) {
			var log strings.Builder
			v := &loadView{stderr: &log, progress: console.NewLoadProgress(&log, console.ProgressOptions{Live: tc.live})}
			v.puttingBack(2)
			v.puttingBack(1)
			v.putBack(tc.took)
			NewWithT(t).Expect(log.String()).To(tc.want)
		})
	}
}

// The log of a shard has its part or nothing: who merges the shards reads it.
func TestPrintPartPrintsNothingWithoutAPart(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	begins := time.Now().Add(time.Hour).UTC().Format(time.RFC3339)
	ended := exitsWith(t, exitCannotTell, nil, loadCommand, "--target", "http://127.0.0.1:1", "--scenario", "mixed",
		"--shard", "1/2", "--seed", "1", "--start-at", begins, "--print-part")
	g.Expect(ended.stdout).To(BeEmpty())
	g.Expect(ended.stderr).To(ContainSubstring("is unreachable"))
}
