package client

import (
	"fmt"
	"strings"
)

// quote writes pieces as one word for a POSIX shell. Variables stand in double
// quotes; so does the text around them as long as it has no character with a
// meaning there.
func quote(pieces []piece) string {
	if !hasVariable(pieces) {
		return singleQuote(text(pieces))
	}
	var b strings.Builder
	if !strings.ContainsAny(text(pieces), "\"$`\\!") { // "!" is history in an interactive shell
		b.WriteByte('"')
		for i, p := range pieces {
			b.WriteString(p.text)
			b.WriteString(variable(p, i+1 < len(pieces) && pieces[i+1].text != "" && isWordByte(pieces[i+1].text[0])))
		}
		b.WriteByte('"')
		return b.String()
	}
	for _, p := range pieces {
		if p.env != "" {
			b.WriteString(`"` + variable(p, false) + `"`)
			continue
		}
		b.WriteString(singleQuote(p.text))
	}
	return b.String()
}

// variable returns the expansion of a piece, in braces where the next character
// would be taken for a part of the name.
func variable(p piece, braces bool) string {
	switch {
	case p.env == "":
		return ""
	case braces:
		return "${" + p.env + "}"
	}
	return "$" + p.env
}

func hasVariable(pieces []piece) bool {
	for _, p := range pieces {
		if p.env != "" {
			return true
		}
	}
	return false
}

// text joins the literal parts.
func text(pieces []piece) string {
	var b strings.Builder
	for _, p := range pieces {
		b.WriteString(p.text)
	}
	return b.String()
}

func singleQuote(s string) string {
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// oneLine replaces control characters but tabs by spaces: in a header or an
// address they keep the request from being sent at all.
func oneLine(s string) string {
	b := []byte(s)
	for i, c := range b {
		if c < ' ' && c != '\t' || c == 0x7f {
			b[i] = ' '
		}
	}
	return string(b)
}

// printfFormat writes any bytes as a format for printf, to stand in single quotes.
func printfFormat(s string) string {
	var b strings.Builder
	for i := range len(s) {
		switch c := s[i]; {
		case c == '%':
			b.WriteString("%%")
		case c < ' ' || c >= 0x7f || c == '\\' || c == '\'',
			c == '-' && i == 0: // a format that begins with "-" is an option to some printf
			fmt.Fprintf(&b, `\%03o`, c)
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}
