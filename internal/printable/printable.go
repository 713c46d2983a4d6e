// Package printable makes text safe to print, and formats numbers. It imports nothing
// of this module.
package printable

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Text returns s as one line that is safe to print. It escapes control characters,
// terminal sequences, bidirectional and zero-width marks, invalid UTF-8, and the beginning
// of a command of a CI system. Views call it on every string that a target can influence.
func Text(s string) string {
	if strings.Contains(s, "::") || strings.Contains(s, "##") { // rarely
		s = ciCommand.ReplaceAllStringFunc(s, strings.NewReplacer("::", `\x3a:`, "[", `\x5b`).Replace)
	}
	if plain(s) {
		return s
	}
	var b strings.Builder
	for len(s) > 0 {
		r, size := utf8.DecodeRuneInString(s)
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\x%02x`, s[0])
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\r':
			b.WriteString(`\r`)
		case r == '\t':
			b.WriteString(`\t`)
		case unicode.IsPrint(r):
			b.WriteRune(r)
		case r < 0x80:
			fmt.Fprintf(&b, `\x%02x`, r)
		case r > 0xffff:
			fmt.Fprintf(&b, `\U%08x`, r)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
		s = s[size:]
	}
	return b.String()
}

// ciCommand matches the beginning of a command that a runner obeys, in any letter case: GitHub's at the
// beginning of a line, and older ones of GitHub and those of Azure and TeamCity anywhere in it.
var ciCommand = regexp.MustCompile(`(?i)^\s*::[a-z].*::|##[a-z]*\[`)

func plain(s string) bool {
	for i := range len(s) {
		if s[i] < 0x20 || s[i] >= 0x7f {
			return false
		}
	}
	return true
}

// Number returns n in digits with a comma between thousands.
func Number[N int | int64 | uint64](n N) string {
	digits := strconv.FormatInt(int64(n), 10)
	sign := ""
	if n < 0 {
		sign, digits = "-", digits[1:]
	}
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return sign + digits
}

// Counted returns the number and the noun, which takes an s in the plural.
func Counted[N int | int64](n N, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return Number(n) + " " + noun
}

// Rounded returns v as reports show it: with 4 significant digits, or with all digits
// before the point.
func Rounded(v float64) float64 {
	if math.Abs(v) >= 999.95 { // 4 digits of it are 1,000 or more
		return math.Round(v)
	}
	rounded, _ := strconv.ParseFloat(strconv.FormatFloat(v, 'e', 3, 64), 64) // cannot fail: it was just formatted
	return rounded
}

// Figure formats Rounded(v) with a comma between thousands. Only what is below a
// millionth has an exponent.
func Figure(v float64) string {
	rounded := Rounded(v)
	switch a := math.Abs(rounded); {
	case a == 0:
		return "0"
	case math.IsNaN(v), math.IsInf(v, 0), a >= math.MaxInt64, a > 0 && a < 1e-6:
		return strconv.FormatFloat(rounded, 'g', 4, 64)
	case a >= 1000:
		return Number(int(rounded))
	default:
		return strconv.FormatFloat(rounded, 'f', -1, 64)
	}
}

// Amount formats a figure with its unit: 12 ms, 5 %, 800/s, 2x.
func Amount(v float64, unit string) string { return Figure(v) + spaced(unit) }

// Seconds formats a time in seconds: 4.5 s.
func Seconds(d time.Duration) string { return Amount(d.Seconds(), "s") }

// Milliseconds formats a latency: 2.64 ms.
func Milliseconds(d time.Duration) string { return Amount(d.Seconds()*1000, "ms") }

// Interval formats a figure with its unit and its bounds.
func Interval(v, low, high float64, unit string) string {
	if low == high {
		return Amount(v, unit)
	}
	return fmt.Sprintf("%s (%s to %s)", Amount(v, unit), Figure(low), Figure(high))
}

func spaced(unit string) string {
	if unit == "" || unit == "x" || strings.HasPrefix(unit, "/") {
		return unit
	}
	return " " + Text(unit)
}

// Lines returns s with each of its lines safe to print.
func Lines(s string) string {
	lines := strings.Split(strings.TrimRight(s, "\r\n"), "\n")
	for i, line := range lines {
		lines[i] = Text(strings.TrimRight(line, "\r"))
	}
	return strings.Join(lines, "\n")
}
