package redact

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"html"
	"html/template"
	"maps"
	"net/url"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// forms are the ways to show a key that a set finds.
var forms = map[string]func(string) string{
	"plain":      func(s string) string { return s },
	"upper case": strings.ToUpper,
	"JSON":       func(s string) string { b, _ := json.Marshal(s); return string(b[1 : len(b)-1]) },
	"PHP's JSON": func(s string) string {
		return strings.NewReplacer("/", `\/`, `"`, `\"`).Replace(s)
	},
	"query":                 url.QueryEscape,
	"path":                  url.PathEscape,
	"lower query":           func(s string) string { return strings.ToLower(url.QueryEscape(s)) },
	"HTML":                  template.HTMLEscapeString,
	"XML":                   func(s string) string { var b strings.Builder; _ = xml.EscapeText(&b, []byte(s)); return b.String() },
	"hex":                   func(s string) string { return hex.EncodeToString([]byte(s)) },
	"upper hex":             func(s string) string { return strings.ToUpper(hex.EncodeToString([]byte(s))) },
	"base64":                func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) },
	"base64 of credentials": func(s string) string { return base64.StdEncoding.EncodeToString([]byte("me:" + s)) },
	"base64 of more":        func(s string) string { return base64.RawURLEncoding.EncodeToString([]byte("?" + s + "?")) },
}

// drawKey draws a key that a header can hold, and of which escapes change a part.
func drawKey(t *rapid.T) string {
	return rapid.StringMatching(`[A-Za-z0-9_/+.~=&"<-]{16,60}`).Draw(t, "key")
}

// drawn returns the key in a form, and 12 characters of it that nothing may show.
func drawn(t *rapid.T, key string) (said, told string) {
	said = forms[rapid.SampledFrom(slices.Sorted(maps.Keys(forms))).Draw(t, "form")](key)
	return said, said[4:16]
}

func setOf(secrets ...string) *Set {
	s := NewSet()
	for i, secret := range secrets {
		s.Learn(secret, fmt.Sprintf("KEY_%d", i))
	}
	return s
}

func TestText(t *testing.T) {
	const token, hidden = "s3cr3t/T0ken+of==main", "another secret & more"
	set := NewSet()
	for secret, env := range map[string]string{token: "OUTREACH_KEY_MAIN", token + "x": "OUTREACH_KEY_MAIN_2", "test": "OUTREACH_KEY_SHORT", hidden: "", "": "NONE"} {
		set.Learn(secret, env)
	}
	b64 := base64.StdEncoding.EncodeToString
	for _, tc := range []struct{ name, in, want string }{
		{"nothing", "", ""},
		{"no secret", "nothing to hide: 100 %", "nothing to hide: 100 %"},
		{"plain", "Bearer " + token + "!", "Bearer $OUTREACH_KEY_MAIN!"},
		{"twice", token + " " + token, "$OUTREACH_KEY_MAIN $OUTREACH_KEY_MAIN"},
		{"the longer of two that begin alike", token + "x", "$OUTREACH_KEY_MAIN_2"},
		{"percent-encoded", "k=" + url.QueryEscape(token) + "&x", "k=$OUTREACH_KEY_MAIN&x"},
		{"percent-encoded in lower case", strings.ToLower(url.QueryEscape("/+=")) + url.QueryEscape(token), "%2f%2b%3d$OUTREACH_KEY_MAIN"},
		{"base64", "Basic " + b64([]byte(token)), "Basic [redacted]"},
		{"Basic credentials", "Basic " + b64([]byte("user:"+token)), "Basic [redacted]"},
		{"base64 for addresses", base64.URLEncoding.EncodeToString([]byte("??>" + token)), "[redacted]"},
		{"unnamed", "say " + hidden, "say [redacted]"},
		{"unnamed in a query", "?a=" + url.QueryEscape(hidden), "?a=[redacted]"},
		{"JSON as Go writes it", `"another secret \u0026 more"`, `"[redacted]"`},
		{"a short one as a word", `{"key":"test"}`, `{"key":"$OUTREACH_KEY_SHORT"}`},
		{"a short one within a word", "/inbox-placement-tests", "/inbox-placement-tests"},
		{"cut off by an ellipsis", "said " + token[:8] + "… and more", "said [redacted]… and more"},
		{"cut off by three dots", token[:12] + "...", "[redacted]..."},
		{"cut off before a space and an ellipsis", token[:12] + " … (the rest is left out)", "[redacted] … (the rest is left out)"},
		{"cut off by the end", "Bearer " + token[:len(token)-1], "Bearer [redacted]"},
		{"cut off in quotes", `"` + token[:10] + `…"`, `"[redacted]…"`},
		{"its beginning within a text", token[:11] + " is not cut off", token[:11] + " is not cut off"},
		{"whole, and the beginning of another", token, "$OUTREACH_KEY_MAIN"},
		{"percent-encoded and cut off", url.QueryEscape(token)[:12] + "…", "[redacted]…"},
		{"cut off within an escape", url.QueryEscape(token)[:24] + "…", "[redacted]…"},
		{"base64, cut off", "Basic " + b64([]byte("user:" + token))[:20] + "…", "Basic dXNlcjp[redacted]…"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := set.Text(tc.in); got != tc.want {
				t.Errorf("got %s, want %s", got, tc.want)
			}
		})
	}
}

