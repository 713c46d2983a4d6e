package testbed

import (
	"encoding/base64"
	"net/url"
	"testing"

	"outreach.example/conformance/fixtures/profile"
)

// A search that cannot find proves nothing: each form is found where it stands.
func TestKeysWouldBeFound(t *testing.T) {
	token := profile.Embedded().Keys[0].Token
	for _, text := range []string{
		token, token[:8], url.QueryEscape("Bearer " + token), base64.StdEncoding.EncodeToString([]byte("k:" + token)),
		base64.StdEncoding.EncodeToString([]byte("Bearer " + token)), base64.RawURLEncoding.EncodeToString([]byte(token)),
	} {
		if beginningIn(text, token) < 0 {
			t.Errorf("%q is not found", text)
		}
	}
	if at := beginningIn("Bearer [redacted] "+token[1:], token); at >= 0 {
		t.Errorf("a text without the beginning of the token seems to show it at %d", at)
	}
}
