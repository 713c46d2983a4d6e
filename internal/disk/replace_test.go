package disk_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"

	"outreach.example/conformance/internal/disk"
)

func content(text string) func(string) error {
	return func(path string) error { return os.WriteFile(path, []byte(text), 0o666) }
}

func TestFailedWriteKeepsTheOldFile(t *testing.T) {
	g := NewWithT(t)
	dir := t.TempDir()
	path := filepath.Join(dir, "report")
	g.Expect(disk.Replace(path, content("former"))).To(Succeed())

	broken := errors.New("disk is gone")
	err := disk.Replace(path, func(temporary string) error {
		g.Expect(filepath.Dir(temporary)).To(Equal(dir), "a rename must not cross file systems")
		g.Expect(os.WriteFile(temporary, []byte("half"), 0o666)).To(Succeed())
		g.Expect(os.ReadFile(path)).To(BeEquivalentTo("former"))
		return broken
	})
	g.Expect(err).To(MatchError(broken))
	g.Expect(os.ReadFile(path)).To(BeEquivalentTo("former"))
	g.Expect(os.ReadDir(dir)).To(HaveLen(1))
}

func TestSymbolicLinkIsKept(t *testing.T) {
	g := NewWithT(t)
	dir := t.TempDir()
	real, link := filepath.Join(dir, "real"), filepath.Join(dir, "link")
	g.Expect(os.WriteFile(real, nil, 0o666)).To(Succeed())
	if err := os.Symlink(real, link); err != nil {
		t.Skip("no symbolic links here:", err)
	}
	g.Expect(disk.Replace(link, content("new"))).To(Succeed())
	g.Expect(os.ReadFile(real)).To(BeEquivalentTo("new"))
	info, err := os.Lstat(link)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(info.Mode() & os.ModeSymlink).NotTo(BeZero())
}

func TestOnlyRegularFilesAreReplaced(t *testing.T) {
	for _, path := range []string{t.TempDir(), os.DevNull} {
		err := disk.Replace(path, func(string) error {
			t.Errorf("%s was about to be replaced", path)
			return nil
		})
		NewWithT(t).Expect(err).To(MatchError(ContainSubstring("not a regular file")))
	}
}
