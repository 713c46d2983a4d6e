package main

import (
	"bytes"
	"fmt"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"outreach.example/conformance/internal/envvar"
)

// The variable of a repeatable flag holds several values. A comma is part of a
// value, or separates the values of a list.
func TestVariablesOfRepeatableFlags(t *testing.T) {
	for text, want := range map[string][]string{
		"p99<250ms":                           {"p99<250ms"},
		"p99<250ms; errors<1%":                {"p99<250ms", "errors<1%"},
		"p99<250ms\n  errors<1%\n\nmax<2s;\n": {"p99<250ms", "errors<1%", "max<2s"},
		"a=1,b=2":                             {"a=1,b=2"},
		";":                                   {";"},
	} {
		g := NewWithT(t)
		flags := pflag.NewFlagSet("test", pflag.ContinueOnError)
		thresholds := flags.StringArray("threshold", nil, "")
		mix := flags.StringToInt("mix", nil, "")
		operations := flags.StringSlice("operation", nil, "")
		g.Expect(setFromEnvironment(flags, func(name string) string {
			return map[string]string{"OUTREACH_THRESHOLD": text, "OUTREACH_MIX": "leads.move=3,*.list=1", "OUTREACH_OPERATION": "a,b"}[name]
		})).To(Succeed())
		g.Expect(*thresholds).To(Equal(want))
		g.Expect(*mix).To(Equal(map[string]int{"leads.move": 3, "*.list": 1}))
		g.Expect(*operations).To(Equal([]string{"a", "b"}))
	}
}

// The variable of a list holds several values. Commas separate them too.
func TestVariablesOfLists(t *testing.T) {
	for _, text := range []string{"1,2;3", "1\n2\n3\n", ";1;2,3;"} {
		g := NewWithT(t)
		named := strings.NewReplacer("1", "a=1", "2", "b=2", "3", "c=3").Replace(text)
		timed := strings.NewReplacer("1", "1s", "2", "2s", "3", "3s").Replace(text)
		flags := pflag.NewFlagSet("test", pflag.ContinueOnError)
		scenarios := flags.StringSlice("scenario", []string{"all"}, "")
		limits := flags.IntSlice("page-size", nil, "")
		mix := flags.StringToInt("mix", nil, "")
		pauses := flags.DurationSlice("pause", nil, "")
		g.Expect(setFromEnvironment(flags, func(name string) string {
			return map[string]string{"OUTREACH_SCENARIO": text, "OUTREACH_PAGE_SIZE": text, "OUTREACH_MIX": named, "OUTREACH_PAUSE": timed}[name]
		})).To(Succeed(), text)
		g.Expect(*scenarios).To(Equal([]string{"1", "2", "3"}))
		g.Expect(*limits).To(Equal([]int{1, 2, 3}))
		g.Expect(*mix).To(Equal(map[string]int{"a": 1, "b": 2, "c": 3}))
		g.Expect(*pauses).To(Equal([]time.Duration{time.Second, 2 * time.Second, 3 * time.Second}))
	}
}

// meaning returns the type of a flag and the first clause of its usage. They must be the
// same on every command. The rest may differ.
func meaning(f *pflag.Flag) string {
	clause := regexp.MustCompile(`[:;,(]`).Split(f.Usage, 2)[0]
	return f.Value.Type() + " -" + f.Shorthand + " " + strings.TrimSpace(clause)
}

func everyFlag(cmd *cobra.Command, visit func(*cobra.Command, *pflag.Flag)) {
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if f.Name != "help" && f.Name != "version" {
			visit(cmd, f)
		}
	})
	for _, below := range cmd.Commands() {
		everyFlag(below, visit)
	}
}

// --quiet announces only waits in which the run would look stuck.
func TestLongWaits(t *testing.T) {
	var said []string
	waits := longWaits(func(what string) { said = append(said, what) })
	for _, seconds := range []time.Duration{0, 1, 9, 10, 60} {
		waits(fmt.Sprint(int(seconds)), seconds*time.Second)
	}
	NewWithT(t).Expect(said).To(Equal([]string{"10", "60"}))
}

