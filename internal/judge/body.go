package judge

import (
	"fmt"
	"html"
	"strconv"
	"strings"
	"unicode/utf8"

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
	// The title mostly repeats a heading, but may be all that there is.
	for _, hidden := range [][]string{{"script", "style", "title"}, {"script", "style"}} {
		if shown := oneLine(html.UnescapeString(withoutTags(text, hidden))); shown != "" {
			return shown
		}
	}
	return oneLine(text)
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// withoutTags replaces each tag, comment and hidden element by a space.
func withoutTags(page string, hidden []string) string {
	var text strings.Builder
	for {
		before, tag, found := strings.Cut(page, "<")
		text.WriteString(before)
		if !found {
			return text.String()
		}
		if !beginsTag(tag) {
			text.WriteByte('<')
			page = tag
			continue
		}
		text.WriteByte(' ')
		page = afterTag(tag, hidden)
	}
}

// beginsTag reports whether a tag, a comment or a declaration follows the "<".
func beginsTag(tag string) bool {
	return tag != "" && (strings.IndexByte("/!?", tag[0]) >= 0 || 'a' <= tag[0]|0x20 && tag[0]|0x20 <= 'z')
}

// afterTag returns what follows the tag, comment or hidden element that begins here; ""
// if it does not end.
func afterTag(tag string, hidden []string) string {
	if comment, ok := strings.CutPrefix(tag, "!--"); ok {
		_, rest, _ := strings.Cut(comment, "-->")
		return rest
	}
	for _, name := range hidden {
		if hasName(tag, name) {
			return afterElement(tag, name)
		}
	}
	_, rest, _ := strings.Cut(tag, ">")
	return rest
}

// afterElement returns what follows the end tag of the element.
func afterElement(element, name string) string {
	for {
		_, rest, found := strings.Cut(element, "</")
		if !found {
			return ""
		}
		if hasName(rest, name) {
			_, rest, _ = strings.Cut(rest, ">")
			return rest
		}
		element = rest
	}
}

// hasName reports whether the tag has the name, in either letter case.
func hasName(tag, name string) bool {
	if len(tag) < len(name) || !strings.EqualFold(tag[:len(name)], name) {
		return false
	}
	return len(tag) == len(name) || strings.IndexByte(" \t\r\n/>", tag[len(name)]) >= 0
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
