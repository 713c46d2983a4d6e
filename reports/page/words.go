package page

import (
	"fmt"
	"strings"
	"time"

	"outreach.example/conformance/internal/printable"
	"outreach.example/conformance/reports"
)

// Whole formats n with a comma between thousands.
func Whole(n int64) string { return printable.Number(n) }

// Clock formats a time, in UTC.
func Clock(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05 UTC") }

// whole is Whole for the integers of a template.
func whole(n any) (string, error) {
	switch n := n.(type) {
	case int:
		return Whole(int64(n)), nil
	case int64:
		return Whole(n), nil
	}
	return "", fmt.Errorf("%T is no integer", n)
}

// Named returns the name of the target, printable.
func Named(t reports.Target) string {
	if t.Name == "" {
		return "a target without a name"
	}
	return reports.Printable(t.Name)
}

// Address returns the address of the target, without a user and a password.
func Address(t reports.Target) string {
	scheme, rest, found := strings.Cut(t.BaseURL, "://")
	if !found {
		return t.BaseURL
	}
	authority := rest
	if end := strings.IndexAny(rest, "/?#"); end >= 0 {
		authority = rest[:end]
	}
	return scheme + "://" + rest[strings.LastIndexByte(authority, '@')+1:]
}

// Duration formats seconds.
func Duration(seconds float64) string {
	if seconds < 120 {
		return printable.Figure(seconds) + " s"
	}
	return (time.Duration(seconds) * time.Second).String()
}

// Size formats a number of bytes.
func Size(n int64) string {
	units := []string{"B", "KiB", "MiB", "GiB", "TiB"}
	v, unit := float64(n), 0
	for v >= 1024 && unit < len(units)-1 {
		v, unit = v/1024, unit+1
	}
	return printable.Figure(v) + " " + units[unit]
}
