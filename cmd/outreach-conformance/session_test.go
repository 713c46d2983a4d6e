package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// sessionBlock is a text block of a document that shows a command and what it prints.
var sessionBlock = regexp.MustCompile("(?ms)^```text\n\\$ ([^\n]*)\n(.*?)^```$")

// session runs the commands of a document's sessions, whatever their exit code,
// and looks for the lines that the document shows in what they print, in their
// order. A line … stands for any lines, and … at the end of one for its rest.
func session(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: session FILE")
	}
	text, err := os.ReadFile(filepath.Join(repository, args[0]))
	ts.Check(err)
	sessions := sessionBlock.FindAllStringSubmatch(string(text), -1)
	if len(sessions) == 0 {
		ts.Fatalf("%s shows no session", args[0])
	}
	for _, s := range sessions {
		_ = ts.Exec("bash", "-c", instead(ts).Replace(s[1])) // what it prints tells enough
		printed := strings.Split(ts.ReadFile("stdout"), "\n")
		for line := range strings.Lines(s[2]) {
			line = instead(ts).Replace(strings.TrimRight(line, "\n"))
			beginning, cut := strings.CutSuffix(line, "…")
			i := slices.IndexFunc(printed, func(p string) bool { return p == line || cut && strings.HasPrefix(p, beginning) })
			if i < 0 {
				ts.Fatalf("%s shows a line that %q does not print there: %q", args[0], s[1], line)
			}
			if line != "…" {
				printed = printed[i+1:]
			}
		}
	}
}
