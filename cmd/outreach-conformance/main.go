// Command outreach-conformance checks whether a server implements the Outreach
// Campaign Service API v2. Its commands are thin: each parses flags, calls the
// packages below, writes their results and chooses the exit code.
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
	"log"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"outreach.example/conformance/internal/envvar"
	"outreach.example/conformance/internal/printable"
	"outreach.example/conformance/internal/redact"
	"outreach.example/conformance/reports"
	"outreach.example/conformance/reports/load"
	"outreach.example/conformance/schemas"
	"outreach.example/conformance/spec"
	"outreach.example/conformance/suites/tree"
)

// Exit codes in addition to those of a verdict.
const (
	exitUsage       = 2
	exitCannotTell  = 3
	exitInterrupted = 130
)

func main() {
	if why := tooFewThreads(); why != "" {
		say(os.Stderr, why)
		os.Exit(exitCannotTell)
	}
	log.SetOutput(io.Discard) // net/http logs responses that it did not expect, which may hold a key
	calibrator = ownNullServer()
	os.Exit(execute(os.Args[1:], ownStdout(), os.Stderr))
}

// ownStdout takes the standard output from the libraries, so that only the command prints
// there, and without keys. Ginkgo prints to it when it cannot parse a stack trace at an
// interrupt.
func ownStdout() io.Writer {
	stdout := os.Stdout
	os.Stdout = nil // a write to it fails
	return stdout
}

// execute runs one command line and returns the exit code.
func execute(args []string, stdout, stderr io.Writer) int {
	stdout, stderr = redact.Process.Writer(stdout), redact.Process.Writer(stderr)
	prepareRedaction(os.Environ())
	ctx, stop := signal.NotifyContext(context.Background(), stopSignals()...)
	defer stop()
	defer endAtSecondInterrupt()()
	root := newRoot()
	unwrittenHelp := checkHelp(root)
	root.SetArgs(args)
	root.SetOut(stdout)
	root.SetErr(stderr)
	cmd, err := root.ExecuteContextC(ctx)
	var exit exitError
	switch {
	case err == nil && unwrittenHelp() != nil:
		say(stderr, fmt.Sprintf("write the help: %v", unwrittenHelp()))
		return exitCannotTell
	case err == nil:
		return 0
	case errors.As(err, &exit):
		if exit.cause != nil {
			say(stderr, exit.cause.Error())
			annotateMistake(cmd, stdout, exit.cause)
		}
		return exit.code
	default:
		switch strings.TrimPrefix(cmd.CommandPath(), root.Name()+" ") {
		case runCommand:
			err = errors.Join(err, removeUnparsed(args, os.Getenv, defaultOutput, removeEarlier))
		case loadCommand:
			err = errors.Join(err, removeUnparsed(args, os.Getenv, defaultLoadOutput, forgetLoad))
		case loadCommand + " " + mergeCommand:
			err = errors.Join(err, removeUnparsed(args, os.Getenv, defaultLoadOutput, forgetMerged))
		}
		say(stderr, err.Error())
		annotateMistake(cmd, stdout, err)
		return exitUsage
	}
}

// prepareRedaction adds the keys of the environment, which errors could quote before
// any command reads them. The texts that reports consist of are no secrets, even if a
// part of a key is the same.
func prepareRedaction(environ []string) {
	for _, variable := range environ {
		if name, key, _ := strings.Cut(variable, "="); strings.HasPrefix(name, envvar.Prefix+"KEY_") {
			redact.Process.Learn(key, name)
		}
	}
	redact.Process.Public(string(schemas.OpenAPI()), string(reports.Schema()), string(load.Schema()))
}

// terminalOf returns the file behind an output of execute. It reports false for an
// output that is no file.
func terminalOf(w io.Writer) (*os.File, bool) {
	if gate, ok := w.(*redact.Writer); ok {
		w = gate.Unwrap()
	}
	file, ok := w.(*os.File)
	return file, ok
}

