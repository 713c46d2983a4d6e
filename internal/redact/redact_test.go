package redact

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"html"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// spelling is a way to show a text.
type spelling struct {
	name string
	show func(s string) string
}

// perByte writes every byte of a text in a format.
func perByte(format string) func(string) string {
	return func(s string) string {
		var b strings.Builder
		for i := range len(s) {
			fmt.Fprintf(&b, format, s[i])
		}
		return b.String()
	}
}

// between inserts a text after every few characters.
func between(inserted string, every int) func(string) string {
	return func(s string) string {
		var b strings.Builder
		for i, r := range []rune(s) {
			if i%every == every-1 {
				b.WriteString(inserted)
			}
			b.WriteRune(r)
		}
		return b.String()
	}
}

func identical(s string) string { return s }

// encodedAt returns base64 of a text that begins offset bytes after a multiple of 3.
func encodedAt(encoding *base64.Encoding, offset int) func(string) string {
	return func(s string) string { return encoding.EncodeToString([]byte("??>"[:offset] + s)) }
}

// forms of a key, and spellings of a form. A composition is a form and up to three
// spellings around it.
var (
	keyForms = []spelling{
		{"plain", identical},
		{"upper case", strings.ToUpper},
		{"lower case", strings.ToLower},
		{"hex", func(s string) string { return hex.EncodeToString([]byte(s)) }},
		{"upper hex", func(s string) string { return strings.ToUpper(hex.EncodeToString([]byte(s))) }},
		{"hex of upper case", func(s string) string { return hex.EncodeToString([]byte(strings.ToUpper(s))) }},
		{"base64", encodedAt(base64.StdEncoding, 0)},
		{"base64 at 1", encodedAt(base64.StdEncoding, 1)},
		{"base64 at 2", encodedAt(base64.StdEncoding, 2)},
		{"base64 for addresses", encodedAt(base64.URLEncoding, 0)},
		{"base64 for addresses at 1", encodedAt(base64.RawURLEncoding, 1)},
		{"base64 for addresses at 2", encodedAt(base64.URLEncoding, 2)},
		{"base64 of lower case", func(s string) string { return encodedAt(base64.StdEncoding, 0)(strings.ToLower(s)) }},
	}
	spellings = []spelling{
		{"plain", identical},
		{"query", url.QueryEscape},
		{"percent", perByte("%%%02x")},
		{"upper percent", perByte("%%%02X")},
		{"JSON", func(s string) string { b, _ := json.Marshal(s); return string(b[1 : len(b)-1]) }},
		{"JSON escapes", perByte(`\u%04x`)},
		{"upper JSON escapes", perByte(`\u%04X`)},
		{`\x`, perByte(`\x%02x`)},
		{"octal", perByte(`\%03o`)},
		{"decimal entities", perByte("&#%d;")},
		{"hex entities", perByte("&#x%X;")},
		{"named entities", html.EscapeString},
		{"named entities of more", func(s string) string {
			return strings.NewReplacer("_", "&lowbar;", "-", "&hyphen;", "/", "&sol;", "+", "&plus;", ".", "&period;", "=", "&equals;").Replace(s)
		}},
		{"zero width", between("\u200b", 3)},
		{"zero width joiner", between("\u200d", 1)},
		{"byte order mark", between("\ufeff", 5)},
		{"soft hyphen", between("\u00ad", 4)},
		{"soft hyphen entity", between("&shy;", 4)},
		{"control", between("\x01", 2)},
		{"line break", between("\n", 6)},
		{"tab", between("\t", 7)},
		{"direction mark", between("\u202e", 3)},
		{"variation selector", between("\ufe0f", 3)},
	}
)

// asDecoded returns the texts that a reader can get from a text with common decoders.
// It shares no code with the package.
func asDecoded(text string) []string {
	hidden := regexp.MustCompile(`[\p{Cc}\p{Cf}\p{Mn}\p{Me}]`)
	escapes := regexp.MustCompile(`%[0-9a-fA-F]{2}|\\u[0-9a-fA-F]{4}|\\x[0-9a-fA-F]{2}|\\[0-3][0-7]{2}`)
	var all []string
	for range 4 {
		text = hidden.ReplaceAllString(text, "")
		all = append(all, text)
		text = html.UnescapeString(escapes.ReplaceAllStringFunc(text, func(e string) string {
			base, digits := 16, strings.TrimLeft(e[1:], "ux")
			if e[0] == '\\' && e[1] != 'u' && e[1] != 'x' {
				base, digits = 8, e[1:]
			}
			code, _ := strconv.ParseUint(digits, base, 32)
			if len(digits) == 4 {
				return string(rune(code))
			}
			return string([]byte{byte(code)})
		}))
	}
	return all
}

