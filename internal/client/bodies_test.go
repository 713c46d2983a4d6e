package client

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// Requests whose bodies all outgrow the budget end one after the other, and never have
// more than the common bytes and one body together.
func TestBodiesShareABudget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const common, longest, requests = 10 * firstShare, 8 * firstShare, 16
		b := newBodies(common)
		var reserved, most, ended atomic.Int64
		for range requests {
			go func() {
				s, err := b.reserve(t.Context(), "list")
				if err != nil {
					t.Error(err)
				}
				for size := int64(firstShare); size <= longest; size += firstShare {
					if err := s.grow(t.Context(), size); err != nil {
						t.Error(err)
					}
					if size > firstShare {
						reserved.Add(firstShare)
					} else {
						reserved.Add(s.size)
					}
					most.Store(max(most.Load(), reserved.Load()))
					time.Sleep(time.Millisecond) // until all others wait or sleep
				}
				reserved.Add(-s.size)
				s.release("list", 0)
				ended.Add(1)
			}()
		}
		time.Sleep(time.Hour)
		synctest.Wait()
		if ended.Load() != requests {
			t.Fatalf("%d of %d requests ended", ended.Load(), requests)
		}
		if most.Load() > common+longest {
			t.Errorf("%d bytes at the same time, more than %d", most.Load(), common+longest)
		}
		if b.free != common || b.beyond != nil {
			t.Errorf("%d of %d bytes are free after all have ended", b.free, common)
		}
	})
}

// A request reserves what the longest body of its operation took, and a context that ends
// ends the wait.
func TestBodiesReserveBeforeSending(t *testing.T) {
	b := newBodies(2 * firstShare)
	first, _ := b.reserve(t.Context(), "list")
	first.release("list", 2*firstShare)
	long, _ := b.reserve(t.Context(), "list")
	if long.size != 2*firstShare {
		t.Errorf("%d bytes reserved", long.size)
	}
	beyond, err := b.reserve(t.Context(), "get")
	if err != nil || b.beyond != beyond {
		t.Errorf("the first request beyond the budget waits: %v", err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(context.Canceled)
	if _, err := b.reserve(ctx, "get"); err == nil {
		t.Error("there was room for a third request")
	}
}

// The body counts until it has been used, also if the use panics.
func TestBodyCountsWhileItIsUsed(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte(strings.Repeat("x", 3*firstShare)))
	}))
	t.Cleanup(server.Close)
	c, err := New(Options{BaseURL: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	func() {
		defer func() { _ = recover() }()
		c.DoWith(t.Context(), Request{Operation: "list", Path: "/"}, func(e Exchange) {
			if taken := commonBodies - c.bodies.free; taken < int64(len(e.Body)) || len(e.Body) != 3*firstShare {
				t.Errorf("%d bytes are reserved for a body of %d", taken, len(e.Body))
			}
			panic("the caller fails")
		})
	}()
	if c.bodies.free != commonBodies {
		t.Errorf("%d of %d bytes are free after the use", c.bodies.free, commonBodies)
	}
}

// A path with a query that no shell takes is left out of the command.
func TestCurlLeavesOutALongLine(t *testing.T) {
	for name, tc := range map[string]struct {
		cursor string
		whole  bool
	}{"short": {"abc", true}, "long": {strings.Repeat("y", maxCurlLine), false}} {
		e := Exchange{Request: Request{Path: "/api/v2/lead-lists", Query: map[string][]string{"starting_after": {tc.cursor}}}}
		for _, line := range []string{e.Curl(), e.CurlAtLimit(Request{Path: "/"}, 0)} {
			if strings.Contains(line, "curl ") != tc.whole || len(line) > 1000 {
				t.Errorf("%s: a command of %d bytes: %.100s", name, len(line), line)
			}
		}
	}
}
