// Command outreach-conformance checks whether a server implements the Outreach
// Campaign Service API v2. Its commands are thin: each parses flags, calls the
// packages below, writes their results and chooses the exit code.
//
// Exit codes: 0 pass, 1 fail, 2 usage or profile error, 3 inconclusive, 130
// interrupted.
package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"unicode"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"outreach.example/conformance/fixtures/target"
	"outreach.example/conformance/internal/envvar"

	"outreach.example/conformance/internal/disk"
	"outreach.example/conformance/internal/printable"
	"outreach.example/conformance/internal/redact"
	"outreach.example/conformance/reports"
	"outreach.example/conformance/reports/load"
	"outreach.example/conformance/reports/publish"
	"outreach.example/conformance/reports/view"
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
	ctx, _ := signal.NotifyContext(context.Background(), stopSignals()...) // until the process ends
	endAtSecondInterrupt()
	os.Exit(execute(ctx, os.Args[1:], ownStdout(), os.Stderr))
}

// ownStdout takes the standard output from the libraries, so that only the command prints
// there, and without keys. Ginkgo prints to it when it cannot parse a stack trace at an
// interrupt.
func ownStdout() io.Writer {
	stdout := os.Stdout
	os.Stdout = nil // a write to it fails
	return stdout
}

// execute runs one command line and returns the exit code. The end of the context interrupts it.
func execute(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	stdout, stderr = redact.Process.Writer(stdout), redact.Process.Writer(stderr)
	prepareRedaction(os.Environ())
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
	}
	// The command line is wrong, so that nothing was judged.
	err = errors.Join(err, forgetUnparsed(cmd, args))
	say(stderr, err.Error())
	annotateMistake(cmd, stdout, err)
	return exitUsage
}

// forgetUnparsed removes the earlier results in the output directory of a command that could
// not begin. It looks for the directory in the arguments and the environment. It removes
// nothing if another value leads to the directory or to results in it: that may be the
// baseline, or what --only-failed repeats.
func forgetUnparsed(cmd *cobra.Command, args []string) error {
	files := forgotten[strings.TrimPrefix(cmd.CommandPath(), cmd.Root().Name()+" ")]
	if files == nil {
		return nil
	}
	dir, values, before := "", []string{}, ""
	for _, name := range []string{"baseline", "threshold", "only-failed"} {
		values = append(values, os.Getenv(envvar.OfFlag(name)))
	}
	for _, arg := range args {
		flag, value, joined := strings.Cut(arg, "=")
		short, behind := outputIn(cmd, flag)
		switch before, _ := outputIn(cmd, before); {
		case arg == "--list": // which writes nothing
			return nil
		case before:
			dir = arg
		case joined && (short || flag == "--output"):
			dir = value
		case behind != "":
			dir = behind + strings.TrimPrefix(arg, flag)
		default:
			values = append(values, arg, value)
		}
		before = arg
	}
	dir = cmp.Or(dir, os.Getenv(envvar.OfFlag("output")), cmd.Flag("output").DefValue)
	for _, value := range values {
		for one := range strings.SplitSeq(value, ",") { // a variable holds a list of thresholds
			_, compared, _ := strings.Cut(one, " vs ")
			for _, kept := range []string{dir, filepath.Join(dir, loadFile), filepath.Join(dir, resultsFile)} {
				if disk.Same(value, kept) || disk.Same(compared, kept) {
					return nil
				}
			}
		}
	}
	return disk.Forget(dir, files...)
}

// outputIn reports whether the argument ends with the flag of the output directory, alone or behind
// letters that take no value, or else returns the value behind it.
func outputIn(cmd *cobra.Command, arg string) (ends bool, value string) {
	letters, short := strings.CutPrefix(arg, "-")
	if !short || strings.HasPrefix(letters, "-") {
		return arg == "--output", ""
	}
	for i, letter := range letters {
		if letter == 'o' {
			return i == len(letters)-1, letters[i+1:]
		}
		if letter > unicode.MaxASCII {
			break
		}
		if flag := cmd.Flags().ShorthandLookup(string(letter)); flag == nil || flag.NoOptDefVal == "" {
			break
		}
	}
	return false, ""
}

// forgotten are the files of an earlier run that a command must not leave, by the command.
var forgotten = map[string][]string{runCommand: verdictFiles, loadCommand: loadFiles, loadCommand + " " + mergeCommand: mergedFiles,
	certifyCommand: certifiedFiles, "explore": verdictFiles, "judge": judgedFiles, "report " + mergeCommand: verdictFiles}