// shows returns 12 characters of the key, its hex or its base64 that a text shows.
func shows(text, key string) string {
	var secret []string
	for _, k := range []string{key, strings.ToLower(key), strings.ToUpper(key)} {
		secret = append(secret, k, hex.EncodeToString([]byte(k)))
		for _, encoding := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
			for offset := range 3 {
				encoded := encoding.EncodeToString([]byte("\x00\x00\x00"[:offset] + k))
				secret = append(secret, encoded[(offset*8+5)/6:(offset+len(k))*8/6])
			}
		}
	}
	for _, decoded := range asDecoded(text) {
		decoded = strings.ToLower(decoded)
		for _, s := range secret {
			s = strings.ToLower(s)
			for i := 0; i+minPart <= len(s); i++ {
				if part := s[i : i+minPart]; strings.Contains(decoded, part) {
					return part
				}
			}
		}
	}
	return ""
}

// drawKey draws a key of which no part is too monotonous to be redacted.
func drawKey(t *rapid.T) string {
	return rapid.StringMatching(`[A-Za-z0-9_/+.~=-]{12,60}`).Filter(func(key string) bool {
		for i := 0; i+minPart <= len(key); i++ {
			if !varied(strings.ToLower(key[i : i+minPart])) {
				return false
			}
		}
		return true
	}).Draw(t, "key")
}

// drawn returns the key in a random composition of spellings.
func drawn(t *rapid.T, key string) string {
	text := rapid.SampledFrom(keyForms).Draw(t, "form").show(key)
	for range rapid.IntRange(0, 3).Draw(t, "spellings") {
		text = rapid.SampledFrom(spellings).Draw(t, "spelling").show(text)
	}
	return text
}

func setOf(secrets ...string) *Set {
	s := NewSet()
	for i, secret := range secrets {
		s.Learn(secret, fmt.Sprintf("KEY_%d", i))
	}
	return s
}

func (s spelling) String() string { return s.name }

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
		{"percent-encoded twice", url.QueryEscape(url.QueryEscape(token)), "$OUTREACH_KEY_MAIN"},
		{"around a zero-width space that a line break tears apart", token[:9] + "%E2&#xA;%80%8B" + token[9:], "$OUTREACH_KEY_MAIN"},
		{"in escapes of escapes that references to tabs tear apart", between("&#x9;", 7)(perByte(`\x%02x`)(perByte(`\u%04x`)(token))), "$OUTREACH_KEY_MAIN"},
		{"base64", "Basic " + b64([]byte(token)), "Basic [redacted]"},
		{"Basic credentials", "Basic " + b64([]byte("user:"+token)), "Basic [redacted]"},
		{"Basic credentials, percent-encoded", url.QueryEscape(b64([]byte(token + ":???>>>"))), "[redacted]"},
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
		{"too little of it to be told", token[:7] + "…", token[:7] + "…"},
		{"its beginning within a text", token[:11] + " is not cut off", token[:11] + " is not cut off"},
		{"a part within a text", token[1:13] + " is not cut off", "[redacted] is not cut off"},
		{"whole, and the beginning of another", token, "$OUTREACH_KEY_MAIN"},
		{"percent-encoded and cut off", url.QueryEscape(token)[:12] + "…", "[redacted]…"},
		{"cut off within an escape", url.QueryEscape(token)[:24] + "…", "[redacted]%3…"},
		{"base64, cut off", "Basic " + b64([]byte("user:" + token))[:20] + "…", "Basic [redacted]…"},
		{"a short one as base64", "Basic " + b64([]byte("test")), "Basic [redacted]=="},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := set.Text(tc.in); got != tc.want {
				t.Errorf("got %s, want %s", got, tc.want)
			}
		})
	}
}

