package main

import (
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

	"github.com/spf13/pflag"

	"outreach.example/conformance/internal/inputfile"
	"outreach.example/conformance/internal/suggest"
	"outreach.example/conformance/reports/outputdir"
	"outreach.example/conformance/reports/view"
)

// The formats of results that the commands treat in a special way.
const (
	consoleFormat = "console"
	textFormat    = "text" // another name of console
	githubFormat  = "github"
)

// Formats of results, and of the difference between two runs.
var (
	resultFormats     = formatNames(ofRun)
	loadFormats       = formatNames(ofLoad)
	differenceFormats = formatNames(ofDifference)
)

// formats are the formats in which a command shows what it found. The zero value is
// the console.
type formats struct {
	given  []string // as the flag has them
	known  []string
	chosen []format

	resume func() error // lets the GitHub runner obey workflow commands again
}

// format is one format and its file; an empty file is the standard output.
type format struct{ name, file string }

// views write the results of a command, by the name of the format. Code is the exit code of
// the process.
type views map[string]func(w io.Writer, code int) error

// register adds the flag of the formats.
func (f *formats) register(flags *pflag.FlagSet, known []string) {
	f.known = known
	flags.StringSliceVar(&f.given, "format", nil, fmt.Sprintf("output format: %s; NAME=FILE writes it to a file; repeatable, e.g. 'console,json=r.json' (default console)", strings.Join(known, ", ")))
}

// parse reads the values of the flag.
func (f *formats) parse() error {
	f.chosen = nil
	var shown []string // on the standard output
	for _, value := range f.given {
		name, file, toFile := strings.Cut(value, "=")
		if name == textFormat {
			name = consoleFormat
		}
		chosen := format{name, file}
		switch {
		case !slices.Contains(f.known, name):
			return fmt.Errorf("--format %q: unknown format%s; want %s", value, suggest.Near(name, f.known), strings.Join(f.known, ", "))
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
func alone(name string) bool { return name != consoleFormat && name != githubFormat }

// onStdout returns the format that replaces the summary on the standard output; console
// if none does.
func (f formats) onStdout() string {
	for _, c := range f.chosen {
		if c.file == "" && alone(c.name) {
			return c.name
		}
	}
	return consoleFormat
}

func (f formats) has(c format) bool { return slices.Contains(f.chosen, c) }

// github reports whether the job summary of GitHub is to be written.
func (f formats) github() bool {
	return slices.ContainsFunc(f.chosen, func(c format) bool { return c.name == githubFormat })
}

// in calls a command in the formats. If annotations are to go to the standard output,
// the GitHub runner obeys no workflow command in what the command prints before them.
func (f *formats) in(stdout io.Writer, command func() error) error {
	if err := f.parse(); err != nil {
		return err
	}
	if !f.has(format{name: githubFormat}) {
		return command()
	}
	resume, err := view.StopCommands(stdout, rand.Text())
	if err != nil {
		return exitError{exitCannotTell, err}
	}
	f.resume = sync.OnceValue(resume)
	defer func() { _ = f.resume() }() // show has returned the error
	return command()
}

// prepare makes sure that the files can be written, and removes those of an earlier run.
// Inputs are the files that the command reads; empty names are ignored.
func (f formats) prepare(inputs ...string) error {
	for _, c := range f.chosen {
		if c.file == "" {
			continue
		}
		before, err := os.Stat(c.file)
		for _, input := range inputs {
			if info, absent := os.Stat(input); err == nil && absent == nil && os.SameFile(before, info) {
				return fmt.Errorf("--format %s=%s: would replace an input of the command (choose another file)", c.name, c.file)
			}
		}
		if err := outputdir.Prepare(filepath.Dir(c.file), filepath.Base(c.file)); err != nil {
			return fmt.Errorf("--format %s=%s: %w", c.name, c.file, err)
		}
		if err == nil && before.Mode().IsRegular() {
			if err := os.Remove(c.file); err != nil {
				return fmt.Errorf("--format %s=%s: remove the file of an earlier run: %w", c.name, c.file, err)
			}
		}
	}
	if path := os.Getenv(summaryVariable); f.github() && path != "" {
		if err := inputfile.Check(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("%s: %w", summaryVariable, err)
		}
	}
	return nil
}

// write writes the formats that have files.
func (f formats) write(all views, code int) error {
	var failed []error
	for _, c := range f.chosen {
		if c.file == "" {
			continue
		}
		err := toFile(c.file, func(w io.Writer) error { return all[c.name](w, code) })
		if err != nil {
			failed = append(failed, fmt.Errorf("--format %s=%s: %w", c.name, c.file, err))
		}
	}
	return errors.Join(failed...)
}

// show writes what goes to the standard output: the summary or the format that replaces
// it, and then annotations.
func (f formats) show(stdout io.Writer, all views, code int) error {
	if err := all[f.onStdout()](stdout, code); err != nil {
		return err
	}
	if !f.has(format{name: githubFormat}) {
		return nil
	}
	if err := f.resume(); err != nil {
		return err
	}
	return all[githubFormat](stdout, code)
}

// unjudged writes the formats of results that judge nothing. The error of the command is
// its annotation.
func (f formats) unjudged(stdout io.Writer, all views, code int) error {
	return errors.Join(f.write(all, code), all[f.onStdout()](stdout, code))
}
