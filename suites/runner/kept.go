package runner

import (
	"fmt"
	"sync/atomic"

	"outreach.example/conformance/internal/client"
)

// kept counts the requests that were lost on kept connections.
type kept struct{ closed atomic.Int64 }

func (k *kept) hear(ex client.Exchange) {
	if ex.KeptClosed {
		k.closed.Add(1)
	}
}

// why says how many were lost, and what to do; empty if none was.
func (k *kept) why() string {
	n := k.closed.Load()
	if n == 0 {
		return ""
	}
	requests := "1 request"
	if n > 1 {
		requests = fmt.Sprintf("%d requests", n)
	}
	return fmt.Sprintf("%s had no answer, because the target closed a connection that was kept open, without a word, just as the next request went out on it; what may change something is not sent again: let the server keep idle connections for longer than %s, which is how long the harness does, or answer with Connection: close",
		requests, client.IdleTimeout)
}
