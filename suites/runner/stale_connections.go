package runner

import (
	"fmt"
	"sync/atomic"

	"outreach.example/conformance/internal/client"
)

// staleConnections counts the requests that were lost because the target closed the
// keep-alive connection on which they were sent.
type staleConnections struct{ lost atomic.Int64 }

func (s *staleConnections) observe(ex client.Exchange) {
	if ex.StaleConnection {
		s.lost.Add(1)
	}
}

// why returns the number of lost requests and the remedy, or "" if none was lost.
func (s *staleConnections) why() string {
	n := s.lost.Load()
	if n == 0 {
		return ""
	}
	requests := "1 request"
	if n > 1 {
		requests = fmt.Sprintf("%d requests", n)
	}
	return fmt.Sprintf("%s got no response: the target closed a keep-alive connection as the request was sent, and requests that change data are not retried (keep idle connections open for longer than %s, or send Connection: close)",
		requests, client.IdleTimeout)
}
