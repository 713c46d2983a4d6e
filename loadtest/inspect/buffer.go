package inspect

import (
	"errors"
	"io"
	"sync"
	"sync/atomic"
)

const (
	smallestBuffer = 4 << 10
	largestPooled  = 1 << 20 // larger bodies are rare; their buffers are not kept
)

// maxShared bounds the memory of all buffers in use. A server that sends large bodies
// with many requests in flight would fill the machine.
const maxShared = 64 << 20

// shared is how much of it is taken, in bytes.
var shared atomic.Int64

// ErrTooLong is the error of a body that is longer than the bound.
var ErrTooLong = errors.New("the body is longer than is read")

// Buffer holds the body of one response in pooled memory. It has one owner at a time,
// who passes it on or returns it with Release.
type Buffer struct {
	data   []byte
	length int64 // of the body so far
	lost   bool  // data was given up: the buffers in use take too much memory
}

var buffers = sync.Pool{New: func() any { return new(Buffer) }}

// NewBuffer returns an empty buffer.
func NewBuffer() *Buffer {
	b := buffers.Get().(*Buffer)
	b.data, b.length, b.lost = b.data[:0], 0, false
	if !reserve(cap(b.data)) {
		b.data = nil
	}
	return b
}

// reserve takes a part of the shared memory, unless it is used up.
func reserve(size int) bool {
	if shared.Add(int64(size)) <= maxShared {
		return true
	}
	shared.Add(-int64(size))
	return false
}

// Release returns the buffer to the pool. Neither it nor its Bytes may be used after
// that. A nil buffer is fine.
func (b *Buffer) Release() {
	if b == nil {
		return
	}
	shared.Add(-int64(cap(b.data)))
	if cap(b.data) <= largestPooled {
		buffers.Put(b)
	}
}

// Length returns how many bytes the body has so far, also if they are lost.
func (b *Buffer) Length() int64 {
	if b == nil {
		return 0
	}
	return b.length
}

// Lost reports whether the body was given up, because the buffers in use take too much
// memory.
func (b *Buffer) Lost() bool { return b != nil && b.lost }

// Bytes returns the body so far. It is valid until Release. A nil buffer has none.
func (b *Buffer) Bytes() []byte {
	if b == nil {
		return nil
	}
	return b.data
}

// Fill appends what r yields until its end. expected is the number of bytes, or -1 if
// it is not known. most is their maximum: nothing is read if expected is larger. The
// error is the reader's or ErrTooLong. The bytes before an error are kept. If there is no
// memory for them, Fill reads on without keeping any: their time is measured all the same.
func (b *Buffer) Fill(r io.Reader, expected, most int64) error {
	if expected > most {
		return ErrTooLong
	}
	// The reader needs one more byte of room to report the end.
	if !b.grow(int(max(expected, 0))+1, int(most)+1) {
		return b.discard(r, most)
	}
	for {
		if len(b.data) == cap(b.data) && !b.grow(len(b.data)+1, int(most)+1) {
			return b.discard(r, most)
		}
		n, err := r.Read(b.data[len(b.data):cap(b.data)])
		b.data = b.data[:len(b.data)+n]
		if int64(len(b.data)) > most {
			b.data, b.length = b.data[:most], most
			return ErrTooLong
		}
		b.length = int64(len(b.data))
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// discard gives up the body, and reads the rest of it.
func (b *Buffer) discard(r io.Reader, most int64) error {
	shared.Add(-int64(cap(b.data)))
	b.data, b.lost = nil, true
	n, err := io.Copy(io.Discard, io.LimitReader(r, most-b.length+1))
	if b.length += n; b.length > most {
		b.length = most
		return ErrTooLong
	}
	return err
}

// grow makes room for size bytes in all, and at most for most. Sizes double, so that
// a pooled buffer fits many responses. It reports false if there is no memory for them.
func (b *Buffer) grow(size, most int) bool {
	if size <= cap(b.data) {
		return true
	}
	room := smallestBuffer
	for room < size {
		room *= 2
	}
	room = min(room, max(most, smallestBuffer))
	if !reserve(room - cap(b.data)) {
		return false
	}
	data := make([]byte, len(b.data), room)
	copy(data, b.data)
	b.data = data
	return true
}
