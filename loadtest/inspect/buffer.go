package inspect

import (
	"errors"
	"io"
	"sync"
)

const (
	smallestBuffer = 4 << 10
	largestPooled  = 1 << 20 // a larger one would hold on to memory for the sake of a rare answer
)

// ErrTooLong is the error of a body that is longer than the bound.
var ErrTooLong = errors.New("the body is longer than is read")

// Buffer holds the body of one answer in memory that is used again. It has one
// owner at a time, who hands it on or gives it back with Release.
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

// Release gives the buffer back: neither it nor its Bytes may be used any more.
// A nil buffer is fine.
func (b *Buffer) Release() {
	if b != nil && cap(b.data) <= largestPooled {
		buffers.Put(b)
	}
}

// Bytes is the body so far, valid until Release. A nil buffer has none.
func (b *Buffer) Bytes() []byte {
	if b == nil {
		return nil
	}
	return b.data
}

// Fill appends what r yields until its end. expected is how many bytes that will
// be, or -1 if it is not known; most bounds them, and what is expected to be
// longer is not read at all. The error is the reader's own, or ErrTooLong, and
// what came before it is kept.
func (b *Buffer) Fill(r io.Reader, expected, most int64) error {
	if expected > most {
		return ErrTooLong
	}
	// One byte of room beyond the end lets the reader say that it is the end.
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

// grow makes room for size bytes in all, in steps that double, so that buffers
// fit whatever answer takes them next, up to most.
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
