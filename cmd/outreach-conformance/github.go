package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"

	"github.com/spf13/cobra"

	"outreach.example/conformance/internal/envvar"
	"outreach.example/conformance/reports"
	"outreach.example/conformance/reports/github"
)

// The formats of the output of a run.
const (
	textFormat   = "text"
	githubFormat = "github"
)

// summaryFile is the job summary in the output directory, if GitHub names no file.
const summaryFile = "summary.md"

// runInFormat calls run. In the format of GitHub, the runner obeys no workflow command
// in what run prints, and report adds annotations and a job summary.
func (f runFlags) runInFormat(ctx context.Context, stdout, stderr io.Writer) error {
	switch f.format {
	case textFormat:
		return f.run(ctx, stdout, stderr)
	case githubFormat:
	default:
		return fmt.Errorf("--format %q: want %s or %s", f.format, textFormat, githubFormat)
	}
	resume, err := github.Stop(stdout, rand.Text())
	if err != nil {
		return exitError{exitCannotTell, err}
	}
	f.resume = sync.OnceValue(resume)
	defer func() { _ = f.resume() }() // report has returned the error
	return f.run(ctx, stdout, stderr)
}

// onGitHub writes annotations to stdout, and the job summary to the file that GitHub
// names or into the output directory. It does nothing in other formats.
func (f runFlags) onGitHub(stdout io.Writer, results reports.Results, code int) error {
	if f.format != githubFormat {
		return nil
	}
	if err := f.resume(); err != nil {
		return err
	}
	if err := github.Annotate(stdout, results, code); err != nil {
		return err
	}
	summarise := func(w io.Writer) error { return github.Summary(w, results, code) }
	path := os.Getenv("GITHUB_STEP_SUMMARY")
	if path == "" {
		return toFile(filepath.Join(f.output, summaryFile), summarise)
	}
	file, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644) //nolint:gosec // the runner reads it
	if err != nil {
		return err
	}
	err = summarise(file)
	if closed := file.Close(); err == nil {
		err = closed
	}
	return err
}

// annotateMistake writes an annotation for the error of a command, if its output has
// the format of GitHub.
func annotateMistake(cmd *cobra.Command, stdout io.Writer, mistake error) {
	format := cmd.Flags().Lookup("format")
	if format == nil {
		return
	}
	// A flag after the mistake and the environment were not read.
	if format.Value.String() == githubFormat || os.Getenv(envvar.OfFlag(format.Name)) == githubFormat {
		_ = github.Mistake(stdout, mistake) // the error itself goes to standard error
	}
}
