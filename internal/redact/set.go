package redact

import (
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
	known   map[string]string // secret → the variable that stands for it; may be empty
	index   index
	changes int
}

// NewSet returns a set without secrets.
func NewSet() *Set {
	return &Set{known: map[string]string{}, index: index{forms: map[uint64][]form{}, asked: &sync.Map{}}}
}

// Learn adds a secret. Env is the environment variable that stands for it in texts;
// empty if none does.
func (s *Set) Learn(secret, env string) {
	if secret == "" || s.knows(secret, env) {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, known := s.known[secret]; !known {
		s.index.add(secret)
	}
	s.known[secret] = env
	s.index.publish("$" + env)
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
	variable, known := s.known[secret]
	return known && (variable != "" || env == "")
}

// Public adds texts that the harness prints of its own, such as the names of
// operations. A key, or the beginning of one, that is a part of them is no secret.
func (s *Set) Public(texts ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.changes++
	for _, text := range texts {
		s.index.publish(text)
	}
}

// find returns the secrets in a text. They may overlap.
func (s *Set) find(text []byte) []span {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.index.find(text)
}

// Piece is a part of a redacted text: literal text, or an environment variable that
// stands for the secret.
type Piece struct{ Text, Env, secret string }

// Is reports whether the piece stands for this secret.
func (p Piece) Is(secret string) bool { return p.Env != "" && p.secret == secret }

// Text returns what a target said without secrets: $VARIABLE or [redacted] stands for
// each. Unlike Content it also finds secrets of fewer than 8 bytes, as separate words.
func (s *Set) Text(text string) string {
	spans := s.withWords(text)
	if len(spans) == 0 {
		return text
	}
	return string(s.join(text, spans))
}

func (s *Set) withWords(text string) []span {
	s.mu.RLock()
	defer s.mu.RUnlock()
	content := []byte(text)
	return merge(append(s.index.find(content), s.index.findWords(content)...))
}

// join returns the text with a placeholder or a variable for each span. The spans are in
// order and apart from each other.
func (s *Set) join(text string, spans []span) []byte {
	var b []byte
	for _, p := range s.split(text, spans) {
		if p.Env != "" {
			b = append(b, '$')
		}
		b = append(append(b, p.Env...), p.Text...)
	}
	return b
}

// Pieces splits what Text would return.
func (s *Set) Pieces(text string) []Piece { return s.split(text, s.withWords(text)) }

// split cuts the spans out of a text.
func (s *Set) split(text string, spans []span) (out []Piece) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	done := 0
	for _, f := range append(spans, span{start: len(text), end: len(text)}) {
		if f.start > done {
			out = append(out, Piece{Text: text[done:f.start]})
		}
		switch env := s.known[f.form.secret]; {
		case env != "":
			out = append(out, Piece{Env: env, secret: f.form.secret})
		case f.end > f.start:
			out = append(out, Piece{Text: placeholder})
		}
		done = f.end
	}
	return out
}
