package generate

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"sync"
)

// NullServer responds to every request with the body, as cheaply as possible. The
// load that it gets shows what the generator can do. It writes its base address to
// out, in one line, and serves until the reader until ends: the standard input of a
// child process ends with its parent. Requests must have no body.
func NullServer(body []byte, out io.Writer, until io.Reader) error {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("generate: null server: %w", err)
	}
	answer := fmt.Appendf(nil, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n", len(body))
	answer = append(answer, body...)
	var serving sync.WaitGroup
	open := connections{all: map[net.Conn]bool{}}
	serving.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return // the listener was closed
			}
			if !open.add(conn) {
				return
			}
			serving.Go(func() {
				defer open.remove(conn)
				answerAll(conn, answer)
			})
		}
	})
	_, err = fmt.Fprintf(out, "http://%s\n", listener.Addr())
	if err == nil {
		_, err = io.Copy(io.Discard, until)
	}
	_ = listener.Close()
	open.close()
	serving.Wait()
	return err
}

// answerAll responds to the requests of a connection until it is closed. A request
// ends with its first blank line.
func answerAll(conn net.Conn, answer []byte) {
	requests := bufio.NewReader(conn)
	for {
		line, err := requests.ReadSlice('\n')
		if err != nil {
			return
		}
		if len(bytes.TrimRight(line, "\r\n")) > 0 {
			continue
		}
		if _, err := conn.Write(answer); err != nil {
			return
		}
	}
}

// connections is the set of open connections.
type connections struct {
	mu     sync.Mutex
	all    map[net.Conn]bool
	closed bool
}

func (c *connections) add(conn net.Conn) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		_ = conn.Close()
		return false
	}
	c.all[conn] = true
	return true
}

func (c *connections) remove(conn net.Conn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	_ = conn.Close()
	delete(c.all, conn)
}

func (c *connections) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	for conn := range c.all {
		_ = conn.Close()
	}
}
