package schemas

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/google/uuid"
)

// maxActual bounds Finding.Actual, and names that the target chose, in characters.
const maxActual = 120

// render returns a decoded value as JSON of at most maxActual characters. The
// value may be the whole body.
func render(value any) string {
	return clip(string(appendValue(nil, value)))
}

// Member renders a member of an object, or says that it is absent.
func Member(object map[string]any, name string, render func(any) string) string {
	if value, shown := object[name]; shown {
		return render(value)
	}
	return "absent"
}

// opaque is a long value that may be somebody's secret, such as a key that the harness
// does not know.
var opaque = regexp.MustCompile(`^[A-Za-z0-9_+/=.~-]{20,}$`)

// RenderID returns the value of an id as JSON. Of a long, opaque one that is no UUID it
// shows only the beginning, the length and the digest.
func RenderID(value any) string {
	text, ok := value.(string)
	if !ok || !isOpaque(text) {
		return render(value)
	}
	return fmt.Sprintf("%q", text[:8]) + digest(text)
}

// ShortenID returns the text of an id as RenderID does, without quotes.
func ShortenID(text string) string {
	if !isOpaque(text) {
		return text
	}
	return text[:8] + digest(text)
}

// ids are the members of a JSON text that hold ids. The last one may be cut off.
var ids = regexp.MustCompile(`("(?:id|[a-z_]+_id)"\s*:\s*")([A-Za-z0-9_+/=.~-]{20,})`)

// ShortenIDs returns the beginning of a JSON text with its ids as ShortenID shows them.
func ShortenIDs(text string) string {
	return ids.ReplaceAllStringFunc(text, func(member string) string {
		at := strings.LastIndexByte(member, '"') + 1
		return member[:at] + ShortenID(member[at:])
	})
}

func isOpaque(text string) bool {
	return opaque.MatchString(text) && uuid.Validate(text) != nil && strings.ContainsAny(text, "0123456789")
}

func digest(text string) string {
	return fmt.Sprintf("… (%d characters, SHA-256 %.6x…)", len(text), sha256.Sum256([]byte(text)))
}

func appendValue(out []byte, value any) []byte {
	if len(out) > maxActual*utf8.UTFMax {
		return out
	}
	switch value := value.(type) {
	case map[string]any:
		out = append(out, '{')
		for i, key := range slices.Sorted(maps.Keys(value)) {
			if i > 0 {
				out = append(out, ", "...)
			}
			out = appendString(out, key)
			out = append(out, ": "...)
			if out = appendValue(out, value[key]); len(out) > maxActual*utf8.UTFMax {
				return out
			}
		}
		return append(out, '}')
	case []any:
		out = append(out, '[')
		for i, item := range value {
			if i > 0 {
				out = append(out, ", "...)
			}
			if out = appendValue(out, item); len(out) > maxActual*utf8.UTFMax {
				return out
			}
		}
		return append(out, ']')
	case string:
		return appendString(out, value)
	case json.Number:
		return append(out, value...)
	case bool:
		if value {
			return append(out, "true"...)
		}
		return append(out, "false"...)
	default:
		return append(out, "null"...)
	}
}

func appendString(out []byte, s string) []byte {
	const most = (maxActual + 1) * utf8.UTFMax
	if len(s) > most {
		s = s[:most]
	}
	text, err := json.Marshal(s)
	if err != nil {
		return out // marshalling a string cannot fail
	}
	return append(out, text...)
}

// clip returns the text truncated to maxActual characters.
func clip(s string) string {
	if utf8.RuneCountInString(s) <= maxActual {
		return s
	}
	runes := []rune(s)
	return string(runes[:maxActual-1]) + "…"
}
