package loadtest

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"outreach.example/conformance/internal/disk"
	"outreach.example/conformance/internal/redact"
)

// The files of single results, for Vegeta: in its own encoding, and as JSON lines.
const (
	RawFile      = "results.bin"
	RawLinesFile = "results.jsonl"
)

// rawEncodings are the encodings of single results, by name.
var rawEncodings = map[string]struct {
	file     string
	redacted func(io.Writer) *redact.Writer
	to       func(*Config) *io.Writer
}{
	"vegeta": {RawFile, redact.Process.BinaryWriter, func(c *Config) *io.Writer { return &c.Raw }},
	"jsonl":  {RawLinesFile, redact.Process.Writer, func(c *Config) *io.Writer { return &c.RawLines }},
}

// RawResults are the open files of single results.
type RawResults []*rawResult

type rawResult struct {
	*bufio.Writer
	file *os.File
}

// CheckRaw returns an error for an unknown encoding.
func CheckRaw(encodings []string) error {
	for _, name := range encodings {
		if rawEncodings[name].file == "" {
			return fmt.Errorf("--raw=%s: unknown encoding (want vegeta or jsonl, or both separated by a comma)", name)
		}
	}
	return nil
}

// OpenRaw creates a file in the directory for each encoding, to which the run writes. It leaves
// none behind if one fails.
func (c *Config) OpenRaw(dir string, encodings []string) (all RawResults, err error) {
	for _, name := range encodings {
		encoding := rawEncodings[name]
		if *encoding.to(c) != nil {
			continue // named twice
		}
		file, err := disk.OpenFile(filepath.Join(dir, encoding.file), os.O_CREATE|os.O_TRUNC|os.O_RDWR, 0o666)
		if err != nil {
			return nil, errors.Join(err, all.Discard())
		}
		one := &rawResult{bufio.NewWriterSize(encoding.redacted(file), 1<<20), file}
		*encoding.to(c), all = one, append(all, one)
	}
	return all, nil
}

// Close completes the files.
func (r RawResults) Close() (err error) {
	for _, one := range r {
		err = errors.Join(err, one.Flush(), one.file.Close())
	}
	return err
}

// Discard removes the files.
func (r RawResults) Discard() (err error) {
	for _, one := range r {
		err = errors.Join(err, one.file.Close(), os.Remove(one.file.Name()))
	}
	return err
}

// WriteHDRLog writes the histograms of all phases, one log after the other.
func (o Outcome) WriteHDRLog(w io.Writer) error {
	for _, part := range o.Parts {
		for _, rec := range part.Recordings {
			if err := rec.WriteHDRLog(w); err != nil {
				return err
			}
		}
	}
	return nil
}
