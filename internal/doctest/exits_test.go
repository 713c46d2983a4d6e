package doctest

import (
	"regexp"
	"strings"
	"testing"
)

// exit is what lets text leave the process.
var exit = regexp.MustCompile(`\b(os\.(WriteFile|Create|OpenFile|Stdout|Stderr)|inputfile\.OpenFile)\b`)

// generators write Go files and schemas. They are no part of the program.
var generators = regexp.MustCompile(`^(schemas|spec|fixtures/profile)/generate/`)

// exits are the files that use one without redact.Process on the same line, with the
// reason why no key leaves there.
var exits = map[string]string{
	"cmd/outreach-conformance/main.go":     "execute redacts both outputs",
	"cmd/outreach-conformance/start.go":    "the containers' log gets a redacting writer",
	"cmd/outreach-conformance/github.go":   "the job summary gets a redacting writer",
	"cmd/outreach-conformance/load_raw.go": "the raw results get a redacting writer",
	"cmd/outreach-conformance/evidence.go": "the recorder redacts each entry",
	"fixtures/profile/parse.go":            "the schema of profiles is a constant",
	"internal/atomicfile/atomicfile.go":    "Replace redacts the file before it renames it",
	"internal/inputfile/inputfile.go":      "its callers are in this list",
	"internal/redact/writer.go":            "it is the gate",
	"internal/sandbox/journal/journal.go":  "each entry is redacted before it is written",
	"loadtest/generate/calibrate.go":       "the child is this program, which redacts its output",
}

// Whatever leaves the process passes the gate of internal/redact.
func TestEverythingThatLeavesIsRedacted(t *testing.T) {
	used := map[string]bool{}
	for _, source := range sources(t) {
		if strings.HasPrefix(source.path, "internal/testbed/") || generators.MatchString(source.path) {
			continue
		}
		for line := range strings.Lines(source.text) {
			if !exit.MatchString(line) || strings.HasPrefix(strings.TrimSpace(line), "//") || strings.Contains(line, "redact.Process") {
				continue
			}
			if strings.Contains(line, "(temporary") { // what atomicfile.Replace redacts
				continue
			}
			if used[source.path] = true; exits[source.path] == "" {
				t.Errorf("%s lets text leave without redaction: %s", source.path, strings.TrimSpace(line))
			}
		}
	}
	for name := range exits {
		if !used[name] {
			t.Errorf("%s is no exit any more: remove it from the list", name)
		}
	}
}
