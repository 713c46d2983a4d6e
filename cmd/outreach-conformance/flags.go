package main

import (
	"bytes"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/internal/envvar"
	"outreach.example/conformance/spec"
)

// Usage texts of flags that several commands have. A name means the same on every
// command: TestFlagsHaveOneMeaning compares the first clauses.
const (
	targetUsage        = "the server under test: embedded, an address without /api/v2, image:NAME or dockerfile:PATH"
	targetProfileUsage = "description of the target: embedded, mock, a YAML file, or - for the standard input (default: that of the reference server)"
	rowsUsage          = "rows in each list of the reference server's main workspace"
	concurrencyUsage   = "maximum number of requests in flight"
	maxRequestsUsage   = "maximum number of requests, 0 is unlimited"
	waitUsage          = "how long to wait until the server at an address answers, such as 60s"
)

func (f *runFlags) registerTarget(flags *pflag.FlagSet) {
	f.flags = flags
	flags.StringVarP(&f.target, "target", "t", embeddedTarget, targetUsage)
	flags.StringVar(&f.targetProfile, "target-profile", "", targetProfileUsage)
	flags.DurationVar(&f.wait, "wait", 0, waitUsage+" (overrides wait in the target profile)")
}

// registerSelection adds the flags that select requirements and operations.
func (f *runFlags) registerSelection(flags *pflag.FlagSet, profiles []string) {
	flags.StringSliceVarP(&f.profiles, "profile", "p", profiles, fmt.Sprintf("sets of requirements: %v (the target is described by --target-profile)", spec.Profiles()))
	f.registerOperations(flags)
	flags.StringSliceVar(&f.requirements, "requirement", nil, "only these requirements, e.g. 'AUTH-*'")
	flags.StringSliceVar(&f.groups, "group", nil, fmt.Sprintf("only these groups of requirements: %v", spec.Groups()))
}

// registerOperations adds the flag that selects operations. It narrows the operations
// of the target profile.
func (f *runFlags) registerOperations(flags *pflag.FlagSet) {
	flags.StringSliceVar(&f.operations, "operation", nil, "only these operations, e.g. 'subsequences.*'; '!leads.*' excludes")
}

func registerOutput(flags *pflag.FlagSet, dir *string, standard string) {
	flags.StringVarP(dir, "output", "o", standard, "directory for results, logs and journals")
}

func registerVerbose(flags *pflag.FlagSet, verbose *bool, what string) {
	flags.BoolVarP(verbose, "verbose", "v", false, "show more: "+what)
}

func registerSeed(flags *pflag.FlagSet, seed *uint64, standard uint64, of string) {
	flags.Uint64Var(seed, "seed", standard, "random seed: "+of)
}

// registerGate adds the flags that decide the verdict of a load run.
func registerGate(flags *pflag.FlagSet, f *loadFlags) {
	flags.StringArrayVar(&f.thresholds, "threshold", nil, "condition to meet, e.g. 'p99<250ms@500/s', 'errors<0.1%', 'sustained>=800/s'; replaces the scenarios' thresholds on the same figure; repeatable")
	flags.StringVar(&f.baseline, "baseline", "", "results of an earlier run to compare with (load.json, for thresholds such as worse<5%)")
}

// settingFlags are flags that override an entry of the target profile. Each command
// registers those that make a difference to it.
type settingFlags struct {
	flags *pflag.FlagSet // of the command; nil if it has none of these flags

	writes      string
	requests    int // maximum number
	failOn      string
	minAssessed int
	ofLoad      bool // requests overrides load.budget instead of budget
	perSecond   float64
	concurrency int
	timeout     time.Duration
	patience    time.Duration
	wait        time.Duration
	userAgent   string
}

// registerPace adds the flags of the client that runs and checks share. A load run
// does not have them: it sends on its own schedule.
func (s *settingFlags) registerPace(flags *pflag.FlagSet) {
	flags.Float64Var(&s.perSecond, "requests-per-second", 0, "pace, overrides the target profile; 0 is unlimited")
	flags.IntVar(&s.concurrency, "concurrency", 0, concurrencyUsage)
	s.registerBounds(flags)
	s.registerUserAgent(flags)
}

func (s *settingFlags) registerUserAgent(flags *pflag.FlagSet) {
	flags.StringVar(&s.userAgent, "user-agent", "", "User-Agent header of each request, overrides the target profile")
}

func (s *settingFlags) registerBounds(flags *pflag.FlagSet) {
	s.flags = flags
	flags.DurationVar(&s.timeout, "timeout", 0, "timeout of a request, overrides the target profile")
	flags.DurationVar(&s.patience, "patience", 0, "maximum time with only 429, overrides the target profile")
}

func (s *settingFlags) registerWrites(flags *pflag.FlagSet) {
	flags.StringVar(&s.writes, "writes", "", "what may be changed on the target: none, own or listed (overrides the target profile)")
}

