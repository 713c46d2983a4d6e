package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"outreach.example/conformance/internal/envvar"
)

// Patterns of flags, variables and command lines in documents.
var (
	textBlock    = regexp.MustCompile("(?ms)^```text\n(\\$ )?.*?^```$")
	flagName     = regexp.MustCompile(`(?m)(?:^|[\s'"\x60(\[])--([a-z][a-z-]*)`)
	variableName = regexp.MustCompile(`\b` + envvar.Prefix + `[A-Z][A-Z_]*`)

	// anotherProgram is a command line of another program. A command line of docker
	// ends at the arguments of the image.
	anotherProgram = regexp.MustCompile(`(?m)^(?: *- git|.*\b(?:curl -q|gh run)|(?:OUTREACH_\w+=\S+ )*(?:docker|kubectl|vegeta|ginkgo|go test|loadtest/swarm/fan-out)) .*?(?: outreach-conformance\b|$)`)
	// anotherFlag marks a flag of another program in a sentence: go test -count.
	anotherFlag = regexp.MustCompile("`(?:docker|kubectl|vegeta|ginkgo|go test|git|jq) [^`]*`|`-v /[^`]*`")
)

// strangers returns the flags and environment variables in a document that the program
// does not have.
func strangers(text string) []string {
	root := newRoot()
	flags := append(Names(root), "help", "version")
	text = textBlock.ReplaceAllString(text, "")
	ours := anotherFlag.ReplaceAllString(anotherProgram.ReplaceAllString(text, ""), "")
	var wrong []string
	for _, m := range flagName.FindAllStringSubmatch(ours, -1) {
		if !slices.Contains(flags, m[1]) {
			wrong = append(wrong, fmt.Sprintf("there is no flag --%s", m[1]))
		}
	}
	for _, name := range variableName.FindAllString(text, -1) {
		if name = strings.TrimRight(name, "_"); !envvar.IsReserved(name+"_") && len(envvar.Unknown([]string{name + "=x"}, flags)) > 0 {
			wrong = append(wrong, fmt.Sprintf("there is no variable %s", name))
		}
	}
	slices.Sort(wrong)
	return slices.Compact(wrong)
}

func TestDocumentsNameWhatExists(t *testing.T) {
	for _, pattern := range []string{"*.md", "docs/*.md", "docs/*.yaml", "docs/*.yml", "action.yml"} {
		paths, err := filepath.Glob(filepath.Join(repository, pattern))
		if err != nil || len(paths) == 0 {
			t.Fatalf("no documents match %s: %v", pattern, err)
		}
		for _, path := range paths {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			for _, wrong := range strangers(string(text)) {
				t.Errorf("%s: %s", path, wrong)
			}
		}
	}
}

func TestStrangersAreSeen(t *testing.T) {
	for text, want := range map[string]string{
		"`--target` and OUTREACH_TARGET, OUTREACH_KEY_MAIN, `OUTREACH_KEY_` and `OUTREACH_URL`": "",
		"`--tragte`":          "there is no flag --tragte",
		"docker run --rm x\n": "",
		"docker run --rm outreach-conformance run --tragte": "there is no flag --tragte",
		"OUTREACH_TRAGTE=x go test ./x":                     "there is no variable OUTREACH_TRAGTE",
		"```text\n$ x\n--tragte\n```":                       "",
		"ginkgo --procs=2\nrun --procs=2":                   "there is no flag --procs",
	} {
		if got := strings.Join(strangers(text), "; "); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}
