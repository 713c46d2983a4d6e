package judge

import (
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	. "github.com/onsi/gomega"

	"outreach.example/conformance/internal/client"
)

func TestReadable(t *testing.T) {
	for body, want := range map[string]string{
		"":                                   "",
		"{\n  \"message\": \"<b>no</b>\"\n}": `{ "message": "<b>no</b>" }`,
		"  <!DOCTYPE HTML>\n<html><body><h1>Error</h1><p>Message: Bad &amp; wrong.</p>": "Error Message: Bad & wrong.",
		"<STYLE type='text/css'>h1 > p { x }</STYLE >shown":                             "shown",
		"<script>if (a</b) { '</scripted>' }</script>shown":                             "shown",
		"<script/>hidden":                     "<script/>hidden", // the element does not end
		"<p>a<!-- <p> -->b":                   "a b",
		"<p>1 < 2 <3":                         "1 < 2 <3",
		"<html></html>":                       "<html></html>",
		"<title>Error</title><h1>No row</h1>": "No row",
		"<title>Bad Gateway</title>":          "Bad Gateway",
		"<p unfinished":                       "<p unfinished",
		"\xff\x00":                            "�\x00",
	} {
		NewWithT(t).Expect(Readable([]byte(body))).To(Equal(want), body)
	}
}

func FuzzReadable(f *testing.F) {
	for _, seed := range []string{"<!DOCTYPE html><p>a</p>", "<script>x</script>y", "<style", "<!-- -->", "< <<a", "{}", "&lt;&#0;", "<script></SCRIPT"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		text := Readable(body)
		switch {
		case !utf8.ValidString(text):
			t.Errorf("%q is not UTF-8", text)
		case text != strings.Join(strings.Fields(text), " "):
			t.Errorf("%q is not one line of words", text)
		case text == "" && len(strings.Fields(strings.ToValidUTF8(string(body), "�"))) > 0 && len(body) < maxReadable:
			t.Errorf("nothing is shown of %q", body)
		}
	})
}

// The hint needs a body that may be unread and a response that is not the API's.
func TestUnread(t *testing.T) {
	const after = "POST /p, answered with 401"
	for _, tc := range []struct {
		ex   client.Exchange
		want bool
	}{
		{client.Exchange{Status: 400, Body: []byte("<html>"), AfterBody: after}, true},
		{client.Exchange{Malformed: true, Err: errors.New("malformed"), AfterBody: after}, true},
		{client.Exchange{Status: 400, Body: []byte("<html>")}, false},
		{client.Exchange{Status: 400, Body: []byte(" {}"), AfterBody: after}, false},
		{client.Exchange{Err: errors.New("lost"), AfterBody: after}, false},
	} {
		NewWithT(t).Expect(Unread(tc.ex) != "").To(Equal(tc.want), "%v", tc.ex)
	}
}
