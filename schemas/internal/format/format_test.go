package format

import (
	"regexp"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"pgregory.net/rapid"
)

func TestFormats(t *testing.T) {
	covered := map[string]bool{}
	for name, c := range map[string]struct{ good, bad []string }{
		"uuid": {[]string{"01890a5d-ac96-774b-bcce-b302099a8057", "01890A5D-AC96-474B-BCCE-B302099A8057", "00000000-0000-0000-0000-000000000000"},
			[]string{"", "01890a5dac96774bbcceb302099a8057", "{01890a5d-ac96-774b-bcce-b302099a8057}", "01890a5d-ac96-774b-bcce-b302099a805g", "01890a5d-ac96-774b-bcce-b302099a8057\n"}},
		"uuid-v7": {[]string{"01890a5d-ac96-774b-bcce-b302099a8057", "01890A5D-AC96-774B-9CCE-B302099A8057"},
			[]string{"", "01890a5d-ac96-474b-bcce-b302099a8057", "01890a5d-ac96-774b-ccce-b302099a8057", "01890a5d-ac96-774b-7cce-b302099a8057"}},
		"timestamp-ms": {[]string{"2026-03-01T09:30:00.000Z", "2024-02-29T23:59:59.999Z"},
			[]string{"", "2026-03-01", "09:30:00", "2026-03-01T09:30:00Z", "2026-03-01T09:30:00.0Z", "2026-03-01T09:30:00.000000Z", "2026-03-01T09:30:00,000Z",
				"2026-03-01T09:30:00.000+00:00", "2026-03-01 09:30:00.000Z", "2026-02-30T09:30:00.000Z", "2026-03-01T24:00:00.000Z", "2026-03-01T09:30:00.-00Z", "2026-03-01T9:30:00.0000Z"}},
		"date-time": {[]string{"2026-03-01T09:30:00Z", "2026-03-01T09:30:00.123456+02:00"}, []string{"", "2026-03-01", "09:30:00", "2026-03-01T09:30:00", "2026-02-30T09:30:00Z"}},
		"date":      {[]string{"2026-03-01", "2024-02-29"}, []string{"", "2026-02-30", "2026-3-1", "2026-03-01T00:00:00.000Z", "01-03-2026", "2026-03-01 "}},
		"day":       {[]string{"2026-03-01", "2024-02-29"}, []string{"", "2026-02-30", "2026-3-1", "2026-03-01T00:00:00.000Z", "01-03-2026", "2026-03-01 "}},
		"email":     {[]string{"jane@example.com"}, []string{"", "jane", "Jane <jane@example.com>", "jane@example.com ", "jane@example.com, joe@example.com"}},
	} {
		g := NewWithT(t)
		f, ok := Lookup(name)
		g.Expect(ok).To(BeTrue(), name)
		covered[name] = true
		for _, s := range c.good {
			g.Expect(f.Check(s)).To(Succeed(), name)
			g.Expect(f.Standard == "" || formats[f.Standard].Check(s) == nil).To(BeTrue(), "the standard format of %s refuses %q", name, s)
		}
		for _, s := range c.bad {
			g.Expect(f.Check(s)).NotTo(Succeed(), "%s accepts %q", name, s)
		}
	}
	for _, name := range Names() {
		NewWithT(t).Expect(covered).To(HaveKey(name))
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
			i := rapid.IntRange(0, len(text)-1).Draw(t, "place")
			changed := text[:i] + rapid.SampledFrom(strings.Split("0123456789abfgABFZTz:-. ", "")).Draw(t, "character") + text[i+1:]
			if f.Check(text) != nil || (f.Check(changed) == nil) != pattern.MatchString(changed) {
				t.Fatalf("%q, %q: %s says %v and %v, its pattern %t", text, changed, name, f.Check(text), f.Check(changed), pattern.MatchString(changed))
			}
		})
	}
	rapid.Check(t, func(t *rapid.T) {
		moment := time.UnixMilli(rapid.Int64Range(0, 4102444800000).Draw(t, "moment")).UTC()
		if s := moment.Format("2006-01-02T15:04:05.000Z"); checkTimestamp(s) != nil {
			t.Fatalf("%s, as Go writes it, is refused", s)
		}
	})
}
