package strict

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"outreach.example/conformance/internal/printable"
)

// maxDepth is the maximum nesting of a results file. The models need far less.
const maxDepth = 16

// decodeTree decodes body into maps, slices and scalars. Unlike encoding/json it rejects
// duplicate names, trailing data and invalid UTF-8.
func decodeTree(body []byte) (any, error) {
	if !utf8.Valid(body) {
		return nil, errors.New("not valid UTF-8")
	}
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber()
	tree, err := decodeValue(d, "")
	if err != nil {
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return nil, fmt.Errorf("not valid JSON at byte %d: %w", d.InputOffset(), err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("not valid JSON at byte %d: data after the end of the document", d.InputOffset())
	}
	return tree, nil
}

func decodeValue(d *json.Decoder, pointer string) (any, error) {
	if strings.Count(pointer, "/") > maxDepth {
		return nil, fmt.Errorf("nested deeper than %d levels", maxDepth)
	}
	token, err := d.Token()
	if err != nil {
		return nil, err
	}
	switch token {
	case json.Delim('{'):
		return decodeObject(d, pointer)
	case json.Delim('['):
		return decodeArray(d, pointer)
	default:
		return token, nil
	}
}

func decodeObject(d *json.Decoder, pointer string) (any, error) {
	object := map[string]any{}
	for d.More() {
		token, err := d.Token()
		if err != nil {
			return nil, err
		}
		name := token.(string) // the decoder returns only strings here
		at := Below(pointer, name)
		if _, doubled := object[name]; doubled {
			return nil, fmt.Errorf("%s: duplicate field", at)
		}
		if object[name], err = decodeValue(d, at); err != nil {
			return nil, err
		}
	}
	_, err := d.Token()
	return object, err
}

func decodeArray(d *json.Decoder, pointer string) (any, error) {
	array := []any{}
	for d.More() {
		value, err := decodeValue(d, fmt.Sprintf("%s/%d", pointer, len(array)))
		if err != nil {
			return nil, err
		}
		array = append(array, value)
	}
	_, err := d.Token()
	return array, err
}

// sameShape returns an error unless a document and its decoded form have the same names
// and JSON types everywhere.
func sameShape(given, decoded any, pointer string) error {
	if kind(given) != kind(decoded) {
		return fmt.Errorf("%s: %s, want %s", pointer, kind(given), kind(decoded))
	}
	switch given := given.(type) {
	case map[string]any:
		decoded := decoded.(map[string]any)
		for _, name := range slices.Sorted(maps.Keys(given)) {
			if _, ok := decoded[name]; !ok {
				return fmt.Errorf("%s: unknown field, or empty where it must be omitted", Below(pointer, name))
			}
		}
		for _, name := range slices.Sorted(maps.Keys(decoded)) {
			if _, ok := given[name]; !ok {
				return fmt.Errorf("%s: missing", Below(pointer, name))
			}
			if err := sameShape(given[name], decoded[name], Below(pointer, name)); err != nil {
				return err
			}
		}
	case []any:
		decoded := decoded.([]any)
		for i := range given {
			if err := sameShape(given[i], decoded[i], fmt.Sprintf("%s/%d", pointer, i)); err != nil {
				return err
			}
		}
	}
	return nil
}

var pointerEscaper = strings.NewReplacer("~", "~0", "/", "~1")

// Below returns the JSON pointer of the field name in the object at pointer.
func Below(pointer, name string) string {
	const longest = 80 // names come from outside
	if len(name) > longest {
		name = name[:longest] + "…"
	}
	return pointer + "/" + printable.Text(pointerEscaper.Replace(name))
}

func kind(value any) string {
	switch value.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case json.Number:
		return "number"
	case string:
		return "string"
	case []any:
		return "array"
	default:
		return "object"
	}
}
