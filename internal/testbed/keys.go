package testbed

import (
	"encoding/base64"
	"net/url"
	"strings"
	"testing"

	"outreach.example/conformance/fixtures/profile"
)

// HoldsNoKey looks for the beginnings of the keys' tokens in what is shown, by
// the name of who shows it.
func HoldsNoKey(t testing.TB, keys []profile.Key, shown map[string]string) {
	t.Helper()
	for name, text := range shown {
		for _, k := range keys {
			if at := beginningIn(text, k.Token); at >= 0 {
				t.Errorf("%s shows the beginning of the token of %s: …%s…", name, k.Name, text[max(0, at-300):min(len(text), at+80)])
			}
		}
	}
}

// beginningIn is where the text shows the first eight bytes of a token: plain,
// for a URL, or in base64 at any offset; -1 if it does not.
func beginningIn(text, token string) int {
	const told = 8
	forms := []string{token[:told], url.QueryEscape(token[:told])}
	for offset := range 3 {
		encoded := base64.RawURLEncoding.EncodeToString(append(make([]byte, offset), token[:told]...))
		forms = append(forms, encoded[(offset*8+5)/6:(offset+told)*8/6])
	}
	for _, form := range forms {
		if at := strings.Index(text, form); at >= 0 {
			return at
		}
	}
	return -1
}
