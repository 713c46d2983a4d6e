package main

import (
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// meaning is the first clause of a flag's usage, with its type: what must be the
// same wherever the name is used. What follows may differ from command to command.
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

// All commands share one environment, so a name that meant two things would set
// the one or break the other.
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
		name := variable(f.Name)
		if other, taken := byVariable[name]; taken && other != f.Name {
			t.Errorf("%s is the variable of --%s and of --%s", name, other, f.Name)
		}
		byVariable[name] = f.Name
		if isReserved(name) {
			t.Errorf("%s is the variable of --%s of %s, and has a meaning of its own", name, f.Name, here.command)
		}
	})
	if len(byName) < 40 {
		t.Errorf("only %d flags were compared", len(byName))
	}
}

// The first clause tells apart what only looks alike.
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

// A command with more flags than fit in the head shows them in groups.
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
