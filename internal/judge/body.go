package judge

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html"

	"outreach.example/conformance/internal/client"
)

// maxReadable bounds the part of a body that Readable reads.
const maxReadable = 64 << 10

// DescribeStatus returns the status and the beginning of the body, which often
// gives the reason.
func DescribeStatus(ex client.Exchange) string { return DescribeRead(ex, Readable(ex.Body)) }

// DescribeRead is DescribeStatus for an exchange whose body was read before.
func DescribeRead(ex client.Exchange, body string) string {
	if body == "" {
		return strconv.Itoa(ex.Status)
	}
	return fmt.Sprintf("%d %s%s", ex.Status, Clip(body), Unread(ex))
}

// Unread returns a hint that the server may have answered to the rest of an earlier
// request; "" if the response looks like one to this request.
func Unread(ex client.Exchange) string {
	ours := ex.Err != nil && !ex.Malformed || strings.HasPrefix(strings.TrimSpace(string(ex.Body)), "{")
	if ours || ex.AfterBody == "" {
		return ""
	}
	return fmt.Sprintf("; the same connection carried %s: the server may have left its body unread", ex.AfterBody)
}

// Readable returns the text of a body on one line. It leaves out the tags, scripts and
// styles of an HTML page, because the stock error pages of servers begin with
// lines of them.
func Readable(body []byte) string {
	text := strings.ToValidUTF8(string(body[:min(len(body), maxReadable)]), "�")
	if !strings.HasPrefix(strings.TrimSpace(text), "<") {
		return oneLine(text)
	}
	shown, title := pageText(text)
	return cmp.Or(shown, title, oneLine(text))
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// pageText returns the text of an HTML page, without scripts and styles, and that of its title,
// which mostly repeats a heading.
func pageText(page string) (shown, title string) {
	tokens := html.NewTokenizer(strings.NewReader(page))
	for inside := ""; ; {
		switch tokens.Next() {
		case html.ErrorToken:
			return oneLine(shown), oneLine(title)
		case html.StartTagToken, html.SelfClosingTagToken:
			name, _ := tokens.TagName()
			inside = string(name)
		case html.EndTagToken:
			inside = ""
		case html.TextToken:
			switch text := " " + string(tokens.Text()); inside {
			case "script", "style":
			case "title":
				title += text
			default:
				shown += text
			}
		}
	}
}

// Clip returns s cut to 160 characters.
func Clip(s string) string { return clip(s, 160) }

// clip returns s cut to so many characters. It reads no more of s than these.
func clip(s string, most int) string {
	cut := len(s) > most*utf8.UTFMax
	runes := []rune(strings.ToValidUTF8(s[:min(len(s), most*utf8.UTFMax)], "�"))
	if len(runes) <= most && !cut {
		return string(runes)
	}
	return string(runes[:min(len(runes), most)]) + "…"
}
