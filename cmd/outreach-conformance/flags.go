package main

import (
	"errors"
	"fmt"
	"runtime/debug"
	"strings"

	"github.com/spf13/pflag"
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