func (s *settingFlags) registerBudget(flags *pflag.FlagSet) {
	flags.IntVar(&s.requests, "max-requests", 0, maxRequestsUsage+" (overrides budget in the target profile)")
}

// registerMinimum adds the flags on the coverage that a run needs to pass.
func (s *settingFlags) registerMinimum(flags *pflag.FlagSet) {
	flags.StringVar(&s.failOn, "fail-on", "", "what fails the run: failed, or not-assessed for checks without their input too (overrides fail_on in the target profile)")
	flags.IntVar(&s.minAssessed, "min-assessed", 0, "number of checks that the run must assess to pass (overrides min_assessed in the target profile)")
}

func (s *settingFlags) registerLoadBudget(flags *pflag.FlagSet) {
	s.ofLoad = true
	flags.IntVar(&s.requests, "max-requests", 0, maxRequestsUsage+" (overrides load.budget in the target profile)")
}

// settings returns the settings that were given. The error names the flag and the
// variable of each invalid one.
func (s settingFlags) settings() (profile.Settings, error) {
	given := profile.Settings{
		Writes:            changed(s.flags, "writes", s.writes),
		Budget:            changed(s.flags, "max-requests", s.requests),
		FailOn:            changed(s.flags, "fail-on", s.failOn),
		MinAssessed:       changed(s.flags, "min-assessed", s.minAssessed),
		RequestsPerSecond: changed(s.flags, "requests-per-second", s.perSecond),
		Concurrency:       changed(s.flags, "concurrency", s.concurrency),
		Timeout:           changed(s.flags, "timeout", s.timeout),
		Patience:          changed(s.flags, "patience", s.patience),
		Wait:              changed(s.flags, "wait", s.wait),
		UserAgent:         changed(s.flags, "user-agent", s.userAgent),
	}
	if s.ofLoad {
		given.Budget, given.LoadBudget = nil, given.Budget
		given.Concurrency = nil // load's --concurrency is the generator's, not the client's
	}
	flagOf := map[string]string{
		"writes": "writes", "budget": "max-requests", "load.budget": "max-requests", "pace.requests_per_second": "requests-per-second",
		"pace.concurrency": "concurrency", "pace.timeout": "timeout", "pace.patience": "patience", "fail_on": "fail-on", "min_assessed": "min-assessed", "wait": "wait", "user_agent": "user-agent",
	}
	return given, given.Check(func(entry string) string { return "--" + flagOf[entry] + ", or " + envvar.OfFlag(flagOf[entry]) })
}

// changed returns a pointer to the value of a flag that was given, or nil.
func changed[T any](flags *pflag.FlagSet, name string, value T) *T {
	if flags == nil || !flags.Changed(name) {
		return nil
	}
	return &value
}

// helpGroup is the annotation of a flag with its heading in the help.
const helpGroup = "outreach_help_group"

// group calls register, and puts the flags that it adds under a heading of the
// help.
func group(flags *pflag.FlagSet, heading string, register func()) {
	flags.SortFlags = false
	register()
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Annotations[helpGroup] == nil {
			f.Annotations = map[string][]string{helpGroup: {heading}}
		}
	})
}

// helpWidth is the number of columns at which the help wraps.
const helpWidth = 100

// flagGroups returns the help of the flags under their headings, in the order of
// registration. Flags without a heading come last.
func flagGroups(flags *pflag.FlagSet) string {
	const other = "Other"
	sets, headings := map[string]*pflag.FlagSet{}, []string{}
	flags.VisitAll(func(f *pflag.Flag) {
		heading := other
		if given := f.Annotations[helpGroup]; given != nil {
			heading = given[0]
		}
		if sets[heading] == nil {
			sets[heading] = pflag.NewFlagSet(heading, pflag.ContinueOnError)
			sets[heading].SortFlags = false
			if heading != other {
				headings = append(headings, heading)
			}
		}
		sets[heading].AddFlag(f)
	})
	if sets[other] != nil {
		headings = append(headings, other)
	}
	var b strings.Builder
	for i, heading := range headings {
		if i > 0 {
			b.WriteString("\n")
		}
		fmt.Fprintf(&b, "%s:\n%s", heading, sets[heading].FlagUsagesWrapped(helpWidth))
	}
	return strings.TrimRight(b.String(), "\n")
}

// groupHelp makes the command and its subcommands show their flags in groups.
func groupHelp(root *cobra.Command) {
	cobra.AddTemplateFunc("flagGroups", flagGroups)
	const all = "Flags:\n{{.LocalFlags.FlagUsages | trimTrailingWhitespaces}}"
	root.SetUsageTemplate(strings.Replace(root.UsageTemplate(), all, "{{flagGroups .LocalFlags}}", 1))
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
