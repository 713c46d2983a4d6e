package strict

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
)

type note struct {
	Version string `json:"version"`
	Text    string `json:"text"`
}

const small = `{"version":"1","text":""}`

var notes = Format[note]{
	Name: "notes", Version: "1", MaxSize: int64(len(small)),
	Complete: func(n note) note { return n }, Validate: func(note) error { return nil },
}

// Read stops at MaxSize.
func TestReadIsBounded(t *testing.T) {
	large := small + strings.Repeat(" ", 1<<10)
	path := filepath.Join(t.TempDir(), "notes.json")
	for name, read := range map[string]func(text string) error{
		"a file": func(text string) error {
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			_, err := notes.Read(path)
			return err
		},
		"a text": func(text string) error {
			_, err := notes.Parse([]byte(text))
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			g.Expect(read(small)).To(Succeed())
			g.Expect(read(large)).To(MatchError(ContainSubstring("more than 25 bytes: ")))
		})
	}
}
