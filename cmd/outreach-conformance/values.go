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
			wrong = append(wrong, fmt.Errorf("--%s: empty value (give one, or omit the flag%s)", f.Name, without(f)))
		case slices.ContainsFunc(given, blank):
			wrong = append(wrong, fmt.Errorf("--%s: empty value in %q", f.Name, strings.Join(given, ",")))
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
		return said("comma-separated values, with quotes only around a whole value")
	case errors.Is(invalid, strconv.ErrRange):
		return said("a smaller number")
	case kind == "uint" || kind == "uint64":
		return said("a whole number, 0 or above")
	case kind == "int" || kind == "int64":
		return said("a whole number")
	case kind == "float64":
		return said("a number")
	case kind == "intSlice":
		return said("comma-separated whole numbers, such as 10,100")
	case kind == "bool":
		return said("true or false")
	case kind == "duration":
		return said("a time with a unit, such as 500ms, 30s or 5m")
	case kind == "durationSlice":
		return said("comma-separated times with units, such as 1s,30s")
	case kind == "stringToInt":
		return said("NAME=NUMBER, comma-separated")
	default:
		return fmt.Errorf("%s=%q: %w", named, invalid.GetValue(), invalid.Unwrap())
	}
}
