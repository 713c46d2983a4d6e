// Command outreach-conformance checks whether a server implements the Outreach
// Campaign Service API v2. Its commands are thin: they read flags, call the
// packages below and write the results.
//
// Exit codes: 0 pass, 1 fail, 2 usage or profile error, 3 inconclusive, 130
// interrupted.
package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"

	"github.com/spf13/cobra"
)

// Exit codes besides those of a verdict.
const (
	exitUsage       = 2
	exitCannotTell  = 3
	exitInterrupted = 130
)

func main() {
	calibrator = ownNullServer()
	os.Exit(execute(os.Args[1:], os.Stdout, os.Stderr))
}

// execute runs one command line and returns the exit code.
func execute(args []string, stdout, stderr io.Writer) int {
	ctx, stop := signal.NotifyContext(context.Background(), stopSignals()...)
	defer stop()
	root := newRoot()
	root.SetArgs(args)
	root.SetOut(stdout)
	root.SetErr(stderr)
	cmd, err := root.ExecuteContextC(ctx)
	var exit exitError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &exit):
		if exit.cause != nil {
			_, _ = fmt.Fprintf(stderr, "outreach-conformance: %v\n", exit.cause)
		}
		return exit.code
	default:
		switch cmd.Name() {
		case runCommand:
			err = errors.Join(err, forgetUnread(args, os.Getenv, defaultOutput, forget))
		case loadCommand:
			err = errors.Join(err, forgetUnread(args, os.Getenv, defaultLoadOutput, forgetLoad))
		case mergeCommand:
			err = errors.Join(err, forgetUnread(args, os.Getenv, defaultLoadOutput, forgetMerged))
		}
		_, _ = fmt.Fprintf(stderr, "outreach-conformance: %v\n", err)
		return exitUsage
	}
}

// exitError ends the process with a code; the cause, if any, is printed.
type exitError struct {
	code  int
	cause error
}

func (e exitError) Error() string { return fmt.Sprintf("exit %d: %v", e.code, e.cause) }

func (e exitError) Unwrap() error { return e.cause }

// interrupted ends a command whose context has ended before it came to anything.
// What then went wrong, went wrong for that.
var interrupted = exitError{exitInterrupted, errors.New("interrupted")}

// end decides the code with which a command ends whose results say one, and has
// the summary written, which shows it. failed is what went wrong besides, such as
// a file that could not be written: it is told, and such an ending is no pass. A
// failure stays one.
func end(code int, failed error, summarise func(code int) error) error {
	if failed != nil {
		code = cmp.Or(code, exitCannotTell)
	}
	if err := summarise(code); err != nil {
		code, failed = cmp.Or(code, exitCannotTell), errors.Join(failed, fmt.Errorf("write the summary: %w", err))
	}
	if code == 0 {
		return nil
	}
	return exitError{code, failed}
}

func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:   "outreach-conformance",
		Short: "Check servers of the Outreach Campaign Service API v2",
		Long: `outreach-conformance checks whether a server really implements the Outreach
Campaign Service API v2, and how it behaves under load. Without a target it checks
its own reference server.

Every flag has an environment variable: OUTREACH_TARGET sets --target. An empty
variable counts as unset. The variable of a repeatable flag holds several values,
separated by ; or line breaks: OUTREACH_THRESHOLD='p99<1s; errors<1%'.
Variables with API keys begin with OUTREACH_KEY_, and printed commands read
OUTREACH_URL. Any other OUTREACH_ variable is an error.

Exit codes: 0 pass, 1 fail, 2 usage or profile error, 3 inconclusive,
130 interrupted.`,
		Version:       version(),
		SilenceErrors: true,
		SilenceUsage:  true,
		// Without a command nothing is judged, which must not look like a pass.
		RunE: func(*cobra.Command, []string) error {
			return errors.New("no command given (`outreach-conformance --help` lists them)")
		},
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			if err := checkEnvironment(cmd.Root(), os.Environ()); err != nil {
				return err
			}
			if err := setFromEnvironment(cmd.Flags(), os.Getenv); err != nil {
				return err
			}
			if output := cmd.Flags().Lookup("output"); output != nil && output.Value.String() == "-" {
				return errors.New("--output -: not a directory (the summary goes to the standard output anyway)")
			}
			return refuseEmpty(cmd.Flags())
		},
	}
	root.CompletionOptions.HiddenDefaultCmd = true
	root.SetFlagErrorFunc(explainFlagError)
	root.AddCommand(newRun(), newLoad(), newServe(), newRequirements(), newExplain(), newOpenAPI(), newSelftest(), newTarget(), newCleanup(), newVersion(), newNullServer())
	groupHelp(root)
	return root
}

func newVersion() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := fmt.Fprintf(cmd.OutOrStdout(), "%s %s (%s)\n", cmd.Root().Name(), version(), runtime.Version())
			return err
		},
	}
}
