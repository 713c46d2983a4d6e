package client

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/format"
	"pgregory.net/rapid"
)

func TestRedact(t *testing.T) {
	const token, hidden = "s3cr3t/T0ken+of==main", "another secret & more"
	c := newClient(t, Options{
		BaseURL: "http://host",
		Keys:    []Key{{Name: "main", Token: token}, {Name: "main-2", Token: token + "x"}, {Name: "short", Token: "test"}},
		Secrets: []string{hidden, ""},
	})
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
		{"its beginning within a text", token[:8] + " is not cut off", token[:8] + " is not cut off"},
		{"whole, and the beginning of another", token, "$OUTREACH_KEY_MAIN"},
		{"percent-encoded and cut off", url.QueryEscape(token)[:12] + "…", "[redacted]…"},
		{"cut off within an escape", url.QueryEscape(token)[:24] + "…", "[redacted]…"},
		{"base64, cut off", "Basic " + b64([]byte("user:" + token))[:20] + "…", "Basic [redacted]…"},
		{"a short one as base64", "Basic " + b64([]byte("test")), "Basic [redacted]=="},
	} {
		t.Run(tc.name, func(t *testing.T) {
			NewWithT(t).Expect(c.Redact(tc.in)).To(Equal(tc.want))
		})
	}
}

func TestKeysAreLearntFromRequests(t *testing.T) {
	g := NewWithT(t)
	c := newClient(t, Options{BaseURL: "http://host", Transport: roundTrip(func(*http.Request) (*http.Response, error) { return answer(200, nil), nil })})
	g.Expect(c.Redact(mainKey.Token)).To(Equal(mainKey.Token))
	c.Do(t.Context(), keyed(mainKey))
	g.Expect(c.Redact(mainKey.Token)).To(Equal("$OUTREACH_KEY_MAIN"))
}

func TestErrorsHoldNoSecret(t *testing.T) {
	g := NewWithT(t)
	c := newClient(t, Options{BaseURL: "http://host", Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
		return nil, fmt.Errorf("cannot send %v to %s", r.Header, r.URL)
	})})
	e := c.Do(t.Context(), Request{Path: "/" + mainKey.Token, Query: url.Values{"k": {mainKey.Token}}, Key: mainKey})
	g.Expect(e.Err).To(MatchError(ErrProtocol))
	g.Expect(e.Err.Error()).NotTo(ContainSubstring(mainKey.Token))
	g.Expect(e.String()).NotTo(ContainSubstring(mainKey.Token))
}

func TestPrintingAnExchangeShowsNoToken(t *testing.T) {
	g := NewWithT(t)
	raw := "Basic " + mainKey.Token
	e := Exchange{Request: Request{Path: "/" + mainKey.Token, Key: mainKey, Authorization: &raw}, Status: 200}
	asJSON, err := json.Marshal(e.Request.Key)
	g.Expect(err).NotTo(HaveOccurred())
	for _, printed := range []string{
		fmt.Sprintf("%v %+v %#v %s %q", e, e, e, e, e),
		fmt.Sprintf("%v %+v %#v %s %q", mainKey, mainKey, mainKey, mainKey, mainKey),
		fmt.Sprintf("%+v", Request{Key: mainKey}),
		format.Object(e, 1),
		format.Object([]Request{{Key: mainKey}}, 1),
		string(asJSON),
	} {
		g.Expect(printed).NotTo(ContainSubstring(mainKey.Token))
	}
	g.Expect(Key{}.String()).To(Equal("no key"))
}

func TestKeyEnv(t *testing.T) {
	g := NewWithT(t)
	g.Expect(Key{Name: "main-inbox_placement.tests-ü2"}.Env()).To(Equal("OUTREACH_KEY_MAIN_INBOX_PLACEMENT_TESTS__2"))
	g.Expect(Key{Token: "x"}.Env()).To(Equal("OUTREACH_KEY"))
}

// drawSecret draws a token that no placeholder and no fixed text can contain.
func drawSecret(t *rapid.T) string {
	return rapid.StringMatching(`[A-Za-z0-9+/=._~ &"<-]{3}[A-Za-z0-9]{9,30}[A-Za-z0-9+/=._~ &"<-]{3}`).Draw(t, "secret")
}

// encodings are the encodings of a secret in the property tests.
var encodings = map[string]func(string) string{
	"plain":           func(s string) string { return s },
	"query":           url.QueryEscape,
	"path":            url.PathEscape,
	"query in query":  func(s string) string { return url.QueryEscape(url.QueryEscape(s)) },
	"base64":          func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) },
	"base64 raw":      func(s string) string { return base64.RawStdEncoding.EncodeToString([]byte(s)) },
	"base64 url":      func(s string) string { return base64.URLEncoding.EncodeToString([]byte(s)) },
	"base64 in query": func(s string) string { return url.QueryEscape(base64.StdEncoding.EncodeToString([]byte(s))) },
	"json": func(s string) string {
		b, _ := json.Marshal(s)
		return string(b)
	},
}

