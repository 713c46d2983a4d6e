package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/fixtures/target"

	"outreach.example/conformance/internal/disk"
	"outreach.example/conformance/internal/printable"
	"outreach.example/conformance/reports"
	"outreach.example/conformance/reports/publish"
	"outreach.example/conformance/spec"
)

// session is what the options of all commands hold: the target, where results go, and the
// standard streams.
type session struct {
	target.Source
	publish.Formats
	Output  string `flag:"output,o" usage:"directory for results, logs and journals"`
	Verbose bool   `flag:"verbose,v" usage:"show more: {verbose}"`
	Quiet   bool   `flag:"quiet,q" usage:"show only failures and the last line, and no progress"`

	*Set
	known    []string // formats
	in       io.Reader
	out, err io.Writer
}

func (s *session) base() *session { return s }

// at returns the session of a command whose results go to the directory.
func at(output string, formats ...string) session {
	return session{Source: target.Source{Data: dataset.DefaultOptions()}, Output: output, known: formats}
}

// Lines of layouts (Bind) that several commands have.
const (
	targetFlags = "\nTarget: target target-profile wait"
	paceFlags   = " requests-per-second concurrency timeout patience user-agent"
)

// command completes a command. Its flags are those of the layout, bound to its options. An
// error of act without an exit code is one of usage.
func command(c *cobra.Command, o interface{ base() *session }, layout string, act func(ctx context.Context, args []string) error, words ...string) *cobra.Command {
	s := o.base()
	s.Set = Bind(c.Flags(), o, strings.TrimSpace(layout), append(words,
		"{target}", "embedded, an address without /api/v2, image:NAME or dockerfile:PATH (default: that of the profile, or embedded)", "{profile}", "that of the reference server",
		"{profiles}", fmt.Sprint(spec.Profiles()), "{groups}", fmt.Sprint(spec.Groups()), "{formats}", strings.Join(s.known, ", "),
		"{verbose}", "every violation and observation")...)
	if c.Args == nil {
		c.Args = cobra.NoArgs
	}
	c.RunE = func(cmd *cobra.Command, args []string) error {
		s.Parsed()
		s.in, s.out, s.err = cmd.InOrStdin(), cmd.OutOrStdout(), cmd.ErrOrStderr()
		if err := s.Parse(s.known); err != nil {
			return err
		}
		if err := s.Begin(s.out); err != nil {
			return cannotTell(err)
		}
		defer s.End()
		err := act(cmd.Context(), args)
		var exit exitError
		switch coded := errors.As(err, &exit); {
		case err != nil && cmd.Context().Err() != nil && !exit.final:
			return interrupted // which caused the error
		case err != nil && !coded:
			return exitError{code: exitUsage, cause: err}
		}
		return err
	}
	return c
}

// say prints a message on the error stream.
func (s *session) say(message string) { say(s.err, message) }

// print prints a part of what the command has found.
func (s *session) print(format string, args ...any) { _, _ = fmt.Fprintf(s.out, format, args...) }

// sayFirst prints the first lines of a list; all of them if the user wants more.
func (s *session) sayFirst(lines []string) {
	most := 20
	if s.Verbose {
		most = len(lines)
	}
	for _, line := range lines[:min(most, len(lines))] {
		s.print("    %s\n", printable.Text(line))
	}
	if more := len(lines) - most; more > 0 {
		s.print("    … and %s more\n", printable.Number(more))
	}
}

// prepare makes sure that the files can be written into the output directory, and the formats.
// Inputs are the files that the command reads.
func (s *session) prepare(inputs []string, files ...string) error {
	if err := disk.Prepare(s.Output, files...); err != nil {
		return fmt.Errorf("output directory: %w", err)
	}
	for _, dir := range slices.Clone(inputs) { // a directory stands for what it holds
		for _, file := range []string{resultsFile, loadFile, partFile} {
			inputs = append(inputs, filepath.Join(dir, file))
		}
	}
	return s.Formats.Prepare(inputs...)
}

// conclude publishes the results, and returns an error with the exit code of the verdict.
// Failed is the error of what was written before.
func (s *session) conclude(all publish.Views, code int, failed error) error {
	if code, failed = s.Publish(s.out, s.Output, all, code, failed); code == 0 {
		return nil
	}
	return exitError{code, failed, true}
}

// drawn returns the seed, or a random one for 0.
func drawn(seed uint64) (uint64, error) {
	if seed > math.MaxInt64 {
		return 0, fmt.Errorf("--seed %d: want at most %d", seed, math.MaxInt64)
	}
	if seed == 0 {
		seed = 1 + rand.Uint64N(1<<31)
	}
	return seed, nil
}

// thisTool identifies this program.
func thisTool() reports.Tool {
	return reports.Tool{Name: reports.ToolName, Version: version(), Go: runtime.Version(), Commit: commit()}
}

// everySecond calls the function every second until stop is called.
func everySecond(call func()) (stop func()) {
	ticker, done, ended := time.NewTicker(time.Second), make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for {
			select {
			case <-ticker.C:
				call()
			case <-done:
				return
			}
		}
	}()
	return func() {
		ticker.Stop()
		close(done)
		<-ended
	}
}
