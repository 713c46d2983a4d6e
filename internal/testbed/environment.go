package testbed

import (
	"os"
	"slices"
	"strings"

	"outreach.example/conformance/internal/envvar"
)

// Environment returns the variables that a started program inherits: those of the test
// without the program's own flags and without GOGC, which the Makefile sets for tests. So
// the program takes as much memory as it takes for a user.
func Environment() []string {
	return slices.DeleteFunc(os.Environ(), func(variable string) bool {
		return strings.HasPrefix(variable, envvar.Prefix) || strings.HasPrefix(variable, "GOGC=")
	})
}
