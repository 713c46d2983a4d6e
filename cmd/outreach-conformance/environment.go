package main

import (
	"encoding/csv"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"outreach.example/conformance/internal/envvar"
	"outreach.example/conformance/internal/suggest"
)

// setFromEnvironment sets the flags that the command line does not give. An empty
// variable counts as unset, but see checkTargetIsNamed.
func setFromEnvironment(flags *pflag.FlagSet, getenv func(string) string) error {
	var wrong []error
	flags.VisitAll(func(f *pflag.Flag) {
		name := envvar.OfFlag(f.Name)
		value := getenv(name)
		if f.Changed || value == "" || f.Name == "help" {
			return
		}
		for _, one := range valuesOf(f, value) {
			err := flags.Set(f.Name, one)
			var invalid *pflag.InvalidValueError
			if errors.As(err, &invalid) {
				err = explainValue(name, invalid)
			}
			if err != nil {
				wrong = append(wrong, err)
			}
		}
	})
	return errors.Join(wrong...)
}

// checkTargetIsNamed returns an error if the variable of the target is set but empty, and
// nothing else names a target. A step of a pipeline that should have set it has failed:
// the embedded server, which passes, is not what the user wants to judge.
func checkTargetIsNamed(flags *pflag.FlagSet, lookup func(string) (string, bool)) error {
	target, profile := flags.Lookup("target"), flags.Lookup("target-profile")
	if target == nil || target.Changed || profile != nil && profile.Changed {
		return nil
	}
	name := envvar.OfFlag(target.Name)
	if value, set := lookup(name); set && value == "" {
		return fmt.Errorf("%s is set, but empty: it names no target (unset it, or set it to embedded, to judge the embedded server)", name)
	}
	return nil
}

// valuesOf splits the variable of a repeatable flag at semicolons and line breaks.
// Files of variables have no line breaks in values. The flag itself splits at
// commas.
func valuesOf(f *pflag.Flag, text string) []string {
	if _, list := f.Value.(pflag.SliceValue); !list && f.Value.Type() != "stringToInt" {
		return []string{text}
	}
	var values []string
	for _, value := range strings.FieldsFunc(text, func(r rune) bool { return r == ';' || r == '\n' }) {
		if value = strings.TrimSpace(value); value != "" {
			values = append(values, value)
		}
	}
	if len(values) == 0 {
		return []string{text} // the flag reports the error
	}
	return values
}

// checkEnvironment returns an error for each unknown OUTREACH_ variable: a misspelt
// OUTREACH_TARGET must not judge the wrong server. Variables of other commands'
// flags are known.
func checkEnvironment(root *cobra.Command, environ []string) error {
	flags := flagsOf(root)
	var wrong []error
	for _, name := range envvar.Unknown(environ, flags) {
		meant := envvar.Flag(name)
		wrong = append(wrong, fmt.Errorf("unknown environment variable %s: no flag --%s%s (variables with API keys begin with %sKEY_)",
			name, meant, suggest.Near("--"+meant, dashed(flags)), envvar.Prefix))
	}
	return errors.Join(wrong...)
}

// dashed returns the flags as users write them.
func dashed(flags []string) []string {
	names := make([]string, len(flags))
	for i, flag := range flags {
		names[i] = "--" + flag
	}
	return names
}

// flagsOf returns the flags of the command and of its subcommands, without dashes.
func flagsOf(cmd *cobra.Command) []string {
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if f.Name != "help" && f.Name != "version" {
			names = append(names, f.Name)
		}
	})
	for _, below := range cmd.Commands() {
		names = append(names, flagsOf(below)...)
	}
	return names
}

// emptyMeansNone are the flags for which an empty value is valid.
var emptyMeansNone = []string{"truth-addr", "webhook-url"}

// refuseEmpty returns an error for each flag with an empty value. Most come from an
// unset shell variable, and an empty filter would select everything.
func refuseEmpty(flags *pflag.FlagSet) error {
	var wrong []error
	flags.Visit(func(f *pflag.Flag) {
		given := []string{f.Value.String()}
		if list, ok := f.Value.(pflag.SliceValue); ok {
			given = list.GetSlice()
		}
		blank := func(s string) bool { return strings.TrimSpace(s) == "" }
		switch {
		case slices.Contains(emptyMeansNone, f.Name):
		case len(given) == 0 || len(given) == 1 && blank(given[0]):
			wrong = append(wrong, fmt.Errorf("--%s: empty value (give one, or omit the flag%s)", f.Name, forDefault(f)))
		case slices.ContainsFunc(given, blank):
			wrong = append(wrong, fmt.Errorf("--%s: empty value in %q", f.Name, strings.Join(given, ",")))
		}
	})
	return errors.Join(wrong...)
}

// forDefault returns " for " and the default of the flag, or "" if it has none.
func forDefault(f *pflag.Flag) string {
	if f.DefValue == "" || f.DefValue == "[]" {
		return ""
	}
	return " for " + strings.Trim(f.DefValue, "[]")
}

// explainFlagError suggests a flag for an unknown one, and explains an invalid
// value.
func explainFlagError(cmd *cobra.Command, err error) error {
	var invalid *pflag.InvalidValueError
	if errors.As(err, &invalid) {
		return explainValue("--"+invalid.GetFlag().Name, invalid)
	}
	var unknown *pflag.NotExistError
	if !errors.As(err, &unknown) {
		return err
	}
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, "--"+f.Name) })
	return fmt.Errorf("%w%s; `%s --help` lists the flags", err, suggest.Near("--"+unknown.GetSpecifiedName(), names), cmd.CommandPath())
}

// explainValue returns an error that says what a valid value is. Named is how the
// user gave the value, such as --seed or OUTREACH_SEED.
func explainValue(named string, invalid *pflag.InvalidValueError) error {
	wanted := func(want string) error { return fmt.Errorf("%s=%q: want %s", named, invalid.GetValue(), want) }
	var malformed *csv.ParseError
	switch kind := invalid.GetFlag().Value.Type(); {
	case errors.As(invalid, &malformed):
		return wanted("comma-separated values, with quotes only around a whole value")
	case errors.Is(invalid, strconv.ErrRange):
		return wanted("a smaller number")
	case kind == "uint" || kind == "uint64":
		return wanted("a whole number, 0 or above")
	case kind == "int" || kind == "int64":
		return wanted("a whole number")
	case kind == "float64":
		return wanted("a number")
	case kind == "intSlice":
		return wanted("comma-separated whole numbers, such as 10,100")
	case kind == "bool":
		return wanted("true or false")
	case kind == "duration":
		return wanted("a time with a unit, such as 500ms, 30s or 5m")
	case kind == "durationSlice":
		return wanted("comma-separated times with units, such as 1s,30s")
	case kind == "stringToInt":
		return wanted("NAME=NUMBER, comma-separated")
	default:
		return fmt.Errorf("%s=%q: %w", named, invalid.GetValue(), invalid.Unwrap())
	}
}
