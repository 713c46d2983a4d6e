// Package publish writes the results of a command in the formats that the user chose: into
// files, on the standard output, and as the job summary of GitHub.
//
// It shows what package view shows, and judges nothing.
package publish

import (
	"cmp"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"outreach.example/conformance/internal/disk"

	"outreach.example/conformance/internal/pattern"
	"outreach.example/conformance/internal/redact"
	"outreach.example/conformance/reports"

	"outreach.example/conformance/reports/view"
)

// The formats that are treated in a special way.
const (
	Console = "console"
	GitHub  = "github"
)

// SummaryFile is the job summary in the output directory, if GitHub names no file.
const SummaryFile = "summary.md"

// summaryVariable is the environment variable with the file that GitHub names.
const summaryVariable = "GITHUB_STEP_SUMMARY"

// Formats are the formats in which a command shows its results. The zero value is the console.
type Formats struct {
	Format []string `flag:"format" usage:"output format: {formats}; NAME=FILE writes it to a file; repeatable, e.g. 'console,json=r.json' (default console)"`
	chosen []format

	resume func() error // lets the GitHub runner obey workflow commands again
}

// format is one format and its file; an empty file is the standard output.
type format struct{ name, file string }

// Parse reads the values of the flag, for a command that knows these formats.
func (f *Formats) Parse(known []string) error {
	var shown []string // on the standard output
	for _, value := range f.Format {
		name, file, toFile := strings.Cut(value, "=")
		chosen := format{name, file}
		switch {
		case !slices.Contains(known, name):
			return fmt.Errorf("--format %q: unknown format%s; want %s", value, pattern.Near(name, known), strings.Join(known, ", "))
		case toFile && file == "":
			return fmt.Errorf("--format %q: no file after = (leave out = for the standard output)", value)
		case slices.Contains(f.chosen, chosen):
			continue
		case toFile && slices.ContainsFunc(f.chosen, func(other format) bool { return filepath.Clean(other.file) == filepath.Clean(file) }):
			return fmt.Errorf("--format %q: another format has the same file", value)
		case !toFile:
			shown = append(shown, name)
		}
		f.chosen = append(f.chosen, chosen)
	}
	if i := slices.IndexFunc(shown, alone); i >= 0 && len(shown) > 1 {
		return fmt.Errorf("--format %s: only one format fits on the standard output (give the others files, such as %s=FILE)", strings.Join(shown, ","), shown[i])
	}
	return nil
}

// alone reports whether nothing else may be on the standard output.
func alone(name string) bool { return name != Console && name != GitHub }

// OnStdout returns the format that replaces the summary on the standard output; Console if
// none does.
func (f *Formats) OnStdout() string {
	for _, c := range f.chosen {
		if c.file == "" && alone(c.name) {
			return c.name
		}
	}
	return Console
}

// Annotates reports whether annotations follow on the standard output.
func (f *Formats) Annotates() bool { return slices.Contains(f.chosen, format{name: GitHub}) }

// summarises reports whether the job summary of GitHub is to be written.
func (f *Formats) summarises() bool {
	return slices.ContainsFunc(f.chosen, func(c format) bool { return c.name == GitHub })
}

// Begin must be called before a command prints. If annotations are to go to the standard output,
// the GitHub runner then obeys no workflow command in what the command prints before them.
func (f *Formats) Begin(stdout io.Writer) error {
	f.resume = func() error { return nil }
	if !f.Annotates() {
		return nil
	}
	resume, err := view.StopCommands(stdout, rand.Text())
	f.resume = sync.OnceValue(resume)
	return err
}

// End must be called after Begin, if Publish was not.
func (f *Formats) End() { _ = f.resume() }

// Prepare makes sure that the files can be written, and removes those of an earlier run.
// Inputs are the files that the command reads; empty names are ignored.
func (f *Formats) Prepare(inputs ...string) error {
	for _, c := range f.chosen {
		if c.file == "" {
			continue
		}
		before, err := os.Stat(c.file)
		if slices.ContainsFunc(inputs, func(input string) bool { return disk.Same(c.file, input) }) {
			return fmt.Errorf("--format %s=%s: would replace an input of the command (choose another file)", c.name, c.file)
		}
		if err := disk.Prepare(filepath.Dir(c.file), filepath.Base(c.file)); err != nil {
			return fmt.Errorf("--format %s=%s: %w", c.name, c.file, err)
		}
		if err == nil && before.Mode().IsRegular() {
			if err := os.Remove(c.file); err != nil {
				return fmt.Errorf("--format %s=%s: remove the file of an earlier run: %w", c.name, c.file, err)
			}
		}
	}
	if path := os.Getenv(summaryVariable); f.summarises() && path != "" {
		if err := disk.Check(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("%s: %w", summaryVariable, err)
		}
	}
	return nil
}

// Despite returns the exit code of a verdict if another error came up, such as a file that
// could not be written: it turns a pass into inconclusive.
func Despite(failed error, code int) int {
	if failed != nil {
		return cmp.Or(code, reports.Inconclusive.ExitCode())
	}
	return code
}

// Publish writes the formats with files and the job summary, and then shows the others. Code is
// that of the verdict, and failed an error before. It returns the exit code of the process.
func (f *Formats) Publish(stdout io.Writer, dir string, all Views, code int, failed error) (int, error) {
	failed = errors.Join(failed, f.write(dir, all, Despite(failed, code)))
	code = Despite(failed, code)
	err := all[f.OnStdout()](stdout, code) // the summary names the exit code
	if err == nil && f.Annotates() {
		if err = f.resume(); err == nil {
			err = all[GitHub](stdout, code)
		}
	}
	if err != nil {
		failed = errors.Join(failed, fmt.Errorf("write the summary: %w", err))
	}
	return Despite(failed, code), failed
}

// Unjudged writes the formats of results that judge nothing. The error of the command is its
// annotation.
func (f *Formats) Unjudged(stdout io.Writer, dir string, all Views, code int) error {
	return errors.Join(f.write(dir, all, code), all[f.OnStdout()](stdout, code))
}

// write writes the formats that have files, and the job summary.
func (f *Formats) write(dir string, all Views, code int) error {
	var failed []error
	for _, c := range f.chosen {
		if c.file == "" {
			continue
		}
		if err := disk.Stream(c.file, func(w io.Writer) error { return all[c.name](w, code) }); err != nil {
			failed = append(failed, fmt.Errorf("--format %s=%s: %w", c.name, c.file, err))
		}
	}
	if f.summarises() {
		if err := summarise(dir, func(w io.Writer) error { return all["markdown"](w, Despite(errors.Join(failed...), code)) }); err != nil {
			failed = append(failed, fmt.Errorf("write the job summary: %w", err))
		}
	}
	return errors.Join(failed...)
}

// summarise writes the job summary to the file that GitHub names, or into the directory, if there
// is one.
func summarise(dir string, write func(io.Writer) error) error {
	path := os.Getenv(summaryVariable)
	switch {
	case path == "" && dir == "":
		return nil
	case path == "":
		return disk.Stream(filepath.Join(dir, SummaryFile), write)
	}
	file, err := disk.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return fmt.Errorf("%s: %w", summaryVariable, err)
	}
	return errors.Join(write(redact.Process.Writer(file)), file.Close())
}