// say prints a message. It may hold arguments of the caller and words of the target, so
// that it is made printable.
func say(stderr io.Writer, message string) {
	message = strings.ReplaceAll(message, "\n\t", "\n  ") // as Cobra indents suggestions
	_, _ = fmt.Fprintf(stderr, "outreach-conformance: %s\n", printable.Lines(message))
}

// exitError is an error with the exit code of the process. The cause is printed, if
// there is one.
type exitError struct {
	code  int
	cause error
}

func (e exitError) Error() string { return fmt.Sprintf("exit %d: %v", e.code, e.cause) }

func (e exitError) Unwrap() error { return e.cause }

// interrupted is the error of a command that a signal interrupted before it had a
// result. It replaces other errors: the interrupt caused them.
var interrupted = exitError{exitInterrupted, errors.New("interrupted")}

// despite returns the exit code of a verdict if another error came up, such as a file that
// could not be written: it turns a pass into inconclusive.
func despite(failed error, code int) int {
	if failed != nil {
		return cmp.Or(code, exitCannotTell)
	}
	return code
}

// end calls summarise with the exit code of a command that has results, and returns
// an error with that code. Code is the verdict's. Failed is another error (despite).
func end(code int, failed error, summarise func(code int) error) error {
	code = despite(failed, code)
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
		// Without a command nothing is judged: exit 0 would look like a pass.
		RunE: func(*cobra.Command, []string) error {
			return errors.New("no command given (`outreach-conformance --help` lists them)")
		},
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			// Ginkgo would end the process, with the exit code of a failure.
			if _, err := os.Getwd(); err != nil {
				return exitError{exitCannotTell, fmt.Errorf("working directory: %w (start in a directory that exists)", err)}
			}
			if err := checkEnvironment(cmd.Root(), os.Environ()); err != nil {
				return err
			}
			if err := setFromEnvironment(cmd.Flags(), os.Getenv); err != nil {
				return err
			}
			if err := checkTargetIsNamed(cmd.Flags(), os.LookupEnv); err != nil {
				return err
			}
			if output := cmd.Flags().Lookup("output"); output != nil && output.Value.String() == "-" {
				return errors.New("--output -: not a directory (the summary goes to the standard output anyway)")
			}
			limitMemory(cmd)
			return refuseEmpty(cmd.Flags())
		},
	}
	root.CompletionOptions.HiddenDefaultCmd = true
	root.SetFlagErrorFunc(explainFlagError)
	root.AddCommand(newRun(), newExplore(), newLoad(), newServe(), newRequirements(), newExplain(), newOpenAPI(), newSelftest(), newTarget(), newCertify(), newReport(), newJudge(), newCleanup(), newVersion(), newNullServer())
	groupHelp(root)
	return root
}

// stamped is the version that a release build sets, with -ldflags -X.
var stamped string

// version returns the version of a release, or the module version that the build
// recorded.
func version() string {
	if stamped != "" {
		return stamped
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "(devel)"
}

func newVersion() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version, the commit and the specification",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := fmt.Fprintf(cmd.OutOrStdout(), "%s %s (%s; commit %s; %s, %s checks)\n", cmd.Root().Name(), version(), runtime.Version(),
				cmp.Or(commit(debug.ReadBuildInfo()), "unknown"), tree.Description, printable.Number(len(spec.Pairs())))
			return err
		},
	}
}

// stampedCommit is the commit that a release build sets, with -ldflags -X.
var stampedCommit string

// commit returns the commit of a release, or the one that the build recorded, or "".
func commit(info *debug.BuildInfo, ok bool) string {
	if stampedCommit != "" {
		return stampedCommit
	}
	if !ok {
		return ""
	}
	settings := map[string]string{}
	for _, s := range info.Settings {
		settings[s.Key] = s.Value
	}
	revision := settings["vcs.revision"]
	if revision != "" && settings["vcs.modified"] == "true" {
		revision += ", modified"
	}
	return revision
}
