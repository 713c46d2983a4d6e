package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"outreach.example/conformance/internal/envvar"
	"outreach.example/conformance/internal/inputfile"
	"outreach.example/conformance/internal/redact"
	"outreach.example/conformance/reports/view"
)

// summaryFile is the job summary in the output directory, if GitHub names no file.
const summaryFile = "summary.md"

// summaryVariable is the environment variable with the file that GitHub names.
const summaryVariable = "GITHUB_STEP_SUMMARY"

// jobSummary writes the job summary to the file that GitHub names or into the output
// directory. It does nothing in other formats.
func (f runFlags) jobSummary(all views, code int) error {
	if !f.formats.github() {
		return nil
	}
	summary := func(w io.Writer) error { return all["markdown"](w, code) }
	path := os.Getenv(summaryVariable)
	if path == "" {
		return toFile(filepath.Join(f.output, summaryFile), summary)
	}
	file, err := inputfile.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return fmt.Errorf("%s: %w", summaryVariable, err)
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
	values := valuesOf(format, os.Getenv(envvar.OfFlag(format.Name)))
	if list, ok := format.Value.(pflag.SliceValue); ok {
		values = append(values, list.GetSlice()...)
	}
	for _, value := range values {
		if slices.Contains(strings.Split(value, ","), githubFormat) {
			_ = view.Mistake(stdout, mistake) // the error itself goes to standard error
			return
		}
	}
}
