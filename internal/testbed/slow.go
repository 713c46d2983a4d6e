package testbed

import (
	"flag"
	"testing"
)

var slow = flag.Bool("slow", false, "run all cases of the tests that take long, or need a quiet machine")

// Slow reports whether to run all cases of a test that takes long, or that needs
// a quiet machine. make nightly and make figures ask for them, by go test -args -slow.
func Slow() bool { return *slow }

// SkipUnlessSlow skips the test unless all cases are asked for.
func SkipUnlessSlow(t testing.TB) {
	t.Helper()
	if !*slow {
		t.Skip("takes half a minute: make nightly runs it")
	}
}
