package client

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"testing"
	"time"
)

// A request ends within its timeout, also where net/http alone would wait longer: for a peer that
// reads nothing, for a handshake, and on a connection that a 101 hands over.
func TestEveryRequestEnds(t *testing.T) {
	large := make([]byte, 64<<20) // more than the buffers of a connection hold
	for name, tc := range map[string]struct {
		scheme string
		body   []byte
		play   func(net.Conn)
	}{
		"a server that never reads": {"http", large, func(net.Conn) {}},
		"a silent TLS server":       {"https", nil, func(net.Conn) {}},
		"a 101 and more without end": {"http", nil, func(c net.Conn) {
			_, _ = http.ReadRequest(bufio.NewReader(c))
			_, err := io.WriteString(c, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n")
			for err == nil {
				_, err = io.WriteString(c, "x")
				time.Sleep(time.Millisecond)
			}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			over := make(chan struct{})
			address := listen(t, func(c net.Conn) {
				tc.play(c)
				<-over
			})
			c := newClient(t, Options{BaseURL: tc.scheme + address[len("http"):], Timeout: 100 * time.Millisecond})
			e := c.Do(t.Context(), Request{Method: http.MethodPost, Path: "/", Body: tc.body}) // it hangs if it does not end
			close(over)
			if e.Status != 0 && e.Status != http.StatusSwitchingProtocols {
				t.Errorf("%d, %v", e.Status, e.Err)
			}
		})
	}
}