// In each form and in each kind of file, nothing of a key stays, whole or cut off.
func TestNoFormOfAKeyStays(t *testing.T) {
	around := rapid.StringMatching(`[ é…]([ -~é…]{0,12}[ é…])?`)
	rapid.Check(t, func(t *rapid.T) {
		key := drawKey(t)
		said, told := drawn(t, key)
		if cut := rapid.Bool().Draw(t, "cut"); cut {
			said = said[:rapid.IntRange(16, len(said)).Draw(t, "length")] + "…"
		}
		said = around.Draw(t, "before") + said + around.Draw(t, "after")
		set := setOf(drawKey(t), key, drawKey(t))
		document, _ := json.MarshalIndent(map[string]any{"actual": set.Text(said), "items": []string{set.Text(said), "ok"}}, "", "  ")
		for format, content := range map[string]string{
			"text":   said,
			"JSON":   string(document),
			"HTML":   "<!doctype html><p title='" + html.EscapeString(set.Text(said)) + "'>" + html.EscapeString(set.Text(said)) + "</p>",
			"binary": "\x00\x01" + said,
		} {
			got := string(set.Content([]byte(content)))
			if strings.Contains(got, told) {
				t.Fatalf("%s: %q became %q, which shows %q", format, content, got, told)
			}
			if format == "JSON" && !json.Valid([]byte(got)) {
				t.Fatalf("%q became %q, which is no JSON", content, got)
			}
			if format == "binary" && len(got) != len(content) {
				t.Fatalf("%q became %q, of another length", content, got)
			}
		}
	})
}

// JSON and markup stay well-formed, wherever a key seems to stand.
func TestFilesStayWellFormed(t *testing.T) {
	document, markup := []byte(`{"a": [1234567890123, "b\u0041bcdefgh", true]}`), []byte(`<?xml version="1.0"?><testcase name="testcase &quot;a">testcase</testcase>`)
	set := setOf("1234567890123", "0041bcdefgh", `[1234567890`, "testcase", "quot;a\">testcase")
	if got := string(set.Content(document)); got != string(document) {
		t.Errorf("%s became %s", document, got)
	}
	if got, want := string(set.Content(markup)), `<?xml version="1.0"?><testcase name="$KEY_3 &quot;a">$KEY_3</testcase>`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// A stream is redacted wherever its writes are cut.
func TestNoPartStaysInAStream(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		key := drawKey(t)
		word, told := drawn(t, key)
		said := "key: " + word + " was refused\n"
		var out strings.Builder
		w := setOf(key).Writer(&out)
		for rest := said; rest != ""; {
			n := rapid.IntRange(1, len(rest)).Draw(t, "write")
			if written, err := w.Write([]byte(rest[:n])); written != n || err != nil {
				t.Fatalf("wrote %d of %d: %v", written, n, err)
			}
			rest = rest[n:]
		}
		if strings.Contains(out.String(), told) {
			t.Fatalf("%q became %q, which shows %q", said, out.String(), told)
		}
	})
}

