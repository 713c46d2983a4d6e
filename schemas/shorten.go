package schemas

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"strings"
)

// maxText is the length of the longest text that Decode returns whole, in bytes. Formats
// and enumerations refuse longer texts, so that no judgement depends on their rest.
const maxText = 4 << 10

// Shorten returns a text of at most that many bytes unchanged. It replaces a longer one
// by its beginning, length and digest. So two texts that differ still differ, and the
// result is longer than a quarter of the bound.
func Shorten(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return string(shorten([]byte(text), most))
}

func shorten(text []byte, most int) []byte {
	if len(text) <= most {
		return text
	}
	digest := sha256.Sum256(text)
	begins := bytes.ToValidUTF8(text[:most/4], nil)
	return fmt.Appendf(begins, "…"+shortened, len(text), digest)
}

// shortened ends a shortened text.
const shortened = " (%d bytes, SHA-256 %x)"

// IsShortened reports whether the text may be a shortened one.
func IsShortened(text string) bool {
	const least = maxText / 4
	return len(text) > least && strings.HasSuffix(text, ")") && strings.Contains(text[least:], " bytes, SHA-256 ")
}
