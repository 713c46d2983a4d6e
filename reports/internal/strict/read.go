// Package strict reads the JSON form of a results model, and accepts only what the
// model writes. encoding/json alone accepts null for any value, ignores case in names,
// and does not detect duplicate or missing fields. Problems collects what a model's
// Validate finds.
//
// It imports nothing of this module except inputfile and printable.
package strict

import (
	"bytes"
	"encoding/json"
	"fmt"

	"outreach.example/conformance/internal/inputfile"
)

// Format describes the file format of a results model.
type Format[T any] struct {
	Name    string // of the model, for errors
	Version string // of the model; Read rejects files of other versions
	MaxSize int64  // of a file, in bytes
	// Field is the top-level field that only this model has; see kinds.
	Field string
	// Complete replaces each required array and object that is nil with an empty one, as
	// the model's encoder does.
	Complete func(T) T
	Validate func(T) error // checks the model's rules
}

// Read returns the value in the file at path. Errors name the file.
func (f Format[T]) Read(path string) (T, error) {
	var none T
	body, err := inputfile.Read(path, f.MaxSize)
	if err != nil {
		return none, fmt.Errorf("read %s: %w", f.Name, err)
	}
	value, err := f.Parse(body)
	if err != nil {
		return none, fmt.Errorf("%s: %w", path, err)
	}
	return value, nil
}

// Parse returns the value in a JSON document, as strictly as Read.
func (f Format[T]) Parse(body []byte) (T, error) {
	var none T
	if int64(len(body)) > f.MaxSize {
		return none, f.tooLarge(len(body))
	}
	value, err := f.decode(body)
	if err != nil {
		return none, err
	}
	if err := f.Validate(value); err != nil {
		return none, err
	}
	return value, nil
}

func (f Format[T]) tooLarge(size int) error {
	return fmt.Errorf("more than %d bytes: %d (not a %s file)", f.MaxSize, size, f.Name)
}

// decode returns the value in a JSON document, which need not obey the model's rules.
// The document is an object with the model's version in the field "version". Errors
// have a JSON pointer.
func (f Format[T]) decode(body []byte) (T, error) {
	var none, r T
	given, err := decodeTree(body)
	if err != nil {
		return none, err
	}
	if err := checkKind(given, f.Field); err != nil { // first, because each kind has versions of its own
		return none, err
	}
	if err := checkVersion(given, f.Version); err != nil {
		return none, err
	}
	if err := json.Unmarshal(body, &r); err != nil {
		return none, fmt.Errorf("not the JSON form of results: %w", err)
	}

	// Encoding the value again shows what the decoder ignored.
	var again bytes.Buffer
	if err := json.NewEncoder(&again).Encode(f.Complete(r)); err != nil {
		return none, fmt.Errorf("results have no JSON form: %w", err)
	}
	decoded, err := decodeTree(again.Bytes())
	if err != nil {
		return none, err
	}
	if err := sameShape(given, decoded, ""); err != nil {
		return none, err
	}
	return r, nil
}

// kinds are the results files of the harness, each with a field that only it has.
// part.json also has the field of a load.json, and so stands before it.
var kinds = []struct{ field, file string }{
	{"checks", "the results.json of run"},
	{"outcomes", "the part.json of load --shard"},
	{"scenarios", "the load.json of load"},
	{"parts", "the difference.json of report diff"},
}

// checkKind returns an error if the document is a results file of another kind than the
// one with the field.
func checkKind(tree any, field string) error {
	object, _ := tree.(map[string]any)
	is, want := "", ""
	for _, k := range kinds {
		if _, has := object[k.field]; has && is == "" {
			is = k.file
		}
		if k.field == field {
			want = k.file
		}
	}
	if is == "" || want == "" || is == want {
		return nil
	}
	return fmt.Errorf("this is %s (want %s)", is, want)
}

func checkVersion(tree any, want string) error {
	object, ok := tree.(map[string]any)
	if !ok {
		return fmt.Errorf("a JSON %s, want an object", kind(tree))
	}
	switch version := object["version"].(type) {
	case string:
		if version != want {
			return fmt.Errorf("/version: the file has results model %q, this build reads %q (use the release that wrote the file)", version, want)
		}
		return nil
	default:
		return fmt.Errorf("/version: missing (this is not a results file)")
	}
}
