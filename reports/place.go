package reports

import "strings"

// Place says in words where in an answer the violation was seen.
func (v Violation) Place() string {
	if header, ok := strings.CutPrefix(v.Pointer, "header:"); ok {
		return "header " + Printable(header)
	}
	switch v.Pointer {
	case "":
		return "the whole body"
	case "status":
		return "HTTP status"
	default:
		return Printable(v.Pointer)
	}
}