// Whatever spelling a target chooses, nothing leaves that shows a part of a key.
func TestNoSpellingOfAKeySurvives(t *testing.T) {
	around := rapid.StringMatching(`[ -~é…]{0,12}`)
	rapid.Check(t, func(t *rapid.T) {
		key := drawKey(t)
		said := around.Draw(t, "before") + drawn(t, key) + around.Draw(t, "after")
		said = said[:rapid.IntRange(0, len(said)).Draw(t, "cut")] + rapid.SampledFrom([]string{"", "…", "… " + said}).Draw(t, "rest")
		said = strings.ToValidUTF8(said, "�")
		set := setOf(drawKey(t), key, drawKey(t))

		var markup strings.Builder
		_ = xml.EscapeText(&markup, []byte(said))
		document, _ := json.MarshalIndent(map[string]any{"actual": said, "items": []string{said, "ok"}}, "", "  ")
		for format, content := range map[string]string{
			"text":   said,
			"JSON":   string(document),
			"XML":    xml.Header + "<a b=\"" + markup.String() + "\">\n" + markup.String() + "</a>",
			"HTML":   "<!doctype html><p title='" + html.EscapeString(said) + "'>" + html.EscapeString(said) + "</p>",
			"binary": "\x00\x01" + said,
		} {
			got := string(set.Content([]byte(content)))
			if part := shows(got, key); part != "" {
				t.Fatalf("%s: %q became %q, which shows %q", format, content, got, part)
			}
			switch format {
			case "JSON":
				if !json.Valid([]byte(got)) {
					t.Fatalf("%q became %q, which is no JSON", content, got)
				}
			case "XML":
				if err := xml.Unmarshal([]byte(got), new(struct{})); err != nil {
					t.Fatalf("%q became %q: %v", content, got, err)
				}
			case "binary":
				if len(got) != len(content) {
					t.Fatalf("%q became %q, of another length", content, got)
				}
			}
		}
		if part := shows(set.Text(said), key); part != "" {
			t.Fatalf("%q became %q, which shows %q", said, set.Text(said), part)
		}
	})
}

// Each spelling alone is found, so that no other one of the property test hides it.
func TestEachSpellingIsRedacted_long(t *testing.T) {
	const key = "Sk_live-4fG7/hJ2+kL9.mN0=pQ3"
	set := setOf(key)
	for _, form := range keyForms {
		for _, s := range spellings {
			for _, again := range spellings {
				said := "got " + again.show(s.show(form.show(key))) + " instead"
				got := set.Text(said)
				if part := shows(got, key); part != "" {
					t.Fatalf("%s, %s, %s: %q became %q, which shows %q", form, s, again, said, got, part)
				}
				if !strings.HasPrefix(got, "got ") || !strings.HasSuffix(got, " instead") {
					t.Fatalf("%s, %s, %s: %q became %q", form, s, again, said, got)
				}
			}
		}
	}
}

// A stream is redacted wherever its writes are cut.
func TestNoPartSurvivesInAStream(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		key := drawKey(t)
		said := "key: " + drawn(t, key) + " was refused\n"
		var out strings.Builder
		w := setOf(key).Writer(&out)
		for rest := said; rest != ""; {
			n := rapid.IntRange(1, len(rest)).Draw(t, "write")
			if written, err := w.Write([]byte(rest[:n])); written != n || err != nil {
				t.Fatalf("wrote %d of %d: %v", written, n, err)
			}
			rest = rest[n:]
		}
		if part := shows(out.String(), key); part != "" {
			t.Fatalf("%q became %q, which shows %q", said, out.String(), part)
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
		if plain && len(folded([]byte(key))) >= minSecret && strings.Contains(got, key) && !strings.Contains(before+placeholder+after, key) &&
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
		"key placement-tests-key-1":                   "key [redacted]",
		"sk_outreach_key_0123456789":                  "$KEY_2",
	} {
		if got := string(set.Content([]byte(text))); got != want {
			t.Errorf("%s became %s, want %s", text, got, want)
		}
	}
}

// A long text is searched in pieces. Where a piece ends, the text is not cut off: words
// that only begin like a key stay, wherever they are.
func TestWordsStayWherePiecesEnd(t *testing.T) {
	set := setOf("unknown-c0ffee0123456789")
	for at := pieceBytes - 32; at <= pieceBytes; at++ {
		text := strings.Repeat("-", at) + "SILENT-UNKNOWN-CURSOR" + strings.Repeat("-", 100)
		if got := string(set.Content([]byte(text))); got != text {
			t.Errorf("at %d: %s", at, strings.Trim(got, "-"))
		}
	}
	if text := strings.Repeat("-", pieceBytes) + " unknown-c"; string(set.Content([]byte(text))) == text {
		t.Error("what is cut off at the end of a long text stays")
	}
}

// Ids and figures with rows of the same digits stay, even if a key has such a row.
func TestMonotonousPartsStay(t *testing.T) {
	const id = "00000000-0000-7000-8000-000000000001"
	set := setOf("00000000-0000-7000-8000-00000000beef", "12345678901234567890")
	for _, text := range []string{id, `{"seed": 12345678901234567890, "seconds": 0.000000000001}`} {
		if got := string(set.Content([]byte(text))); got != text {
			t.Errorf("%s became %s", text, got)
		}
	}
}

// A set may learn while it is in use.
func TestLearnWhileInUse(t *testing.T) {
	set := setOf("the-first-key-0123")
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			key := fmt.Sprintf("key-number-%d-of-eight", i)
			set.Learn(key, "")
			set.Public("nothing")
			if got := set.Text("the-first-key-0123 " + key); got != "$KEY_0 [redacted]" {
				t.Errorf("got %s", got)
			}
		})
	}
	all.Wait()
}
