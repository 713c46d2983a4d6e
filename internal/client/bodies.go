package client

import (
	"context"
	"sync"
)

const (
	commonBodies = 16 << 20  // bytes that the bodies in flight of a client share
	firstShare   = 64 << 10  // bytes that a request of an operation without a response reserves
	firstBuffer  = 256 << 10 // bytes that are allocated because a response announces them
)

// bodies is the budget that the bodies in flight share. A request reserves what the
// longest body of its operation took, and grows its share while it reads more. One
// request at a time may go beyond the common bytes, up to the longest body: it never
// waits, so that requests that wait for each other's bytes all end.
type bodies struct {
	mu       sync.Mutex
	free     int64            // of the common bytes
	beyond   *share           // may take more than the common bytes; nil for none
	released chan struct{}    // closed when a share is released
	longest  map[string]int64 // by operation
}

func newBodies(common int64) *bodies {
	return &bodies{free: common, released: make(chan struct{}), longest: map[string]int64{}}
}

// share is what one request has reserved.
type share struct {
	of           *bodies
	size, common int64
}

// reserve returns a share for a request of the operation, as soon as there is room.
func (b *bodies) reserve(ctx context.Context, operation string) (*share, error) {
	b.mu.Lock()
	size := max(firstShare, b.longest[operation])
	b.mu.Unlock()
	s := &share{of: b}
	return s, s.grow(ctx, size)
}

// grow waits until the share can have so many bytes in all.
func (s *share) grow(ctx context.Context, size int64) error {
	for {
		wait := s.tryGrow(size)
		if wait == nil {
			return nil
		}
		select {
		case <-wait:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// tryGrow returns nil, or what to wait for before another try.
func (s *share) tryGrow(size int64) (wait <-chan struct{}) {
	b := s.of
	b.mu.Lock()
	defer b.mu.Unlock()
	more := size - s.size
	switch {
	case more <= 0:
		return nil
	case b.free >= more && b.beyond != s:
		b.free -= more
		s.common += more
	case b.beyond == nil || b.beyond == s:
		b.beyond = s
	default:
		return b.released
	}
	s.size = size
	return nil
}

// release gives the bytes back once the body, of so many bytes, is no longer needed.
// The share of a request that was not sent is nil.
func (s *share) release(operation string, length int) {
	if s == nil {
		return
	}
	b := s.of
	b.mu.Lock()
	defer b.mu.Unlock()
	b.longest[operation] = max(b.longest[operation], int64(length))
	b.free += s.common
	if b.beyond == s {
		b.beyond = nil
	}
	s.size, s.common = 0, 0
	close(b.released)
	b.released = make(chan struct{})
}
