// Package outputdir prepares the directory into which a command writes its
// results: it makes sure that files can be written, and removes the results of an
// earlier run. It recognises these by their content, so that it never removes a
// file that another program wrote.
//
// It imports no other package of this module but inputfile and reports.
package outputdir

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"outreach.example/conformance/internal/inputfile"
	"outreach.example/conformance/reports"
)

// Prepare creates the directory if it is missing. It returns an error if one of the
// files could not be written there, or only outside it, through a link. A command calls it before a long run.
func Prepare(dir string, files ...string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for _, name := range files {
		path := filepath.Join(dir, name)
		info, err := os.Lstat(path)
		switch {
		case err != nil: // absent, or the file below cannot be created either
		case info.Mode()&fs.ModeSymlink == 0:
			if err := inputfile.Check(path); err != nil {
				return fmt.Errorf("%w, but a file must be written there (move it, or choose another --output)", err)
			}
		case leadsOut(dir, path):
			return fmt.Errorf("%s: is a link that leads out of the directory (remove it, or choose another --output)", path)
		}
	}
	file, err := os.CreateTemp(dir, ".writable-*")
	if err != nil {
		return err
	}
	return errors.Join(file.Close(), os.Remove(file.Name()))
}

// leadsOut reports whether writing to the link would change something outside dir. So does
// a link to nothing, unless its target would be beside it.
func leadsOut(dir, link string) bool {
	within, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return true
	}
	to, err := filepath.EvalSymlinks(link)
	if errors.Is(err, fs.ErrNotExist) {
		to, err = os.Readlink(link)
		return err != nil || filepath.Base(to) != to
	}
	if err != nil {
		return true
	}
	below, err := filepath.Rel(within, to)
	return err != nil || !filepath.IsLocal(below)
}

// RemoveResults removes a file of results in JSON (IsResults).
func RemoveResults(path string) error { return removeIf(path, isResults) }

// RemoveJUnit removes a JUnit report that this program wrote.
func RemoveJUnit(path string) error { return removeIf(path, isJUnit) }

// RemovePage removes an HTML page that this program wrote.
func RemovePage(path string) error { return removeIf(path, isPage) }

// IsResults reports whether path is a regular file with results of this program in
// JSON, of any version.
func IsResults(path string) bool { return matches(path, isResults) }

func removeIf(path string, isOurs func(io.Reader) bool) error {
	if !matches(path, isOurs) {
		return nil
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove the results of an earlier run: %w", err)
	}
	return nil
}

// matches reports whether path is a regular file with content that isOurs accepts.
func matches(path string, isOurs func(io.Reader) bool) bool {
	file, err := inputfile.Open(path)
	if err != nil {
		return false
	}
	defer func() { _ = file.Close() }() // nothing was written
	return isOurs(io.LimitReader(inputfile.Text(file), reports.MaxSize))
}

// isResults reports whether the JSON document names this tool.
func isResults(r io.Reader) bool {
	var results struct {
		Tool struct {
			Name string `json:"name"`
		} `json:"tool"`
	}
	return json.NewDecoder(r).Decode(&results) == nil && results.Tool.Name == reports.ToolName
}

// isJUnit reports whether the first suite of the JUnit report has the tool's name.
func isJUnit(r io.Reader) bool { return begins(r, `<testsuite name="`+reports.ToolName+`"`) }

// isPage reports whether the head of the HTML page names this tool as its generator.
func isPage(r io.Reader) bool {
	return begins(r, `<meta name="generator" content="`+reports.ToolName+`">`)
}

// begins reports whether the beginning of the file holds the text.
func begins(r io.Reader, text string) bool {
	const head = 1024 // bytes; the name comes early
	begin, err := io.ReadAll(io.LimitReader(r, head))
	return err == nil && bytes.Contains(begin, []byte(text))
}