// revealed decodes the text at every position and reports how the secret shows.
func revealed(text, secret string) string {
	return revealedAs(text, secret, secret[:len(secret)-3]) // the last characters of base64 hold other bits too
}

// revealedAs is revealed with another string as the secret inside base64.
func revealedAs(text, secret, part string) string {
	for range 3 {
		if strings.Contains(text, secret) {
			return "plain or percent-encoded"
		}
		if strings.Contains(strings.ReplaceAll(text, "+", " "), secret) {
			return "as in a query"
		}
		if strings.Contains(strings.NewReplacer(`\u0026`, "&", `\u003c`, "<", `\"`, `"`).Replace(text), secret) {
			return "in JSON"
		}
		runs := strings.FieldsFunc(strings.NewReplacer("-", "+", "_", "/").Replace(text), func(r rune) bool {
			return !(r < 0x80 && isBase64Byte(byte(r)))
		})
		for _, run := range runs {
			for start := range min(4, len(run)) {
				part := run[start:]
				decoded, _ := base64.RawStdEncoding.DecodeString(part[:len(part)-len(part)%4])
				if strings.Contains(string(decoded), part) {
					return "in base64"
				}
			}
		}
		if once, err := url.PathUnescape(text); err == nil {
			text = once
		}
	}
	return ""
}

func TestSecretsAreRedacted(t *testing.T) {
	for name, encode := range encodings {
		t.Run(name, rapid.MakeCheck(func(t *rapid.T) {
			secret := drawSecret(t)
			around := rapid.StringMatching(`[ -~é]{0,12}`)
			before, after := around.Draw(t, "before"), around.Draw(t, "after")
			text := encode(before + secret + after)
			c, err := New(Options{BaseURL: "http://host", Secrets: []string{secret}})
			if err != nil {
				t.Fatal(err)
			}
			redacted := c.Redact(text)
			if how := revealed(redacted, secret); how != "" {
				t.Fatalf("%q became %q, which shows the secret %s", text, redacted, how)
			}
			if !strings.Contains(redacted, "[redacted]") {
				t.Fatalf("%q became %q", text, redacted)
			}
		}))
	}
}

// Wherever a text with a secret is truncated, too little of the secret remains to be useful.
func TestTruncatedSecretsAreRedacted(t *testing.T) {
	for name, encode := range encodings {
		t.Run(name, rapid.MakeCheck(func(t *rapid.T) {
			secret := drawSecret(t)
			text := encode(rapid.StringMatching(`[ -~é]{0,12}`).Draw(t, "before") + secret)
			c, err := New(Options{BaseURL: "http://host", Secrets: []string{secret}})
			if err != nil {
				t.Fatal(err)
			}
			mark := rapid.SampledFrom([]string{"", "…", `…"`, " … (more)", "..."}).Draw(t, "mark")
			for end := range len(text) {
				redacted := c.Redact(text[:end] + mark)
				if how := revealedAs(redacted, secret[:minSecret], secret[:minSecret]); how != "" {
					t.Fatalf("%q became %q, which shows the beginning of the secret %s", text[:end]+mark, redacted, how)
				}
			}
		}))
	}
}

// Secrets may be added while the function is in use.
func TestRedacting(t *testing.T) {
	g := NewWithT(t)
	var secrets []string
	redact := Redacting(func() []string { return secrets })
	g.Expect(redact("first-secret second-secret")).To(Equal("first-secret second-secret"))
	secrets = append(secrets, "first-secret")
	g.Expect(redact("first-secret second-secret")).To(Equal("[redacted] second-secret"))
	secrets = append(secrets, "second-secret")
	g.Expect(redact("first-secret second-secret")).To(Equal("[redacted] [redacted]"))
}

// Text without a secret stays unchanged.
func TestRedactLeavesTheRestAlone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c, err := New(Options{BaseURL: "http://host", Secrets: []string{drawSecret(t)}})
		if err != nil {
			t.Fatal(err)
		}
		text := rapid.String().Draw(t, "text")
		if got := c.Redact(text); got != text {
			t.Fatalf("%q became %q", text, got)
		}
	})
}

func FuzzRedact(f *testing.F) {
	f.Add("a%20b%", "secret%20x", "%")
	f.Add("Basic ", "0123456789", "==")
	f.Fuzz(func(t *testing.T, before, secret, after string) {
		c, err := New(Options{BaseURL: "http://host", Secrets: []string{secret}})
		if err != nil {
			t.Fatal(err)
		}
		got := c.Redact(before + secret + after)
		if len(secret) >= minSecret && !strings.Contains("[redacted]", secret) &&
			strings.Count(got, secret) > strings.Count(before+"[redacted]"+after, secret) {
			t.Fatalf("%q is left in %q", secret, got)
		}
	})
}
