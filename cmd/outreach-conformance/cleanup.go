package main

import (
	"context"
	"fmt"
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
	f := &struct{ session }{at(defaultOutput)}
	return command(&cobra.Command{
		Use:   "cleanup",
		Short: "Roll back what a killed run changed on its target",
		Long: `cleanup reads the journals that killed runs left in the output directory and rolls
back their changes: it deletes the tests that they created and moves accounts
back. It skips journals of other targets and of runs in progress. For a target in
containers it removes the containers that killed runs left.`,
		Example: `  outreach-conformance cleanup --target http://127.0.0.1:8025`,
	}, f, "Target: target target-profile\nPace:"+paceFlags+"\nOutput: output", f.cleanup,
		"{target}", "its address without /api/v2 (default: that of the target profile)")
}

func (s *session) cleanup(ctx context.Context, _ []string) error {
	if profile, err := s.OpenProfile(); err == nil && profile.Container != nil {
		if err := container.Sweep(ctx); err != nil {
			return cannotTell(err)
		}
		s.print("no containers of killed runs are left\n")
		return nil
	}
	t, stop, err := s.open(ctx)
	if err != nil {
		return err
	}
	defer stop()
	api, err := t.Client(client.Options{})
	if err != nil {
		return err
	}
	defer api.Close()
	lines, err := sandbox.Cleanup(ctx, api, t.Profile, s.Output, nil)
	for _, line := range lines {
		s.print("%s\n", printable.Text(line))
	}
	if err != nil {
		return exitError{exitCannotTell, err, true}
	}
	if len(lines) == 0 {
		s.print("nothing to roll back: no journal in %s\n", printable.Text(s.Output))
	}
	return nil
}

// journals returns the directory for the journal of a run. It is empty if the target
// ends with the run, because its data end with it.
func (s *session) journals(t *target.Target) string {
	if t.Kind != target.KindURL {
		return ""
	}
	return s.Output
}

// printLeftovers prints which changes may be left on the target, and how to roll them back,
// if there are any. run is the id of the run that has ended.
func (s *session) printLeftovers(t *target.Target, run string) {
	if s.journals(t) == "" {
		return
	}
	if why := sandbox.Unsettled(s.Output, t.BaseURL, run); len(why) > 0 {
		s.printCleanup(t, ": "+strings.Join(why, ", "))
	}
}

func (s *session) printCleanup(t *target.Target, why string) {
	s.say("changes may be left on the target" + why + "; roll them back with: " + s.cleanupOf(t))
}

// cleanupOf returns the command line that rolls back the changes of runs with these
// flags, for a POSIX shell in the same directory.
func (s *session) cleanupOf(t *target.Target) string {
	words := []string{"outreach-conformance", "cleanup", "--target", t.BaseURL, "--output", s.Output}
	if s.Source.Profile != "" {
		words = append(words, "--target-profile", s.Source.Profile)
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
