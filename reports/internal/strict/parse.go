// Package strict reads the JSON form of a results model and accepts what the
// model writes and nothing else: encoding/json alone takes null for anything,
// ignores case in names, and misses doubled and absent fields. It also collects
// what a model finds wrong with itself.
//
// It imports nothing of this module but how to print what came from outside.
package strict

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// parse returns the value of which body is the JSON form. The document is an
// object whose field "version" must be the model's version. Errors hold a JSON
// pointer.
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

	// What comes back from the model shows what the decoder overlooked.
	var again bytes.Buffer
	if err := json.NewEncoder(&again).Encode(complete(r)); err != nil {
		return none, fmt.Errorf("results have no JSON form: %w", err)
	}
	understood, err := decodeTree(again.Bytes())
	if err != nil {
		return none, err
	}
	if err := sameShape(given, understood, ""); err != nil {
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
