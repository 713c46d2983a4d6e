// Package format holds the string formats of the OpenAPI document. They are
// stricter than those of the usual libraries. The package schemas registers them
// with every library that validates. The package imports nothing of this module.
//
// Standard formats have names that all tools know. A strict format narrows a standard
// one: the document names the strict format under x-format, beside a pattern and, if no
// client may rewrite the text, without the standard format.
package format

import (
	"errors"
	"fmt"
	"maps"
	"net/mail"
	"slices"
	"time"

	"github.com/google/uuid"
)

// Format is one named string format.
type Format struct {
	Words string // the format in words that follow "is"
	Check func(string) error

	// Standard and Pattern say the same to tools that know neither this package nor
	// x-format. They are empty for a standard format.
	Standard, Pattern string
}

// The patterns are in the syntax that Go, ECMAScript and generators of text have in common.
const (
	patternV7 = `^[0-9A-Fa-f]{8}-[0-9A-Fa-f]{4}-7[0-9A-Fa-f]{3}-[89ABab][0-9A-Fa-f]{3}-[0-9A-Fa-f]{12}$`
	// A text that is generated from the pattern must be a day of the calendar, so that the
	// lengths of months and the leap years are in it.
	patternDate = `([0-9]{4}-((0[13578]|1[02])-(0[1-9]|[12][0-9]|3[01])|(0[469]|11)-(0[1-9]|[12][0-9]|30)|02-(0[1-9]|1[0-9]|2[0-8]))` +
		`|([0-9]{2}(0[48]|[2468][048]|[13579][26])|([02468][048]|[13579][26])00)-02-29)`
	patternDay       = `^` + patternDate + `$`
	patternTimestamp = `^` + patternDate + `T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]\.[0-9]{3}Z$`
)

var formats = map[string]Format{
	"uuid":      {Words: "a UUID", Check: checkUUID},
	"date-time": {Words: "an RFC 3339 timestamp", Check: checkDateTime},
	"date":      {Words: "a calendar date YYYY-MM-DD", Check: checkDate},
	"email":     {Words: "an email address", Check: checkEmail},

	"uuid-v7": {Words: "a UUID of version 7", Check: checkUUIDv7, Standard: "uuid", Pattern: patternV7},
	"day":     {Words: "a calendar date YYYY-MM-DD", Check: checkDate, Standard: "date", Pattern: patternDay},
	"timestamp-ms": {Words: "an ISO 8601 UTC timestamp with milliseconds, such as 2026-03-01T09:30:00.000Z",
		Check: checkTimestamp, Standard: "date-time", Pattern: patternTimestamp},
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
	if len(s) != 36 || uuid.Validate(s) != nil { // Validate takes other layouts, too
		return errNoUUID
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
	// Check the length too: time.Parse accepts a comma for the point, more digits of a
	// fraction, and a sign before them.
	const layout = "2006-01-02T15:04:05.000Z"
	if len(s) != len(layout) || s[19] != '.' || s[20] < '0' {
		return errors.New("not of the form " + layout)
	}
	_, err := time.Parse(layout, s)
	return err
}

func checkDateTime(s string) error {
	_, err := time.Parse(time.RFC3339, s)
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