// All commands share one environment, so a flag name must have one meaning.
func TestFlagsHaveOneMeaning(t *testing.T) {
	type use struct{ command, meaning string }
	byName, byVariable := map[string]use{}, map[string]string{}
	everyFlag(newRoot(), func(cmd *cobra.Command, f *pflag.Flag) {
		here := use{cmd.CommandPath(), meaning(f)}
		if first, known := byName[f.Name]; known && first.meaning != here.meaning {
			t.Errorf("--%s is %q in %s, but %q in %s", f.Name, first.meaning, first.command, here.meaning, here.command)
		} else if !known {
			byName[f.Name] = here
		}
		name := envvar.OfFlag(f.Name)
		if other, taken := byVariable[name]; taken && other != f.Name {
			t.Errorf("%s is the variable of --%s and of --%s", name, other, f.Name)
		}
		byVariable[name] = f.Name
		if envvar.IsReserved(name) {
			t.Errorf("%s is the variable of --%s of %s, and has a meaning of its own", name, f.Name, here.command)
		}
	})
	if len(byName) < 40 {
		t.Errorf("only %d flags were compared", len(byName))
	}
}

// Different first clauses are different meanings.
func TestMeaningTellsFlagsApart(t *testing.T) {
	flags := pflag.NewFlagSet("test", pflag.ContinueOnError)
	flags.Int("a", 0, "page size: 1 to 100")
	flags.Int("b", 0, "rate limit: of a workspace")
	flags.String("c", "", "page size: 1 to 100")
	flags.Int("d", 0, "page size; of lists")
	a, b, c, d := meaning(flags.Lookup("a")), meaning(flags.Lookup("b")), meaning(flags.Lookup("c")), meaning(flags.Lookup("d"))
	if a == b || a == c || a != d {
		t.Errorf("%q, %q, %q, %q", a, b, c, d)
	}
}

// A command with many flags shows them in groups.
func TestManyFlagsAreGrouped(t *testing.T) {
	var visit func(*cobra.Command)
	visit = func(cmd *cobra.Command) {
		var ungrouped []string
		all := 0
		cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
			all++
			if f.Annotations[helpGroup] == nil && f.Name != "help" && f.Name != "version" {
				ungrouped = append(ungrouped, f.Name)
			}
		})
		if all > 3 && len(ungrouped) > 0 {
			t.Errorf("%s: without a heading: %v", cmd.CommandPath(), ungrouped)
		}
		for _, below := range cmd.Commands() {
			visit(below)
		}
	}
	visit(newRoot())
}

// Flags with a valid empty value exist, and their help says what it means.
func TestEmptyMeansNone(t *testing.T) {
	flags := flagsOf(newRoot())
	for _, name := range emptyMeansNone {
		if !slices.Contains(flags, name) {
			t.Errorf("there is no flag --%s", name)
		}
	}
}

