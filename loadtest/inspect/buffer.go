package inspect

import (
	"errors"
	"io"
	"sync"
)

const (
	smallestBuffer = 4 << 10
	largestPooled  = 1 << 20 // larger bodies are rare; their buffers are not kept
)

// ErrTooLong is the error of a body that is longer than the bound.
var ErrTooLong = errors.New("the body is longer than is read")

// Buffer holds the body of one response in pooled memory. It has one owner at a time,
// who passes it on or returns it with Release.
type Buffer struct {
	data []byte
}

var buffers = sync.Pool{New: func() any { return new(Buffer) }}

// NewBuffer returns an empty buffer.
func NewBuffer() *Buffer {
	b := buffers.Get().(*Buffer)
	b.data = b.data[:0]
	return b
}

// Release returns the buffer to the pool. Neither it nor its Bytes may be used after
// that. A nil buffer is fine.
func (b *Buffer) Release() {
	if b != nil && cap(b.data) <= largestPooled {
		buffers.Put(b)
	}
}

// Bytes returns the body so far. It is valid until Release. A nil buffer has none.
func (b *Buffer) Bytes() []byte {
	if b == nil {
		return nil
	}
	return b.data
}

// Fill appends what r yields until its end. expected is the number of bytes, or -1 if
// it is not known. most is their maximum: nothing is read if expected is larger. The
// error is the reader's or ErrTooLong. The bytes before an error are kept.
func (b *Buffer) Fill(r io.Reader, expected, most int64) error {
	if expected > most {
		return ErrTooLong
	}
	// The reader needs one more byte of room to report the end.
	b.grow(int(max(expected, 0))+1, int(most)+1)
	for {
		if len(b.data) == cap(b.data) {
			b.grow(len(b.data)+1, int(most)+1)
		}
		n, err := r.Read(b.data[len(b.data):cap(b.data)])
		b.data = b.data[:len(b.data)+n]
		if int64(len(b.data)) > most {
			b.data = b.data[:most]
			return ErrTooLong
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// grow makes room for size bytes in all, and at most for most. Sizes double, so that
// a pooled buffer fits many responses.
func (b *Buffer) grow(size, most int) {
	if size <= cap(b.data) {
		return
	}
	room := smallestBuffer
	for room < size {
		room *= 2
	}
	data := make([]byte, len(b.data), min(room, max(most, smallestBuffer)))
	copy(data, b.data)
	b.data = data
}
