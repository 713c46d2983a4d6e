package main

import (
	"errors"
	"fmt"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"outreach.example/conformance/harness"
)

// setFromEnvironment fills in the flags that were not given from the
// environment: a flag is nearer to the user than a variable.
func setFromEnvironment(flags *pflag.FlagSet, getenv func(string) string) error {
	var wrong []error
	flags.VisitAll(func(f *pflag.Flag) {
		name := variable(f.Name)
		value := getenv(name)
		if f.Changed || value == "" || f.Name == "help" {
			return
		}
		if err := flags.Set(f.Name, value); err != nil {
			wrong = append(wrong, fmt.Errorf("%s=%q: %w", name, value, err))
		}
	})
	return errors.Join(wrong...)
}

// explainFlagError names the flag that is most like one that does not exist.
func explainFlagError(cmd *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	if !errors.As(err, &unknown) {
		return err
	}
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, "--"+f.Name) })
	return fmt.Errorf("%w%s; `%s --help` lists the flags", err, harness.Near("--"+unknown.GetSpecifiedName(), names), cmd.CommandPath())
}

// variable is the environment variable of a flag.
func variable(flag string) string {
	return "OUTREACH_" + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

// version is the module's version as the build recorded it.
func version() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "(devel)"
}
