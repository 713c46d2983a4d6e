package main

import (
	"encoding/csv"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"outreach.example/conformance/internal/envvar"
	"outreach.example/conformance/internal/pattern"
)

// Complete sets the flags of the command that the command line does not give from the
// environment. Flags with an empty value are an error unless emptyMeansNone names them: most
// come from an unset shell variable, and an empty filter would select everything. So is each
// unknown OUTREACH_ variable: a misspelt OUTREACH_TARGET must not judge the wrong server.
// Variables of other commands' flags are known.
func Complete(cmd *cobra.Command, emptyMeansNone ...string) error {
	all := Names(cmd.Root())
	var unknown, invalid, empty []error
	for _, name := range envvar.Unknown(os.Environ(), all) {
		meant := envvar.Flag(name)
		unknown = append(unknown, fmt.Errorf("unknown environment variable %s: no flag --%s%s (variables with API keys begin with %sKEY_)",
			name, meant, pattern.Near("--"+meant, dashed(all)), envvar.Prefix))
	}
	if unknown != nil {
		return errors.Join(unknown...)
	}
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		name := envvar.OfFlag(f.Name)
		value := os.Getenv(name)
		if f.Changed || value == "" || f.Name == "help" {
			return
		}
		for _, one := range Values(f, value) {
			invalid = append(invalid, explained(name, cmd.Flags().Set(f.Name, one)))
		}
	})
	if err := errors.Join(invalid...); err != nil {
		return err
	}
	cmd.Flags().Visit(func(f *pflag.Flag) {
		given := []string{f.Value.String()}
		if list, ok := f.Value.(pflag.SliceValue); ok {
			given = list.GetSlice()
		}
		blank := func(s string) bool { return strings.TrimSpace(s) == "" }
		switch {
		case slices.Contains(emptyMeansNone, f.Name):
		case len(given) == 0 || len(given) == 1 && blank(given[0]):
			empty = append(empty, fmt.Errorf("--%s: empty value (give one, or omit the flag%s)", f.Name, forDefault(f)))
		case slices.ContainsFunc(given, blank):
			empty = append(empty, fmt.Errorf("--%s: empty value in %q", f.Name, strings.Join(given, ",")))
		}
	})
	return errors.Join(empty...)
}

// forDefault returns " for " and the default of the flag, or "" if it has none.
func forDefault(f *pflag.Flag) string {
	if f.DefValue == "" || f.DefValue == "[]" {
		return ""
	}
	return " for " + strings.Trim(f.DefValue, "[]")
}

// Values splits the variable of a repeatable flag at semicolons and line breaks. Files of
// variables have no line breaks in values. The flag itself splits at commas.
func Values(f *pflag.Flag, text string) []string {
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

// Names returns the flags of the command and of its subcommands, without dashes.
func Names(cmd *cobra.Command) []string {
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if f.Name != "help" && (f.Name != "version" || cmd.Version == "") { // of the root: prints the version
			names = append(names, f.Name)
		}
	})
	for _, below := range cmd.Commands() {
		names = append(names, Names(below)...)
	}
	return names
}

// dashed returns the flags as users write them.
func dashed(flags []string) []string {
	names := make([]string, len(flags))
	for i, flag := range flags {
		names[i] = "--" + flag
	}
	return names
}

// Explain suggests a flag for an unknown one, and explains an invalid value.
func Explain(cmd *cobra.Command, err error) error {
	var invalid *pflag.InvalidValueError
	var unknown *pflag.NotExistError
	switch {
	case errors.As(err, &invalid):
		return explained("--"+invalid.GetFlag().Name, err)
	case !errors.As(err, &unknown):
		return err
	}
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, "--"+f.Name) })
	return fmt.Errorf("%w%s; `%s --help` lists the flags", err, pattern.Near("--"+unknown.GetSpecifiedName(), names), cmd.CommandPath())
}

// wanted are the valid values of a flag by its type.
var wanted = map[string]string{
	"uint64": "a whole number, 0 or above", "int": "a whole number", "float64": "a number", "bool": "true or false",
	"intSlice": "comma-separated whole numbers, such as 10,100", "stringToInt": "NAME=NUMBER, comma-separated",
	"duration": "a time with a unit, such as 500ms, 30s or 5m", "durationSlice": "comma-separated times with units, such as 1s,30s",
}

// explained says what a valid value is. Named is how the user gave the value, such as --seed
// or OUTREACH_SEED.
func explained(named string, err error) error {
	var invalid *pflag.InvalidValueError
	var malformed *csv.ParseError
	if !errors.As(err, &invalid) {
		return err
	}
	want := wanted[invalid.GetFlag().Value.Type()]
	switch {
	case errors.As(err, &malformed):
		want = "comma-separated values, with quotes only around a whole value"
	case errors.Is(err, strconv.ErrRange):
		want = "a smaller number"
	case want == "":
		return fmt.Errorf("%s=%q: %w", named, invalid.GetValue(), invalid.Unwrap())
	}
	return fmt.Errorf("%s=%q: want %s", named, invalid.GetValue(), want)
}
