package main

import (
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"outreach.example/conformance/internal/suggest"
)

// setFromEnvironment fills in the flags that were not given from the
// environment: a flag is nearer to the user than a variable. An empty variable
// is none; that of a flag which takes several values may hold several.
func setFromEnvironment(flags *pflag.FlagSet, getenv func(string) string) error {
	var wrong []error
	flags.VisitAll(func(f *pflag.Flag) {
		name := variable(f.Name)
		value := getenv(name)
		if f.Changed || value == "" || f.Name == "help" {
			return
		}
		for _, one := range valuesOf(f, value) {
			err := flags.Set(f.Name, one)
			var invalid *pflag.InvalidValueError
			if errors.As(err, &invalid) {
				err = plainly(name, invalid)
			}
			if err != nil {
				wrong = append(wrong, err)
			}
		}
	})
	return errors.Join(wrong...)
}

// valuesOf are the values in the variable of a flag. Of a flag that takes several
// they stand on lines of their own or, since files of variables have no such lines,
// behind semicolons. What else separates them, the flag itself reads.
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
		return []string{text} // the flag says what is wrong with it
	}
	return values
}

// explainFlagError names the flag that is most like one that does not exist,
// and says what a value should be that cannot be read.
func explainFlagError(cmd *cobra.Command, err error) error {
	var invalid *pflag.InvalidValueError
	if errors.As(err, &invalid) {
		return plainly("--"+invalid.GetFlag().Name, invalid)
	}
	var unknown *pflag.NotExistError
	if !errors.As(err, &unknown) {
		return err
	}
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, "--"+f.Name) })
	return fmt.Errorf("%w%s; `%s --help` lists the flags", err, suggest.Near("--"+unknown.GetSpecifiedName(), names), cmd.CommandPath())
}

// envPrefix begins the names of all environment variables that the program reads.
const envPrefix = "OUTREACH_"

// variable is the environment variable of a flag.
func variable(flag string) string {
	return envPrefix + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

// checkEnvironment refuses variables that stand for nothing: a misspelt
// OUTREACH_TARGET would have another server judged than the one that was meant.
// A variable of another command's flag is none of them.
func checkEnvironment(root *cobra.Command, environ []string) error {
	flags := flagsOf(root)
	var wrong []error
	for _, entry := range environ {
		name, value, _ := strings.Cut(entry, "=")
		if value == "" || !strings.HasPrefix(name, envPrefix) || standsFor(name) ||
			slices.ContainsFunc(flags, func(flag string) bool { return variable(flag[len("--"):]) == name }) {
			continue
		}
		meant := "--" + strings.ToLower(strings.ReplaceAll(strings.TrimPrefix(name, envPrefix), "_", "-"))
		wrong = append(wrong, fmt.Errorf("unknown environment variable %s: no flag %s%s (variables with API keys begin with %sKEY_)",
			name, meant, suggest.Near(meant, flags), envPrefix))
	}
	slices.SortFunc(wrong, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
	return errors.Join(wrong...)
}

// standsFor reports whether the variable means something without being a
// flag's: keys and the address in printed commands, what a mint command is
// told, and what the project's own tests read.
func standsFor(name string) bool {
	for _, family := range []string{"KEY_", "MINT_"} {
		if strings.HasPrefix(name, envPrefix+family) {
			return true
		}
	}
	return slices.Contains([]string{"KEY", "URL", "REQUIRE_DOCKER", "REQUIRE_BROWSER", "REQUIRE_QUIET"}, strings.TrimPrefix(name, envPrefix))
}

// flagsOf returns the flags of the command and of those below it, as --name.
func flagsOf(cmd *cobra.Command) []string {
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if f.Name != "help" && f.Name != "version" {
			names = append(names, "--"+f.Name)
		}
	})
	for _, below := range cmd.Commands() {
		names = append(names, flagsOf(below)...)
	}
	return names
}

// version is the module's version as the build recorded it.
func version() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "(devel)"
}
