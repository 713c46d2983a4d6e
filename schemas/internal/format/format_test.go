package format

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestFormats(t *testing.T) {
	cases := []struct {
		format string
		good   []string
		bad    []string
	}{
		{"uuid",
			[]string{"01890a5d-ac96-774b-bcce-b302099a8057", "01890A5D-AC96-474B-BCCE-B302099A8057", "00000000-0000-0000-0000-000000000000"},
			[]string{"", "01890a5dac96774bbcceb302099a8057", "{01890a5d-ac96-774b-bcce-b302099a8057}", "01890a5d-ac96-774b-bcce-b302099a805g", "01890a5d-ac96-774b-bcce-b302099a8057\n"}},
		{"uuid-v7",
			[]string{"01890a5d-ac96-774b-bcce-b302099a8057", "01890A5D-AC96-774B-9CCE-B302099A8057"},
			[]string{"", "01890a5d-ac96-474b-bcce-b302099a8057", "01890a5d-ac96-774b-ccce-b302099a8057", "01890a5d-ac96-774b-7cce-b302099a8057"}},
		{"timestamp-ms",
			[]string{"2026-03-01T09:30:00.000Z", "2024-02-29T23:59:59.999Z"},
			[]string{"", "2026-03-01", "09:30:00", "2026-03-01T09:30:00Z", "2026-03-01T09:30:00.0Z", "2026-03-01T09:30:00.000000Z", "2026-03-01T09:30:00,000Z",
				"2026-03-01T09:30:00.000+00:00", "2026-03-01 09:30:00.000Z", "2026-02-30T09:30:00.000Z", "2026-03-01T24:00:00.000Z", "2026-03-01T09:30:00.-00Z", "2026-03-01T09:30:00.+00Z", "2026-03-01T9:30:00.0000Z"}},
		{"date-time",
			[]string{"2026-03-01T09:30:00Z", "2026-03-01T09:30:00.123456+02:00"},
			[]string{"", "2026-03-01", "09:30:00", "2026-03-01T09:30:00", "2026-02-30T09:30:00Z"}},
		{"date",
			[]string{"2026-03-01", "2024-02-29"},
			[]string{"", "2026-02-30", "2026-3-1", "2026-03-01T00:00:00.000Z", "01-03-2026", "2026-03-01 "}},
		{"day",
			[]string{"2026-03-01", "2024-02-29"},
			[]string{"", "2026-02-30", "2026-3-1", "2026-03-01T00:00:00.000Z", "01-03-2026", "2026-03-01 "}},
		{"email",
			[]string{"jane@example.com"},
			[]string{"", "jane", "Jane <jane@example.com>", "jane@example.com ", "jane@example.com, joe@example.com"}},
	}
	covered := map[string]bool{}
	for _, c := range cases {
		f, ok := Lookup(c.format)
		if !ok {
			t.Fatalf("no format %q", c.format)
		}
		covered[c.format] = true
		for _, s := range c.good {
			if err := f.Check(s); err != nil {
				t.Errorf("%s refuses %q: %v", c.format, s, err)
			}
			if f.Standard != "" && (formats[f.Standard].Check(s) != nil || !regexp.MustCompile(f.Pattern).MatchString(s)) {
				t.Errorf("%s accepts %q, and the format %s or the pattern does not", c.format, s, f.Standard)
			}
		}
		for _, s := range c.bad {
			if f.Check(s) == nil {
				t.Errorf("%s accepts %q", c.format, s)
			}
			if f.Standard != "" && regexp.MustCompile(f.Pattern).MatchString(s) {
				t.Errorf("the pattern of %s accepts %q", c.format, s)
			}
		}
	}
	for _, name := range Names() {
		if !covered[name] {
			t.Errorf("format %q has no cases", name)
		}
	}
}

// What the pattern of a strict format matches is valid, and the other way around: tools
// that do not know the strict format judge and generate the same texts.
func TestPatternsSayTheStrictFormats(t *testing.T) {
	for name, f := range formats {
		if f.Standard == "" {
			continue
		}
		pattern := regexp.MustCompile(f.Pattern)
		rapid.Check(t, func(t *rapid.T) {
			text := rapid.StringMatching(f.Pattern).Draw(t, "text")
			if err := f.Check(text); err != nil {
				t.Fatalf("%s refuses %q, which its pattern matches: %v", name, text, err)
			}
			i := rapid.IntRange(0, len(text)-1).Draw(t, "place")
			changed := text[:i] + rapid.SampledFrom(strings.Split("0123456789abfgABFZTz:-. ", "")).Draw(t, "character") + text[i+1:]
			if (f.Check(changed) == nil) != pattern.MatchString(changed) {
				t.Fatalf("%q: %s says %v, its pattern %t", changed, name, f.Check(changed), pattern.MatchString(changed))
			}
		})
	}
}

func TestTimestampIsExactlyWhatGoWrites(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		moment := time.UnixMilli(rapid.Int64Range(0, 4102444800000).Draw(t, "moment")).UTC()
		if s := moment.Format("2006-01-02T15:04:05.000Z"); checkTimestamp(s) != nil {
			t.Fatalf("%s refused: %v", s, checkTimestamp(s))
		}
	})
}
