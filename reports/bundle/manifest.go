// Package bundle writes and reads bundles: the results, evidence and pages of runs in one
// archive, with a manifest of their digests and a signature. It knows files, digests, keys
// and dates, and judges nothing.
//
// It imports package disk, and nothing else of this module.
package bundle

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"
	"time"
)

// formatVersion is the version of the manifest. It changes if a reader of the earlier version
// could misread the new one.
const formatVersion = "1"

// Manifest says what a bundle holds and how it came about. manifest.schema.json is the JSON
// Schema of its JSON form.
type Manifest struct {
	Version        string         `json:"version"`     // formatVersion; Write sets it
	Certificate    bool           `json:"certificate"` // the runs met what certify requires
	Level          string         `json:"level"`       // full, or the requirement set that was run
	Implementation Implementation `json:"implementation"`
	Program        Program        `json:"program"`
	Catalogue      string         `json:"catalogue"` // SHA-256 digest in hex
	OpenAPI        string         `json:"openapi"`   // likewise, of the document
	Nonce          string         `json:"nonce"`     // of the recipient; empty if the vendor chose the seeds
	Created        time.Time      `json:"created"`
	Expires        time.Time      `json:"expires"`
	Runs           []Run          `json:"runs"`
	Tests          Tests          `json:"tests"`
	// Files are all members but the manifest and the envelope, by name; Write sets them.
	Files map[string]File `json:"files"`
}

// Implementation names what was tested, as its profile does.
type Implementation struct {
	Vendor  string `json:"vendor"`
	Name    string `json:"name"`
	Version string `json:"version"`
}

// Program identifies the program that ran.
type Program struct {
	Version  string   `json:"version"`
	Commit   string   `json:"commit"`   // of its source; empty if the build did not record it
	Modified bool     `json:"modified"` // the source had changes beside the commit
	Go       string   `json:"go"`
	Modules  []string `json:"modules,omitempty"` // its Go modules: path, version and sum, as in go.sum
}

// ProgramOf identifies the program of the build info, which may be nil. A commit of modified source ends
// in ", modified".
func ProgramOf(version, commit string, info *debug.BuildInfo) Program {
	p := Program{Version: version, Go: runtime.Version()}
	p.Commit, p.Modified = strings.CutSuffix(commit, ", modified")
	if info == nil {
		return p
	}
	for _, d := range info.Deps {
		line := d.Path + " "
		if d.Replace != nil {
			line, d = line+"=> "+d.Replace.Path+" ", d.Replace
		}
		p.Modules = append(p.Modules, line+d.Version+" "+d.Sum)
	}
	return p
}

// Run is a run whose files lie in the directory runs/N, where N counts from 1.
type Run struct {
	ID       string         `json:"id"`
	Started  time.Time      `json:"started"`
	Seed     int64          `json:"seed"`
	Settings map[string]any `json:"settings,omitempty"` // what affects the verdict, by name: text, numbers and booleans
	Verdict  string         `json:"verdict"`            // pass, fail or inconclusive
	Counts   map[string]int `json:"counts,omitempty"`   // of checks, by outcome
}

// Tests are the names of the checks by their outcome, over all runs.
type Tests struct {
	Passed      []string `json:"passed,omitempty"`
	Warned      []string `json:"warned,omitempty"` // failed, as the vendor declared
	Failed      []string `json:"failed,omitempty"`
	NotAssessed []string `json:"not_assessed,omitempty"`
}

// File is the size and the digest of a member.
type File struct {
	Size   int64  `json:"size"`
	SHA256 string `json:"sha256"` // in hex
}

// Encode returns the one JSON form of the manifest.
func (m Manifest) Encode() ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	err := e.Encode(m)
	return b.Bytes(), err
}

// parse returns the manifest in a JSON document that anybody may have written.
func parse(body []byte) (m Manifest, err error) {
	d := json.NewDecoder(bytes.NewReader(body))
	d.DisallowUnknownFields()
	err = d.Decode(&m)
	switch {
	case m.Version != formatVersion && (err == nil || m.Version != ""):
		return m, fmt.Errorf("version %.20q, this build reads %q (use the release that wrote the bundle)", m.Version, formatVersion)
	case err != nil:
		return m, err
	case len(m.Runs) < 1 || len(m.Runs) > maxRuns:
		return m, fmt.Errorf("%d runs (want 1 to %d)", len(m.Runs), maxRuns)
	case len(m.Files) > maxMembers:
		return m, fmt.Errorf("%d files (want at most %d)", len(m.Files), maxMembers)
	}
	return m, nil
}

// checkForm returns an error unless the document is what Encode returns for its manifest. So nobody
// reads another manifest there, such as the first of two members of one name.
func checkForm(body []byte) error {
	m, err := parse(body)
	if err != nil {
		return err
	}
	if again, err := m.Encode(); err != nil || !bytes.Equal(again, body) {
		return errors.New(ManifestFile + " is not in the form that this program writes")
	}
	return nil
}
