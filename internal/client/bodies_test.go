package client

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
)

// Two long bodies of unknown length are in memory at the same time, until they have been used.
// Short ones do not wait for them. A use that panics gives the room back.
func TestLongBodiesWaitForEachOther(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		size := 2 * shortBody
		if r.URL.Path == "/short" {
			size = shortBody / 2
		}
		_, _ = w.Write([]byte(strings.Repeat("x", size)))
	}))
	t.Cleanup(server.Close)
	c := newClient(t, Options{BaseURL: server.URL})
	var inUse, most atomic.Int32
	full := make(chan struct{})
	ended := make(chan int, 8)
	for range cap(ended) {
		go func() {
			defer func() { _ = recover() }()
			c.DoWith(t.Context(), get("/long"), func(e Exchange) {
				most.Store(max(most.Load(), inUse.Add(1)))
				if e.ID > 1 {
					<-full
				}
				inUse.Add(-1)
				ended <- len(e.Body)
				panic("the caller fails")
			})
		}()
	}
	if e := c.Do(t.Context(), get("/short")); e.Err != nil || len(e.Body) != shortBody/2 {
		t.Errorf("a short body of %d bytes: %v", len(e.Body), e.Err)
	}
	close(full)
	for range cap(ended) {
		if n := <-ended; n != 2*shortBody {
			t.Errorf("a body of %d bytes", n)
		}
	}
	if most.Load() > longBodies/DefaultMaxBody {
		t.Errorf("%d bodies in use at the same time", most.Load())
	}
}