// annotateMistake writes an annotation for the error of a command, if its output has
// the format of GitHub.
func annotateMistake(cmd *cobra.Command, stdout io.Writer, mistake error) {
	format := cmd.Flags().Lookup("format")
	if format == nil {
		return
	}
	// A flag after the mistake and the environment were not read.
	values := Values(format, os.Getenv(envvar.OfFlag(format.Name)))
	if list, ok := format.Value.(pflag.SliceValue); ok {
		values = append(values, list.GetSlice()...)
	}
	for _, value := range values {
		if slices.Contains(strings.Split(value, ","), publish.GitHub) {
			_ = view.Mistake(stdout, mistake) // the error itself goes to standard error
			return
		}
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

// say prints a message. It may hold arguments of the caller and words of the target, so
// that it is made printable.
func say(stderr io.Writer, message string) {
	message = strings.ReplaceAll(message, "\n\t", "\n  ") // as Cobra indents suggestions
	_, _ = fmt.Fprintf(stderr, "outreach-conformance: %s\n", printable.Lines(message))
}

// exitError is an error with the exit code of the process. The cause is printed, if
// there is one. It is final if an interrupt does not replace it.
type exitError struct {
	code  int
	cause error
	final bool
}

func (e exitError) Error() string { return fmt.Sprintf("exit %d: %v", e.code, e.cause) }

func (e exitError) Unwrap() error { return e.cause }

// cannotTell returns the error of a command that is inconclusive.
func cannotTell(err error) error { return exitError{code: exitCannotTell, cause: err} }

// interrupted is the error of a command that a signal interrupted before it had a
// result.
var interrupted = exitError{exitInterrupted, errors.New("interrupted"), true}

func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:   "outreach-conformance",
		Short: "Check servers of the Outreach Campaign Service API v2",
		Long: `outreach-conformance checks whether a server really implements the Outreach
Campaign Service API v2, and how it behaves under load. Without a target it checks
its own reference server.

Every flag has an environment variable: OUTREACH_TARGET sets --target. An empty
variable counts as unset, but an empty OUTREACH_TARGET is an error. The variable
of a repeatable flag holds several values, separated by ; or line breaks:
OUTREACH_THRESHOLD='p99<1s; errors<1%'.
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
				return cannotTell(fmt.Errorf("working directory: %w (start in a directory that exists)", err))
			}
			if err := Complete(cmd, "truth-addr", "webhook-url"); err != nil {
				return err
			}
			if err := checkTargetIsNamed(cmd.Flags()); err != nil {
				return err
			}
			if output := cmd.Flags().Lookup("output"); output != nil && output.Value.String() == "-" {
				return errors.New("--output -: not a directory (the summary goes to the standard output anyway)")
			}
			limitMemory(cmd)
			return nil
		},
	}
	root.CompletionOptions.HiddenDefaultCmd = true
	root.SetFlagErrorFunc(Explain)
	root.AddCommand(newRun(), newExplore(), newLoad(), newServe(), newRequirements(), newExplain(), newOpenAPI(), newSelftest(), newTarget(), newCertify(), newReport(), newJudge(), newCleanup(), newVersion(), newNullServer())
	GroupHelp(root)
	return root
}

// checkTargetIsNamed returns an error if the variable of the target is set but empty, and
// nothing else names a target. A step of a pipeline that should have set it has failed:
// the embedded server, which passes, is not what the user wants to judge.
func checkTargetIsNamed(flags *pflag.FlagSet) error {
	if flags.Lookup("target") == nil || flags.Changed("target") || flags.Changed("target-profile") {
		return nil
	}
	if value, set := os.LookupEnv(target.EnvTarget); set && value == "" {
		return fmt.Errorf("%s is set, but empty: it names no target (unset it, or set it to embedded, to judge the embedded server)", target.EnvTarget)
	}
	return nil
}

// checkHelp lets help be written at once, and returns a function with the error of that:
// Cobra ignores it.
func checkHelp(root *cobra.Command) (unwritten func() error) {
	var failed error
	help := root.HelpFunc()
	root.SetHelpFunc(func(cmd *cobra.Command, args []string) {
		out, text := cmd.OutOrStdout(), &bytes.Buffer{}
		cmd.SetOut(text)
		help(cmd, args)
		cmd.SetOut(out)
		_, failed = out.Write(text.Bytes())
	})
	return func() error { return failed }
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
				cmp.Or(commit(), "unknown"), tree.Description, printable.Number(len(spec.Pairs())))
			return err
		},
	}
}

// stampedCommit is the commit that a release build sets, with -ldflags -X.
var stampedCommit string

// commit returns the commit of a release, or the one that the build recorded, or "".
func commit() string {
	info, ok := debug.ReadBuildInfo()
	if stampedCommit != "" || !ok {
		return stampedCommit
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
