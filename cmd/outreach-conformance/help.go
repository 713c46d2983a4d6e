package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"outreach.example/conformance/spec"
)

// Usage texts of flags that several commands have. A name means the same on every
// command: TestFlagsHaveOneMeaning compares the first clauses.
const (
	targetUsage        = "the server under test: embedded, an address without /api/v2, image:NAME or dockerfile:PATH"
	targetProfileUsage = "description of the target: embedded, mock or a YAML file (default: that of the reference server)"
	rowsUsage          = "rows in each list of the reference server's main workspace"
	concurrencyUsage   = "maximum number of requests in flight"
	maxRequestsUsage   = "maximum number of requests, 0 is unlimited"
)

func (f *runFlags) registerTarget(flags *pflag.FlagSet) {
	flags.StringVarP(&f.target, "target", "t", embeddedTarget, targetUsage)
	flags.StringVar(&f.targetProfile, "target-profile", "", targetProfileUsage)
}

// registerSelection gives a command the flags that select requirements and operations.
func (f *runFlags) registerSelection(flags *pflag.FlagSet, profiles []string) {
	flags.StringSliceVarP(&f.profiles, "profile", "p", profiles, fmt.Sprintf("sets of requirements: %v (the target is described by --target-profile)", spec.Profiles()))
	flags.StringSliceVar(&f.operations, "operation", nil, "only these operations, e.g. 'subsequences.*'")
	flags.StringSliceVar(&f.requirements, "requirement", nil, "only these requirements, e.g. 'AUTH-*'")
	flags.StringSliceVar(&f.groups, "group", nil, fmt.Sprintf("only these groups of requirements: %v", spec.Groups()))
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

// registerGate gives a command the flags that say what a load run must achieve.
func registerGate(flags *pflag.FlagSet, f *loadFlags) {
	flags.StringArrayVar(&f.thresholds, "threshold", nil, "condition to meet, e.g. 'p99<250ms@500/s', 'errors<0.1%', 'sustained>=800/s'; replaces the scenarios' thresholds on the same figure; repeatable")
	flags.StringVar(&f.baseline, "baseline", "", "results of an earlier run to compare with (load.json, for regression thresholds)")
}

// helpGroup is the annotation of a flag that holds the heading above it in the help.
const helpGroup = "outreach_help_group"

// group puts the flags that register adds under a heading of the help.
func group(flags *pflag.FlagSet, heading string, register func()) {
	flags.SortFlags = false
	register()
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Annotations[helpGroup] == nil {
			f.Annotations = map[string][]string{helpGroup: {heading}}
		}
	})
}

// helpWidth is where the help is wrapped.
const helpWidth = 100

// flagGroups is the help of flags under their headings, in the order in which
// they were registered. Flags without a heading come last.
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

// groupHelp makes the command, and those below it, show their flags in groups.
func groupHelp(root *cobra.Command) {
	cobra.AddTemplateFunc("flagGroups", flagGroups)
	const all = "Flags:\n{{.LocalFlags.FlagUsages | trimTrailingWhitespaces}}"
	root.SetUsageTemplate(strings.Replace(root.UsageTemplate(), all, "{{flagGroups .LocalFlags}}", 1))
}
