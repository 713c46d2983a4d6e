package generate

import (
	"bufio"
	"context"
	"errors"
	"math"
	"net"
	"net/http"
	"sync"
	"time"
)

var errLongHeader = errors.New("generate: the answer's header is longer than is read")

// line is one connection of a wire. Whoever asks over it owns it until all of
// the answer was read.
type line struct {
	wire  *wire
	conn  net.Conn // encrypted or not
	probe *probe   // of the one below it
	in    *bufio.Reader
	out   *bufio.Writer
	since time.Time // idle since then
	idled bool      // for long enough that the server may have been about to close it
	sent  int       // bytes of the request
	room  int64     // for bytes of the answer, of which
	came  int64     // there were so many
	used  bool      // for a request before this one

	mu   sync.Mutex
	done <-chan struct{} // of the context that is watched
	stop func() bool     // watching
}

func newLine(w *wire, conn net.Conn, p *probe) *line {
	l := &line{wire: w, conn: conn, probe: p}
	l.in, l.out = bufio.NewReader((*lineIO)(l)), bufio.NewWriter((*lineIO)(l))
	return l
}

// begin lets a request have the connection until the deadline, and ties it to
// the request's context. A phase has one context for all requests, so that it is
// watched but once. It reports false when the context or the connection has ended.
func (l *line) begin(ctx context.Context, deadline time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if done := ctx.Done(); done != l.done {
		if l.stop != nil {
			l.stop()
		}
		l.done = done
		l.stop = context.AfterFunc(ctx, func() { l.interrupt(done) })
	}
	l.sent, l.came, l.room = 0, 0, maxHeader
	// In this order: a context that ends later finds the deadline set.
	return l.conn.SetDeadline(deadline) == nil && ctx.Err() == nil
}

// interrupt ends what is being asked within the context.
func (l *line) interrupt(done <-chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.done == done {
		_ = l.conn.SetDeadline(time.Unix(1, 0))
	}
}

func (l *line) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.stop != nil {
		l.stop()
	}
	_ = l.conn.Close()
}

// exchange sends the request and reads the answer up to its body.
func (l *line) exchange(r *http.Request) (*http.Response, error) {
	err := r.Write(l.out)
	if err == nil {
		err = l.out.Flush()
	}
	if err != nil && l.sent == 0 {
		return nil, err
	}
	// A server may refuse what it has not read to the end, and say so.
	answer, readErr := l.answer(r)
	if readErr != nil {
		if l.came >= l.room { // a line that is cut there reads as one that is no HTTP
			readErr = errLongHeader
		}
		if err == nil {
			err = readErr
		}
		return nil, err
	}
	l.room = math.MaxInt64
	answer.Body = &body{ReadCloser: answer.Body, line: l, ctx: r.Context(),
		keep: err == nil && !answer.Close && !r.Close && answer.StatusCode != http.StatusSwitchingProtocols}
	return answer, nil
}

// answer reads the head of the answer, and of those that announce it.
func (l *line) answer(r *http.Request) (*http.Response, error) {
	for {
		answer, err := http.ReadResponse(l.in, r)
		if err != nil || answer.StatusCode >= 200 || answer.StatusCode == http.StatusSwitchingProtocols {
			return answer, err
		}
	}
}

// mayRepeat reports whether the request may go out again, over another
// connection, as net/http would have it: servers close connections that were
// idle, and the request meets the closing on its way. A connection that was busy
// until just now is another matter: a server that closes it has dropped a request,
// which counts as failed.
func (l *line) mayRepeat(r *http.Request, err error) bool {
	var timeout net.Error
	if !l.used || !l.idled || l.came > 0 || errors.As(err, &timeout) && timeout.Timeout() || r.Body != nil && r.GetBody == nil {
		return false
	}
	switch r.Method {
	case "", http.MethodGet, http.MethodHead, http.MethodOptions, http.MethodTrace:
		return true
	}
	return l.sent == 0
}

// lineIO is the connection as the buffers use it: it counts.
type lineIO line

func (l *lineIO) Read(p []byte) (int, error) {
	if l.came >= l.room {
		return 0, errLongHeader
	}
	n, err := l.conn.Read(p[:min(int64(len(p)), l.room-l.came)])
	l.came += int64(n)
	return n, err
}

func (l *lineIO) Write(p []byte) (int, error) {
	n, err := l.conn.Write(p)
	l.sent += n
	return n, err
}
