package main

import (
	"os"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"outreach.example/conformance/loadtest/scenario"
)

// softMemory is the memory that a command which judges or reads aims at, in bytes. Its
// own bounds keep what it holds below that; Go collects garbage more often near it.
const softMemory = 160 << 20

// rareGC lets the heap grow to five times its live size before it is collected, below the
// limit.
const rareGC = 400

// limitMemory sets the limit, unless the environment sets one. A server, the self-test and load
// runs need what their size demands.
func limitMemory(cmd *cobra.Command) {
	top := strings.Fields(cmd.CommandPath() + " -")[1]
	if !slices.Contains([]string{"serve", "selftest", loadCommand, nullServerCommand}, top) && os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(softMemory)
		if os.Getenv("GOGC") == "" { // most of what a run allocates is garbage soon
			debug.SetGCPercent(rareGC)
		}
	}
}

// softSoakMemory is the memory, in bytes, that a soak aims at: all of Go's own, without
// the pages of the program file. What a soak holds hardly grows with its length, so the
// heap need not grow to twice that before it is collected.
const softSoakMemory = 24 << 20

// limitSoak sets the limit for a load run that only soaks, unless the environment sets one.
func limitSoak(scenarios []scenario.Scenario) {
	soaks := !slices.ContainsFunc(scenarios, func(s scenario.Scenario) bool { return s.Kind != scenario.Soak })
	if soaks && os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(softSoakMemory)
	}
}
