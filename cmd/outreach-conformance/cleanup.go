package main

import (
	"context"
	"fmt"
	"io"
	"regexp"
	"strings"

	"github.com/spf13/cobra"

	"outreach.example/conformance/fixtures/target"
	"outreach.example/conformance/fixtures/target/container"
	"outreach.example/conformance/internal/client"
	"outreach.example/conformance/internal/printable"
	"outreach.example/conformance/internal/sandbox"
)

func newCleanup() *cobra.Command {
	var f runFlags
	cmd := &cobra.Command{
		Use:   "cleanup",
		Short: "Roll back what a killed run changed on its target",
		Long: `cleanup reads the journals that killed runs left in the output directory and rolls
back their changes: it deletes the tests that they created and moves accounts
back. It skips journals of other targets and of runs in progress. For a target in
containers it removes the containers that killed runs left.`,
		Example: `  outreach-conformance cleanup --target http://127.0.0.1:8025`,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return f.cleanup(cmd.Context(), cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	flags := cmd.Flags()
	group(flags, "Target", func() {
		flags.StringVarP(&f.target, "target", "t", "", "the server under test: its address without /api/v2 (default: that of the target profile)")
		flags.StringVar(&f.targetProfile, "target-profile", "", targetProfileUsage)
	})
	group(flags, "Pace", func() { f.registerPace(flags) })
	group(flags, "Output", func() {
		registerOutput(flags, &f.output, defaultOutput)
	})
	return cmd
}

func (f runFlags) cleanup(ctx context.Context, stdout, stderr io.Writer) error {
	if profile, err := f.profile(); err == nil && profile.Container != nil {
		if err := container.Sweep(ctx); err != nil {
			return exitError{exitCannotTell, err}
		}
		_, _ = fmt.Fprintln(stdout, "no containers of killed runs are left")
		return nil
	}
	t, stop, err := f.start(ctx, stderr)
	if err != nil {
		return err
	}
	defer stop()
	api, err := t.Client(client.Options{})
	if err != nil {
		return exitError{exitUsage, err}
	}
	defer api.Close()
	lines, err := sandbox.Cleanup(ctx, api, t.Profile, f.output, nil)
	for _, line := range lines {
		_, _ = fmt.Fprintln(stdout, printable.Text(line))
	}
	if err != nil {
		return exitError{exitCannotTell, err}
	}
	if len(lines) == 0 {
		_, _ = fmt.Fprintf(stdout, "nothing to roll back: no journal in %s\n", printable.Text(f.output))
	}
	return nil
}

// journals returns the directory for the journal of a run. It is empty if the target
// ends with the run, because its data end with it.
func (f runFlags) journals(t *target.Target) string {
	if t.Kind != target.KindURL {
		return ""
	}
	return f.output
}

// printLeftovers prints which changes may be left on the target, and how to roll them back,
// if there are any. run is the id of the run that has ended.
func (f runFlags) printLeftovers(t *target.Target, run string, stderr io.Writer) {
	if f.journals(t) == "" {
		return
	}
	if why := sandbox.Unsettled(f.output, t.BaseURL, run); len(why) > 0 {
		f.printCleanup(t, ": "+strings.Join(why, ", "), stderr)
	}
}

func (f runFlags) printCleanup(t *target.Target, why string, stderr io.Writer) {
	say(stderr, "changes may be left on the target"+why+"; roll them back with: "+f.cleanupOf(t))
}

// cleanupOf returns the command line that rolls back the changes of runs with these
// flags, for a POSIX shell in the same directory.
func (f runFlags) cleanupOf(t *target.Target) string {
	words := []string{"outreach-conformance", "cleanup", "--target", t.BaseURL, "--output", f.output}
	if f.targetProfile != "" {
		words = append(words, "--target-profile", f.targetProfile)
	}
	for i, word := range words {
		words[i] = quoted(word)
	}
	return strings.Join(words, " ")
}

var plainWord = regexp.MustCompile(`^[A-Za-z0-9_%+=:,./@-]+$`)

// quoted returns the text as one word for a POSIX shell. Bytes that cannot be printed are
// escaped as the standard of 2024 allows.
func quoted(text string) string {
	if plainWord.MatchString(text) {
		return text
	}
	if printable.Text(text) != text {
		var b strings.Builder
		for _, c := range []byte(text) {
			if c > ' ' && c < 0x7f && c != '\'' && c != '\\' {
				b.WriteByte(c)
			} else {
				fmt.Fprintf(&b, `\%03o`, c)
			}
		}
		return "$'" + b.String() + "'"
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}
