package redact

import (
	"bytes"
	"io"
	"os"
	"sync"
)

// Writer redacts a stream. It delays nothing. It is safe for concurrent use.
type Writer struct {
	set    *Set
	to     io.Writer
	binary bool

	mu   sync.Mutex
	last []byte // the last word that was written, as it came: it may go on
}

// Writer returns a writer that redacts what it passes on.
func (s *Set) Writer(to io.Writer) *Writer { return &Writer{set: s, to: to} }

// BinaryWriter returns a writer that redacts what it passes on and keeps its length.
func (s *Set) BinaryWriter(to io.Writer) *Writer { return &Writer{set: s, to: to, binary: true} }

// Unwrap returns the writer behind it, which may be a terminal.
func (w *Writer) Unwrap() io.Writer { return w.to }

func (w *Writer) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if _, err := w.to.Write(w.redacted(p)); err != nil {
		return 0, err
	}
	return len(p), nil
}

func (w *Writer) redacted(p []byte) []byte {
	before := len(w.last)
	text := append(w.last, p...)
	var spans []span
	for _, s := range w.set.find(text) {
		if s.end > before {
			s.start, s.end = max(0, s.start-before), s.end-before
			spans = append(spans, s)
		}
	}
	w.last = append(w.last[:0:0], lastWord(text)...)
	if w.binary {
		return starred(p, spans)
	}
	return w.set.replaced(p, spans)
}

// maxWord is how much of the last word of a stream is kept, in bytes.
const maxWord = 4 << 10

// lastWord returns what follows the last space. A key holds none.
func lastWord(text []byte) []byte {
	end := text[max(0, len(text)-maxWord):]
	return end[bytes.LastIndexByte(end, ' ')+1:]
}

// File redacts the content of a file in place.
func (s *Set) File(path string) error {
	content, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	redacted := s.Content(content)
	if bytes.Equal(redacted, content) {
		return nil
	}
	return os.WriteFile(path, redacted, 0) // keeps the mode of the file
}
