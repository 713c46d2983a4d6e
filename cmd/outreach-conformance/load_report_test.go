package main

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"
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