// Text without a secret stays as it is, in every format.
func TestTheRestStays(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		set := setOf(drawKey(t), drawKey(t))
		text := rapid.String().Draw(t, "text")
		var out strings.Builder
		_, _ = set.Writer(&out).Write([]byte(text))
		for _, got := range []string{set.Text(text), string(set.Content([]byte(text))), out.String()} {
			if got != text {
				t.Fatalf("%q became %q", text, got)
			}
		}
	})
}

func FuzzContent(f *testing.F) {
	f.Add("a%20b%", "secret%20x/0123", "%")
	f.Add(`{"a":"\u00`, "0123456789ab", `\n"}`)
	f.Add("<a b='&#x", "Sk_live-4fG7hJ2", "'>")
	f.Fuzz(func(t *testing.T, before, bytes, after string) {
		key := visibleASCII(bytes)
		set, text := setOf(key), before+key+after
		got := string(set.Content([]byte(text)))
		if strings.HasPrefix(text, "{") && json.Valid([]byte(text)) && !json.Valid([]byte(got)) {
			t.Fatalf("%q became %q, which is no JSON", text, got)
		}
		if utf8.ValidString(text) && !utf8.ValidString(got) {
			t.Fatalf("%q became %q, which is no UTF-8", text, got)
		}
		plain := !strings.HasPrefix(strings.TrimLeft(text, " \t\r\n"), "<") && !json.Valid([]byte(text))
		if plain && len(key) >= minSecret && strings.Contains(got, key) && !strings.Contains(before+placeholder+after, key) &&
			!strings.Contains("$KEY_0"+placeholder, key) && strings.Count(got, key) >= strings.Count(text, key) {
			t.Fatalf("%q is left in %q", key, got)
		}
		_ = set.Text(text)
		_, _ = set.Writer(&strings.Builder{}).Write([]byte(text))
	})
}

// visibleASCII makes a key of any bytes: a header can hold no other characters.
func visibleASCII(bytes string) string {
	key := []byte(bytes)
	for i, b := range key {
		if b <= ' ' || b > '~' {
			key[i] = '!' + b%('~'-'!'+1)
		}
	}
	return string(key)
}

// The words of reports stay, even if a key consists of them. All else of the key goes.
func TestPublicWordsStay(t *testing.T) {
	set := setOf("my-inbox-placement-tests-key-1", "inconclusive", "sk_outreach_key_0123456789")
	set.Public("GET /api/v2/inbox-placement-tests", `"enum": ["pass", "inconclusive"]`, "$OUTREACH_KEY_")
	for text, want := range map[string]string{
		`{"operation": "inbox-placement-tests.list"}`: `{"operation": "inbox-placement-tests.list"}`,
		`{"verdict": "inconclusive"}`:                 `{"verdict": "inconclusive"}`,
		"$OUTREACH_KEY_MAIN":                          "$OUTREACH_KEY_MAIN",
		"key my-inbox-placement-tests-key-1!":         "key $KEY_0!",
		"key my-inbox-placement-tests-k…":             "key [redacted]…",
		"sk_outreach_key_0123456789":                  "$KEY_2",
	} {
		if got := string(set.Content([]byte(text))); got != want {
			t.Errorf("%s became %s, want %s", text, got, want)
		}
	}
}