// Invalid numbers are rejected before any request, with the valid range.
func TestNumbersWithoutSense(t *testing.T) {
	t.Chdir(t.TempDir())
	huge := "99999999999999999999"
	scenarioOf := map[string]string{"burst": "spike", "max-rate": "sustained-rate", "clients": "walk", "probe-budget": "rate-limit"}
	for _, tc := range []struct {
		command, flag string
		values        []string
		says          string // the valid range
	}{
		{runCommand, "seed", []string{"-1", "1.5", "NaN", huge, "9223372036854775808"}, `want a whole number|want a smaller number|want at most \d+`},
		{runCommand, "rows", []string{"-1", "1e3", huge, "999999999"}, `want 0 to \d+|want a whole number|want a smaller number`},
		{runCommand, "requests-per-second", []string{"-1", "NaN", "Inf", "-Inf", "1e300"}, `want 0`},
		{runCommand, "concurrency", []string{"0", "-1", huge, "1000000"}, `want 1 to|want a smaller number`},
		{runCommand, "timeout", []string{"0s", "-1s", "100h", "5"}, `want more than 0s and at most|want a time with a unit`},
		{runCommand, "wait", []string{"-1s", "100h", "5"}, `want 0s \(do not wait\) to 1h0m0s|want a time with a unit`},
		{runCommand, "max-requests", []string{"-1", huge}, `want the maximum requests|want a smaller number`},
		{loadCommand, "seed", []string{"-1", huge, "9223372036854775808"}, `want a whole number|want a smaller number|want at most \d+`},
		{loadCommand, "rows", []string{"-1", huge, "999999999"}, `want 0 to \d+|want a smaller number`},
		{loadCommand, "rate", []string{"0", "-1", "NaN", "Inf", "1e300"}, `want|is required`},
		{loadCommand, "burst", []string{"0", "-1", "NaN", "Inf", "1e300", "49", "50"}, `want|is required|is not above`},
		{loadCommand, "max-rate", []string{"0", "-1", "NaN", "Inf", "1e300", "249"}, `want|is required|is below`},
		{loadCommand, "duration", []string{"0s", "-1s", "10000h", "5"}, `want|is required`},
		{loadCommand, "warmup", []string{"-1s", "10000h"}, `want`},
		{loadCommand, "clients", []string{"0", "-1", "1000000", huge}, `want|is required`},
		{loadCommand, "page-size", []string{"0", "-1", "101", huge}, `want`},
		{loadCommand, "mix", []string{"lead-lists.list=0", "lead-lists.list=-1", "lead-lists.list=1000000", "lead-lists.list=NaN"}, `want|selects no operation`},
		{loadCommand, "probe-budget", []string{"0", "-1", "1000000000", huge}, `want|is required`},
		{loadCommand, "pairs", []string{"0", "-1", "1001", huge}, `want|needs`},
		{loadCommand, "concurrency", []string{"0", "-1", "65537", huge}, `want 1 to 65536|want a smaller number`},
		{loadCommand, "inspect-share", []string{"0", "-1", "1.1", "NaN", "Inf"}, `want a share above 0`},
		{loadCommand, "lag-limit", []string{"0s", "-1s"}, `want more than 0`},
		{loadCommand, "timeout", []string{"0s", "-1s", "100h"}, `want more than 0s and at most`},
		{loadCommand, "max-requests", []string{"-1", huge}, `want`},
	} {
		for _, value := range tc.values {
			args := []string{tc.command, "--" + tc.flag + "=" + value}
			if name := scenarioOf[tc.flag]; name != "" {
				args = append(args, "--scenario", name)
			}
			t.Run(tc.command+" "+args[1], func(t *testing.T) {
				g := NewWithT(t)
				var stdout, stderr bytes.Buffer
				g.Expect(execute(args, &stdout, &stderr)).To(Equal(exitUsage), "%s%s", &stdout, &stderr)
				g.Expect(stderr.String()).To(And(MatchRegexp(strings.ReplaceAll(tc.flag, "-", "[-_]")), MatchRegexp(tc.says)))
			})
		}
	}
}

func TestCommit(t *testing.T) {
	g := NewWithT(t)
	built := func(settings ...debug.BuildSetting) *debug.BuildInfo { return &debug.BuildInfo{Settings: settings} }
	revision := debug.BuildSetting{Key: "vcs.revision", Value: "abc"}
	g.Expect(commit(nil, false)).To(BeEmpty())
	g.Expect(commit(built(), true)).To(BeEmpty())
	g.Expect(commit(built(revision, debug.BuildSetting{Key: "vcs.modified", Value: "false"}), true)).To(Equal("abc"))
	g.Expect(commit(built(revision, debug.BuildSetting{Key: "vcs.modified", Value: "true"}), true)).To(Equal("abc, modified"))
}
