package testbed

import (
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
)

// inherited lists the variables that the tests and their child processes keep.
// A name that ends in * stands for all names with that beginning.
var inherited = []string{
	"PATH", "HOME", "USER", "LOGNAME", "TMPDIR", "TEMP", "TMP", "XDG_*",
	"GO*", "CGO_*", "CC", "CXX", "LD_LIBRARY_PATH",
	"DOCKER_*", "TESTCONTAINERS_*", requireVariables,
	"SYSTEMROOT", "SYSTEMDRIVE", "USERPROFILE", "LOCALAPPDATA", "APPDATA", "PATHEXT", "COMSPEC",
}

// requireVariables make a test fail that would otherwise be skipped.
const requireVariables = "OUTREACH_REQUIRE_*"

// isolate makes the tests of a package independent of the process that started
// them. It removes every environment variable that is not in inherited, sets a
// usual umask, and lets child processes react to signals that nohup, or a script
// that works in the background, has told this process to ignore.
func isolate() {
	for _, pair := range os.Environ() {
		if name, _, _ := strings.Cut(pair, "="); !isInherited(name) {
			_ = os.Unsetenv(name)
		}
	}
	for _, s := range []os.Signal{syscall.SIGHUP, os.Interrupt} {
		if signal.Ignored(s) {
			// A child process inherits that a signal is ignored, but not that it is
			// caught. The tests go on all the same: nobody reads the channel.
			signal.Notify(make(chan os.Signal, 1), s)
		}
	}
	setUmask(0o022)
}

func isInherited(name string) bool {
	return slices.ContainsFunc(inherited, func(pattern string) bool {
		beginning, open := strings.CutSuffix(pattern, "*")
		return open && strings.HasPrefix(name, beginning) || strings.EqualFold(name, pattern)
	})
}
