package main

import (
	"os"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"
)

// softMemory is the memory that a command which judges a target aims at, in bytes. Its
// own bounds keep what it holds below that; Go collects garbage more often near it.
const softMemory = 160 << 20

// rareGC lets the heap grow to five times its live size before it is collected, below the
// limit.
const rareGC = 400

// limitMemory sets the limit for the commands that judge a target, unless the environment
// sets one. A server, a load generator and the self-test need what their size demands.
func limitMemory(cmd *cobra.Command) {
	judges := cmd.Name() == runCommand || cmd.Name() == "cleanup" || strings.Contains(cmd.CommandPath(), " target ")
	if judges && os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(softMemory)
		if os.Getenv("GOGC") == "" { // most of what a run allocates is garbage soon
			debug.SetGCPercent(rareGC)
		}
	}
}
