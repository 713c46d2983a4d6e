package main

import (
	"bytes"
	"os"
	"strconv"

	"github.com/spf13/cobra"

	"outreach.example/conformance/loadtest/generate"
)

// nullServerCommand is a command that the program runs itself: `load` calibrates
// its generator against a server that does nothing, in a process of its own.
const nullServerCommand = "null-server"

// mostNullBytes bounds the answer of the null server.
const mostNullBytes = 64 << 20

func newNullServer() *cobra.Command {
	return &cobra.Command{
		Use:    nullServerCommand + " BYTES",
		Short:  "Answer every request with so many bytes, for calibration",
		Hidden: true,
		Args:   cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			size, err := strconv.ParseUint(args[0], 10, 32)
			if err != nil || size > mostNullBytes {
				return exitError{code: exitUsage, cause: err}
			}
			return generate.NullServer(bytes.Repeat([]byte("x"), int(size)), cmd.OutOrStdout(), os.Stdin)
		},
	}
}

// calibrator is the command that runs the null server in a process of its own.
// It is set by main: in tests, whose process is another program, the null server
// runs in the process.
var calibrator []string

// calibrate measures the generator, which takes seconds: most tests replace it.
var calibrate = generate.Calibrate

// ownNullServer is this program as the calibrator; nil where it does not know its own file.
func ownNullServer() []string {
	self, err := os.Executable()
	if err != nil {
		return nil
	}
	return []string{self, nullServerCommand}
}
