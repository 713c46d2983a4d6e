package main

import (
	"encoding/csv"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"
)

// emptyMeansNone are flags of which an empty value says something.
var emptyMeansNone = []string{"truth-addr", "webhook-url"}

// refuseEmpty refuses flags that were given nothing: most come from a shell
// variable that is not set, and a filter of nothing would select everything. An
// empty environment variable is another matter: it is one that is not set.
func refuseEmpty(flags *pflag.FlagSet) error {
	var wrong []error
	flags.Visit(func(f *pflag.Flag) {
		given := []string{f.Value.String()}
		if list, ok := f.Value.(pflag.SliceValue); ok {
			given = list.GetSlice()
		}
		blank := func(s string) bool { return strings.TrimSpace(s) == "" }
		switch {
		case slices.Contains(emptyMeansNone, f.Name):
		case len(given) == 0 || len(given) == 1 && blank(given[0]):
			wrong = append(wrong, fmt.Errorf("--%s is given an empty value: give it one, or leave the flag out%s", f.Name, without(f)))
		case slices.ContainsFunc(given, blank):
			wrong = append(wrong, fmt.Errorf("--%s is given an empty value among others (%s): leave it out", f.Name, strings.Join(given, ",")))
		}
	})
	return errors.Join(wrong...)
}

// without says what holds when the flag is left out, if it has a default.
func without(f *pflag.Flag) string {
	if f.DefValue == "" || f.DefValue == "[]" {
		return ""
	}
	return " for " + strings.Trim(f.DefValue, "[]")
}

// plainly says of a value that cannot be read what would be one; named is how
// the user gave it, such as --seed or OUTREACH_SEED.
func plainly(named string, invalid *pflag.InvalidValueError) error {
	said := func(want string) error { return fmt.Errorf("%s=%q: want %s", named, invalid.GetValue(), want) }
	var malformed *csv.ParseError
	switch kind := invalid.GetFlag().Value.Type(); {
	case errors.As(invalid, &malformed):
		return said("values with commas between them, and quotes only in pairs around a whole value")
	case errors.Is(invalid, strconv.ErrRange):
		return said("a smaller number")
	case kind == "uint" || kind == "uint64":
		return said("a whole number, 0 or above")
	case kind == "int" || kind == "int64":
		return said("a whole number")
	case kind == "float64":
		return said("a number")
	case kind == "intSlice":
		return said("whole numbers with commas between them, such as 10,100")
	case kind == "bool":
		return said("true or false")
	case kind == "duration":
		return said("a time with its unit, such as 500ms, 30s or 5m")
	case kind == "durationSlice":
		return said("times with their units and commas between them, such as 1s,30s")
	case kind == "stringToInt":
		return said("NAME=NUMBER, with commas between several")
	default:
		return fmt.Errorf("%s=%q: %w", named, invalid.GetValue(), invalid.Unwrap())
	}
}
