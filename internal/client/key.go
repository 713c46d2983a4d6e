package client

import (
	"fmt"
	"io"
	"strings"
)

// Key is an API key and the name by which people know it. The zero Key stands
// for a request without credentials.
//
// A Key prints as its environment variable under every fmt verb, so that a
// failure message that dumps a Request does not show the token.
type Key struct {
	Name  string
	Token string `json:"-" yaml:"-"`
}

// Env returns the environment variable that holds the token when a printed
// command is repeated: OUTREACH_KEY_<NAME>, in capitals, with an underscore for
// whatever a variable's name cannot hold.
func (k Key) Env() string {
	if k.Name == "" {
		return "OUTREACH_KEY"
	}
	return "OUTREACH_KEY_" + strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z':
			return r - 'a' + 'A'
		case r >= 'A' && r <= 'Z', r >= '0' && r <= '9':
			return r
		}
		return '_'
	}, k.Name)
}

// String names the key without showing it.
func (k Key) String() string {
	if k == (Key{}) {
		return "no key"
	}
	return "$" + k.Env()
}

// Format implements fmt.Formatter: no verb and no flag shows the token.
func (k Key) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, k.String()) }

// GomegaString keeps the token out of Gomega's failure messages, which print
// structs by reflection.
func (k Key) GomegaString() string { return k.String() }
