package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"outreach.example/conformance/internal/envvar"
	"outreach.example/conformance/internal/redact"
	"outreach.example/conformance/reports/github"
)

// The formats of the output of a run.
const (
	textFormat   = "text"
	githubFormat = "github"
)

// summaryFile is the job summary in the output directory, if GitHub names no file.
const summaryFile = "summary.md"

// registerFormat adds the flag of the output format.
func registerFormat(flags *pflag.FlagSet, format *string) {
	flags.StringVar(format, "format", textFormat, "output format: text, or github to add annotations and a job summary ($GITHUB_STEP_SUMMARY, or summary.md)")
}

// runInFormat calls run in the format of the flag.
func (f runFlags) runInFormat(ctx context.Context, stdout, stderr io.Writer) error {
	return f.inFormat(stdout, func() error { return f.run(ctx, stdout, stderr) })
}

// inFormat calls a command that has results. In the format of GitHub, the runner obeys
// no workflow command in what the command prints until f.annotate adds annotations.
func (f *runFlags) inFormat(stdout io.Writer, command func() error) error {
	switch f.format {
	case textFormat:
		return command()
	case githubFormat:
	default:
		return fmt.Errorf("--format %q: want %s or %s", f.format, textFormat, githubFormat)
	}
	resume, err := github.Stop(stdout, rand.Text())
	if err != nil {
		return exitError{exitCannotTell, err}
	}
	f.resume = sync.OnceValue(resume)
	defer func() { _ = f.resume() }() // annotate has returned the error
	return command()
}

// annotate lets the runner obey workflow commands again, and writes annotations. It does
// nothing in other formats.
func (f runFlags) annotate(stdout io.Writer, write func(io.Writer) error) error {
	if f.format != githubFormat {
		return nil
	}
	if err := f.resume(); err != nil {
		return err
	}
	return write(stdout)
}

// jobSummary writes the job summary to the file that GitHub names or into the output
// directory. It does nothing in other formats.
func (f runFlags) jobSummary(summary func(io.Writer) error) error {
	if f.format != githubFormat {
		return nil
	}
	path := os.Getenv("GITHUB_STEP_SUMMARY")
	if path == "" {
		return toFile(filepath.Join(f.output, summaryFile), summary)
	}
	file, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644) //nolint:gosec // the runner reads it
	if err != nil {
		return err
	}
	return errors.Join(summary(redact.Process.Writer(file)), file.Close())
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
