package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/pflag"

	"outreach.example/conformance/internal/inputfile"
	"outreach.example/conformance/internal/redact"
)

// The encodings of single results.
const (
	rawBinary = "vegeta" // Vegeta's own encoding
	rawLines  = "jsonl"  // a JSON object a line, which Vegeta reads too
)

// registerRaw registers --raw. Without a value it means Vegeta's own encoding.
func registerRaw(flags *pflag.FlagSet, encodings *[]string) {
	flags.StringSliceVar(encodings, "raw", nil, "also write every measured result: into results.bin (--raw=vegeta) or, as JSON lines, results.jsonl (--raw=jsonl)")
	flags.Lookup("raw").NoOptDefVal = rawBinary
}

func checkRaw(encodings []string) error {
	for _, name := range encodings {
		if name != rawBinary && name != rawLines {
			return fmt.Errorf("--raw=%s: unknown encoding (want %s or %s, or both separated by a comma)", name, rawBinary, rawLines)
		}
	}
	return nil
}

// rawResults are the files of single results by encoding, written during the load.
type rawResults map[string]*rawResult

type rawResult struct {
	file     *os.File
	buffered *bufio.Writer
}

// openRaw creates a file for each encoding. It leaves none behind if one fails.
func openRaw(dir string, encodings []string) (rawResults, error) {
	all := rawResults{}
	for _, encoding := range encodings {
		if all[encoding] != nil {
			continue // named twice
		}
		name, redacted := rawFile, func(w io.Writer) io.Writer { return redact.Process.BinaryWriter(w) }
		if encoding == rawLines {
			name, redacted = rawLinesFile, func(w io.Writer) io.Writer { return redact.Process.Writer(w) }
		}
		file, err := inputfile.OpenFile(filepath.Join(dir, name), os.O_CREATE|os.O_TRUNC|os.O_RDWR, 0o666)
		if err != nil {
			return nil, errors.Join(err, all.discard())
		}
		all[encoding] = &rawResult{file, bufio.NewWriterSize(redacted(file), 1<<20)}
	}
	return all, nil
}

// writer returns the writer for an encoding; nil if it was not asked for.
func (r rawResults) writer(encoding string) io.Writer {
	if r[encoding] == nil {
		return nil
	}
	return r[encoding].buffered
}

func (r rawResults) close() error {
	var failed []error
	for _, one := range r {
		failed = append(failed, one.buffered.Flush(), one.file.Close())
	}
	return errors.Join(failed...)
}

// discard removes the files.
func (r rawResults) discard() error {
	var failed []error
	for _, one := range r {
		failed = append(failed, one.file.Close(), os.Remove(one.file.Name()))
	}
	return errors.Join(failed...)
}
