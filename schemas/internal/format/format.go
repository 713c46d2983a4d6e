// Package format holds the string formats of the OpenAPI document. They are
// stricter than those of the usual libraries. The package schemas registers them
// with every library that validates. The package imports nothing of this module.
package format

import (
	"errors"
	"fmt"
	"maps"
	"net/mail"
	"slices"
	"time"
)

// Format is one named string format.
type Format struct {
	Words string // the format in words that follow "is"
	Check func(string) error
}

var formats = map[string]Format{
	"uuid":         {"a UUID", checkUUID},
	"uuid-v7":      {"a UUID of version 7", checkUUIDv7},
	"timestamp-ms": {"an ISO 8601 UTC timestamp with milliseconds, such as 2026-03-01T09:30:00.000Z", checkTimestamp},
	"date":         {"a calendar date YYYY-MM-DD", checkDate},
	"email":        {"an email address", checkEmail},
}

// Lookup returns the named format.
func Lookup(name string) (Format, bool) {
	f, ok := formats[name]
	return f, ok
}

// Names returns the names of all formats, sorted.
func Names() []string { return slices.Sorted(maps.Keys(formats)) }

var errNoUUID = errors.New("not 8-4-4-4-12 hexadecimal digits")

// checkUUID checks the layout alone. The specification states no version for
// several fields, and RFC 9562 allows both letter cases.
func checkUUID(s string) error {
	if len(s) != 36 {
		return errNoUUID
	}
	for i := range len(s) {
		switch c := s[i]; {
		case i == 8 || i == 13 || i == 18 || i == 23:
			if c != '-' {
				return errNoUUID
			}
		case '0' <= c && c <= '9', 'a' <= c && c <= 'f', 'A' <= c && c <= 'F':
		default:
			return errNoUUID
		}
	}
	return nil
}

func checkUUIDv7(s string) error {
	if err := checkUUID(s); err != nil {
		return err
	}
	if s[14] != '7' {
		return fmt.Errorf("version %c", s[14])
	}
	switch s[19] {
	case '8', '9', 'a', 'b', 'A', 'B':
		return nil
	}
	return errors.New("not the variant of RFC 9562")
}

func checkTimestamp(s string) error {
	// Check the length too: time.Parse accepts a comma for the point, and more
	// digits of a fraction.
	const layout = "2006-01-02T15:04:05.000Z"
	if len(s) != len(layout) || s[19] != '.' {
		return errors.New("not of the form " + layout)
	}
	_, err := time.Parse(layout, s)
	return err
}

func checkDate(s string) error {
	_, err := time.Parse(time.DateOnly, s)
	return err
}

// checkEmail checks for a bare address. mail.ParseAddress alone accepts
// "Jane <jane@example.com>".
func checkEmail(s string) error {
	a, err := mail.ParseAddress(s)
	if err != nil {
		return err
	}
	if a.Address != s {
		return errors.New("more than a bare address")
	}
	return nil
}
