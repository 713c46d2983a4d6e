// Package strict reads the JSON form of a results model, and accepts only what the
// model writes. encoding/json alone accepts null for any value, ignores case in names,
// and does not detect duplicate or missing fields. Problems collects what a model's
// Validate finds.
//
// It imports nothing of this module except printable.
package strict

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
)

// Format describes the file format of a results model.
type Format[T any] struct {
	Name    string // of the model, for errors
	Version string // of the model; Read rejects files of other versions
	MaxSize int64  // of a file, in bytes
	// Complete replaces each required array and object that is nil by an empty one, as
	// the model's encoder does.
	Complete func(T) T
	Validate func(T) error // checks the model's rules
}

// Read returns the value in the file at path. Errors name the file.
func (f Format[T]) Read(path string) (T, error) {
	var none T
	file, err := os.Open(path)
	if err != nil {
		return none, fmt.Errorf("read %s: %w", f.Name, err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return none, fmt.Errorf("read %s: %w", f.Name, err)
	}
	if info.Size() > f.MaxSize {
		return none, fmt.Errorf("%s: %w", path, f.tooLarge())
	}
	body, err := io.ReadAll(io.LimitReader(file, f.MaxSize+1)) // the size of a pipe is unknown
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
		return none, f.tooLarge()
	}
	value, err := parse(body, f.Version, f.Complete)
	if err != nil {
		return none, err
	}
	if err := f.Validate(value); err != nil {
		return none, err
	}
	return value, nil
}

func (f Format[T]) tooLarge() error {
	return fmt.Errorf("larger than %d bytes (not a %s file)", f.MaxSize, f.Name)
}

// parse returns the value in a JSON document. The document is an object with the
// model's version in the field "version". Errors have a JSON pointer.
func parse[T any](body []byte, version string, complete func(T) T) (T, error) {
	var none, r T
	given, err := decodeTree(body)
	if err != nil {
		return none, err
	}
	if err := checkVersion(given, version); err != nil {
		return none, err
	}
	if err := json.Unmarshal(body, &r); err != nil {
		return none, fmt.Errorf("not the JSON form of results: %w", err)
	}

	// Encoding the value again shows what the decoder ignored.
	var again bytes.Buffer
	if err := json.NewEncoder(&again).Encode(complete(r)); err != nil {
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
