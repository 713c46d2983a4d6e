package schemas

import (
	"encoding/json"
	"maps"
	"slices"
	"unicode/utf8"
)

// maxActual bounds Finding.Actual, and names that the target chose, in characters.
const maxActual = 120

// render returns a decoded value as JSON of at most maxActual characters. The
// value may be the whole body.
func render(value any) string {
	return clip(string(appendValue(nil, value)))
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
