package redact

import (
	"bytes"
	"sync"
)

// Process is the set of the keys of this process, which has one standard output and
// one file system.
var Process = NewSet()

// placeholder replaces a secret that no variable can replace.
const placeholder = "[redacted]"

// Set finds secrets in texts. It is safe for concurrent use.
type Set struct {
	mu      sync.RWMutex
	table   table
	changes int
}

// NewSet returns a set without secrets.
func NewSet() *Set { return &Set{table: table{known: map[string]string{}, asked: &sync.Map{}}} }

// Learn adds a secret. Env is the environment variable that stands for it in texts;
// empty if none does.
func (s *Set) Learn(secret, env string) {
	if secret == "" || s.knows(secret, env) {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, known := s.table.known[secret]; !known {
		s.table.add(formsOf(secret))
	}
	s.table.known[secret] = env
	s.table.publish("$" + env)
	s.changes++
}

// Generation is the same only as long as the set finds the same.
func (s *Set) Generation() int {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.changes
}

// knows reports whether there is nothing to learn.
func (s *Set) knows(secret, env string) bool {
	s.mu.RLock()
	defer s.mu.RUnlock()
	variable, known := s.table.known[secret]
	return known && (variable != "" || env == "")
}

// Public adds texts that the harness prints of its own, such as the names of
// operations. A part of a key that is also a part of them is no secret.
func (s *Set) Public(texts ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.changes++
	for _, text := range texts {
		s.table.publish(text)
	}
}

// find returns the secrets in a text, in order and apart from each other.
func (s *Set) find(text []byte) []span {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.table.find(text)
}

// Piece is a part of a redacted text: literal text, or an environment variable that
// stands for the secret.
type Piece struct{ Text, Env, secret string }

// Is reports whether the piece stands for this secret.
func (p Piece) Is(secret string) bool { return p.Env != "" && p.secret == secret }

// Text returns what a target said without secrets: $VARIABLE or [redacted] stands for
// each. Unlike Content it also finds secrets of fewer than 8 bytes, as separate words.
func (s *Set) Text(text string) string {
	pieces := s.Pieces(text)
	if len(pieces) == 1 && pieces[0].Env == "" {
		return pieces[0].Text
	}
	var b []byte
	for _, p := range pieces {
		b = p.append(b)
	}
	return string(b)
}

func (p Piece) append(b []byte) []byte {
	if p.Env != "" {
		return append(append(b, '$'), p.Env...)
	}
	return append(b, p.Text...)
}

// Pieces splits what Text would return.
func (s *Set) Pieces(text string) []Piece {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return split(text, merge(append(s.table.find([]byte(text)), s.table.findWords([]byte(text))...)))
}

// split cuts the spans out of a text.
func split(text string, spans []span) []Piece {
	var out []Piece
	literal := func(text string) {
		if text != "" {
			out = append(out, Piece{Text: text})
		}
	}
	done := 0
	for _, f := range spans {
		literal(text[done:f.start])
		if f.env != "" {
			out = append(out, Piece{Env: f.env, secret: f.secret})
		} else {
			literal(placeholder)
		}
		done = f.end
	}
	literal(text[done:])
	return out
}

// Content returns the content of a file without secrets. JSON, XML and HTML stay
// well-formed: only strings, texts and the values of attributes change. Binary content
// keeps its length.
func (s *Set) Content(content []byte) []byte {
	spans := s.find(content)
	if len(spans) == 0 {
		return content
	}
	return replace(content, within(content, unitsOf(content), spans), bytes.IndexByte(content, 0) >= 0)
}

// replace returns the content with a placeholder for each span.
func replace(content []byte, spans []span, binary bool) []byte {
	var out []byte
	done := 0
	for _, f := range spans {
		out = append(out, content[done:f.start]...)
		switch {
		case binary:
			out = append(out, bytes.Repeat([]byte{'*'}, f.end-f.start)...)
		case f.env != "":
			out = append(append(out, '$'), f.env...)
		default:
			out = append(out, placeholder...)
		}
		done = f.end
	}
	return append(out, content[done:]...)
}
