package main

import (
	"math"
	"runtime/debug"
	"testing"
)

// Commands that judge a target limit their memory, unless the environment does. Others do
// not: the data of a server and the figures of a load run take what they take.
func TestMemoryLimit(t *testing.T) {
	before := debug.SetMemoryLimit(-1)
	percent := debug.SetGCPercent(100)
	t.Cleanup(func() {
		debug.SetMemoryLimit(before)
		debug.SetGCPercent(percent)
	})
	for _, tc := range []struct {
		command []string
		own     string
		limited bool
	}{
		{[]string{runCommand}, "", true}, {[]string{"target", "init"}, "", true}, {[]string{"target", "check"}, "", true},
		{[]string{"cleanup"}, "", true}, {[]string{"report", "diff"}, "", true}, {[]string{runCommand}, "1GiB", false}, {[]string{loadCommand}, "", false},
		{[]string{"serve"}, "", false}, {[]string{"selftest"}, "", false},
	} {
		t.Setenv("GOMEMLIMIT", tc.own)
		debug.SetMemoryLimit(math.MaxInt64)
		cmd, _, err := newRoot().Find(tc.command)
		if err != nil {
			t.Fatal(err)
		}
		limitMemory(cmd)
		if limited := debug.SetMemoryLimit(-1) == softMemory; limited != tc.limited {
			t.Errorf("%q with GOMEMLIMIT=%q: limited %t, want %t", tc.command, tc.own, limited, tc.limited)
		}
	}
}
