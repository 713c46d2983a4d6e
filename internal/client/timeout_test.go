package client

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"net"
	"net/http"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/types"
)

// playing starts a server that does the same with each connection, until the test ends.
func playing(t *testing.T, play func(net.Conn)) (address string) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			t.Cleanup(func() { _ = conn.Close() })
			go play(conn)
		}
	}()
	return listener.Addr().String()
}

// request reads the head of a request.
func request(conn net.Conn) { _, _ = http.ReadRequest(bufio.NewReader(conn)) }

// repeat writes the text until the peer has gone.
func repeat(conn net.Conn, text string, every time.Duration) {
	for {
		if _, err := io.WriteString(conn, text); err != nil {
			return
		}
		time.Sleep(every)
	}
}

// Whatever comes back, a request ends within its timeout.
func TestEveryRequestEnds(t *testing.T) {
	const upgrade = "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n"
	large := bytes.Repeat([]byte("x"), 64<<20) // more than the buffers of a connection hold
	for name, tc := range map[string]struct {
		scheme string
		body   []byte
		play   func(net.Conn)
		status int
		err    types.GomegaMatcher
	}{
		"a 101 and more without end": {"http", nil, func(c net.Conn) {
			request(c)
			_, _ = io.WriteString(c, upgrade)
			repeat(c, "x", time.Millisecond)
		}, http.StatusSwitchingProtocols, Succeed()},
		"a header that trickles": {"http", nil, func(c net.Conn) {
			request(c)
			_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nX: ")
			repeat(c, "x", time.Millisecond)
		}, 0, MatchError(ErrTimeout)},
		"a body that trickles": {"http", nil, func(c net.Conn) {
			request(c)
			_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\n\r\n")
			repeat(c, "x", time.Millisecond)
		}, http.StatusOK, MatchError(ErrTimeout)},
		"nothing":                   {"http", nil, func(c net.Conn) { request(c) }, 0, MatchError(ErrTimeout)},
		"a server that never reads": {"http", large, func(net.Conn) {}, 0, MatchError(ErrTimeout)},
		"a silent TLS server":       {"https", nil, func(net.Conn) {}, 0, MatchError(ErrTimeout)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := NewWithT(t)
			address, req := tc.scheme+"://"+playing(t, tc.play), get("/")
			if tc.body != nil {
				req.Method, req.Body = http.MethodPost, tc.body
			}
			do := func(timeout time.Duration) (e Exchange) {
				c := newClient(t, Options{BaseURL: address, Timeout: timeout})
				ended := make(chan Exchange, 1)
				go func() { ended <- c.Do(t.Context(), req) }()
				g.Eventually(ended, time.Hour).Should(Receive(&e))
				return e
			}
			timeout := 100 * time.Millisecond
			e := do(timeout)
			// A slow machine needs longer for the head of a response.
			for e.Status != tc.status && errors.Is(e.Err, ErrTimeout) && timeout < time.Minute {
				timeout *= 4
				e = do(timeout)
			}
			g.Expect(e.Status).To(Equal(tc.status))
			g.Expect(e.Err).To(tc.err)
		})
	}
}
