package testbed

import (
	"fmt"
	"os"
	"testing"
)

// Roles are what a test binary does, instead of its tests, for whoever runs it
// with the name of a role and its arguments: what must not share the process of
// the tests.
type Roles map[string]func(args []string) error

// Main plays the role that the command line names, or else runs the tests, and
// exits.
func Main(m *testing.M, roles Roles) {
	if len(os.Args) > 1 {
		if play, ok := roles[os.Args[1]]; ok {
			if err := play(os.Args[2:]); err != nil {
				fmt.Fprintln(os.Stderr, err)
				os.Exit(1)
			}
			os.Exit(0)
		}
	}
	isolate()
	if err := os.Setenv(RaceVariable, RaceOptions+" "+os.Getenv(RaceVariable)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// RaceOptions are for test binaries that are run as programs: with the race
// detector each would sleep for a second before it ends, in case that whatever is
// still running then shows a race.
const (
	RaceVariable = "GORACE"
	RaceOptions  = "atexit_sleep_ms=50"
)

// Again is the command that runs the test binary once more, in a role.
func Again(t testing.TB, role string, args ...string) []string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return append([]string{self, role}, args...)
}
