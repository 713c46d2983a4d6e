// Package jsonfile reads and writes the files of results. The JSON Schema of a kind of file alone says
// what a valid one is.
//
// It imports the results model, the catalogue for the order of checks, and small helpers.
package jsonfile

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"unicode/utf8"

	"outreach.example/conformance/internal/disk"

	"outreach.example/conformance/internal/printable"
	"outreach.example/conformance/schemas"
)

// Kind is a kind of results file: the JSON form of T. Its JSON Schema (draft-07) alone says
// what a valid file is.
type Kind[T any] struct {
	Name    string            // such as "results.json of run"
	Version string            // of the model
	Earlier map[string]string // the last commit that reads an earlier version
	MaxSize int64             // in bytes
	Schema  []byte
	Indent  string
	// Prepare returns the value as the file has it, for example without nil for a list.
	Prepare func(T) T

	once     sync.Once
	compiled *schemas.Schema
}

// The names of the kinds of results files.
const (
	OfRun        = "results.json of run"
	OfShard      = "part.json of load --shard"
	OfLoad       = "load.json of load"
	OfDifference = "difference.json of report diff"
)

// names are the kinds, each with a field that only it has. A part of a load run also has the
// field of a load run, and so stands before it.
var names = []struct{ field, kind string }{{"checks", OfRun}, {"outcomes", OfShard}, {"scenarios", OfLoad}, {"parts", OfDifference}}

// NameOf returns the kind of results file that the JSON document is; empty if it is none.
func NameOf(body []byte) string {
	var fields map[string]json.RawMessage
	if json.Unmarshal(body, &fields) != nil {
		return ""
	}
	for _, k := range names {
		if _, has := fields[k.field]; has {
			return k.kind
		}
	}
	return ""
}

// Encode returns the JSON form of the value, indented. Equal values give equal bytes.
func (f *Kind[T]) Encode(value T) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false) // keeps & in curl commands readable
	e.SetIndent("", f.Indent)
	if err := e.Encode(f.Prepare(value)); err != nil {
		return nil, fmt.Errorf("%s: no JSON form: %w", f.Name, err)
	}
	return b.Bytes(), nil
}

// Write replaces the file at path with the JSON form of the value, atomically. It creates
// missing directories.
func (f *Kind[T]) Write(path string, value T) error {
	body, err := f.Encode(value)
	if err == nil {
		err = disk.Write(path, body)
	}
	if err != nil {
		return fmt.Errorf("write the %s: %w", f.Name, err)
	}
	return nil
}

// Read returns the value in the file at path. Errors name the file and, with a JSON
// pointer, each place that breaks the schema.
func (f *Kind[T]) Read(path string) (value T, err error) {
	body, err := disk.Read(path, f.MaxSize)
	if err != nil {
		return value, err
	}
	if value, err = f.Parse(body); err != nil {
		return value, fmt.Errorf("%s: %w", path, err)
	}
	return value, nil
}

// Parse returns the value in a JSON document.
func (f *Kind[T]) Parse(body []byte) (value T, err error) {
	if int64(len(body)) > f.MaxSize {
		return value, fmt.Errorf("more than %d bytes: %d (want a %s)", f.MaxSize, len(body), f.Name)
	}
	if n := members(body); n > int(f.MaxSize/bytesPerMember) {
		return value, fmt.Errorf("more than %d elements and members: %d (want a %s)", f.MaxSize/bytesPerMember, n, f.Name)
	}
	if err := f.recognise(body); err != nil {
		return value, err
	}
	err = json.Unmarshal(body, &value)
	if wrongType := (*json.UnmarshalTypeError)(nil); err != nil && (!errors.As(err, &wrongType) || strings.HasPrefix(wrongType.Value, "number ")) {
		return value, fmt.Errorf("not valid JSON: %w (want a %s)", err, f.Name)
	}
	if findings := f.findings(body); findings != nil {
		return value, fmt.Errorf("not a valid %s (write it again, or restore it):\n%w", f.Name, findings)
	}
	return value, err
}

// bytesPerMember are the bytes for each element and member in a file, on average, at least. An empty
// element takes two bytes in a file, and a hundred times as many in memory.
const bytesPerMember = 20

// members returns the number of elements and members in a JSON document, nearly.
func members(body []byte) (n int) {
	quoted := false
	for i := 0; i < len(body); i++ {
		switch {
		case quoted && body[i] == '\\':
			i++
		case body[i] == '"':
			quoted = !quoted
		case !quoted && body[i] == ',':
			n++
		}
	}
	return n
}

// recognise returns an error unless the document is of the kind and the version.
func (f *Kind[T]) recognise(body []byte) error {
	if !utf8.Valid(body) {
		return fmt.Errorf("not valid UTF-8 (want a %s)", f.Name)
	}
	if kind := NameOf(body); kind != "" && kind != f.Name {
		return fmt.Errorf("this is the %s (want the %s)", kind, f.Name)
	}
	var head struct {
		Version string `json:"version"`
	}
	if err := json.Unmarshal(body, &head); err != nil {
		return fmt.Errorf("not valid JSON: %w (want a %s)", err, f.Name)
	}
	switch commit := f.Earlier[head.Version]; {
	case head.Version == f.Version:
		return nil
	case head.Version == "":
		return fmt.Errorf("/version: missing (want a %s)", f.Name)
	case commit != "":
		return fmt.Errorf("/version: the file has version %s of the model, this build reads %s (the last that reads it is commit %s)", head.Version, f.Version, commit)
	default:
		return fmt.Errorf("/version: the file has version %q of the model, this build reads %s (use the release that wrote the file)", head.Version, f.Version)
	}
}

// maxFindings is the maximum number of findings in one error.
const maxFindings = 10

// findings returns what breaks the schema, or nil.
func (f *Kind[T]) findings(body []byte) error {
	f.once.Do(func() {
		compiled, err := schemas.Compile(f.Schema)
		if err != nil {
			panic(fmt.Sprintf("the schema of the %s: %v", f.Name, err)) // tests compile it
		}
		f.compiled = compiled
	})
	found, err := f.compiled.Findings(body)
	if err != nil || len(found) == 0 {
		return err
	}
	if left := len(found) - maxFindings; left > 0 {
		found = append(found[:maxFindings], fmt.Sprintf("and %d more", left))
	}
	for i, line := range found {
		found[i] = printable.Text(line)
	}
	return errors.New(strings.Join(found, "\n"))
}
