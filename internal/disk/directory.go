package disk

// This file prepares the directory into which a command writes its
// results: it makes sure that files can be written, and removes the results of an
// earlier run. It recognises these by their content, so that it never removes a
// file that another program wrote.

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

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
			if err := Check(path); err != nil {
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

// Same reports whether both paths lead to the same file or directory.
func Same(a, b string) bool {
	one, err := os.Stat(a)
	if err != nil {
		return false
	}
	other, err := os.Stat(b)
	return err == nil && os.SameFile(one, other)
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

// Forget removes the results of an earlier command from the directory, the files with these names:
// a command that ends before it has judged must not leave an old pass. Files that another
// program wrote stay, unless the first file is ours: then the command had written the others.
func Forget(dir string, names ...string) error {
	marked := isOurs(filepath.Join(dir, names[0]))
	var failed []error
	for _, name := range slices.Backward(names) { // the first one last: it marks the others
		path := filepath.Join(dir, name)
		if !marked && !isOurs(path) {
			continue
		}
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			failed = append(failed, fmt.Errorf("remove the results of an earlier run: %w", err))
		}
	}
	return errors.Join(failed...)
}

// isOurs reports whether path is a regular file whose content names this tool.
func isOurs(path string) bool {
	names, speaks := map[string]func(io.Reader) bool{".json": isResults, ".xml": isJUnit, ".html": isPage}[filepath.Ext(path)]
	if !speaks {
		return false
	}
	file, err := Open(path)
	if err != nil {
		return false
	}
	defer func() { _ = file.Close() }() // nothing was written
	const most = 128 << 20              // bytes: that of the largest results
	return names(io.LimitReader(Text(file), most))
}

// isResults reports whether the JSON document, or the results in a part of a run, name this tool.
func isResults(r io.Reader) bool {
	type tool struct {
		Name string `json:"name"`
	}
	var file struct {
		Tool    tool `json:"tool"`
		Results struct {
			Tool tool `json:"tool"`
		} `json:"results"`
	}
	return json.NewDecoder(r).Decode(&file) == nil && (file.Tool.Name == reports.ToolName || file.Results.Tool.Name == reports.ToolName)
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
