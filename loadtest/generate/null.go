package generate

import (
	"bufio"
	"bytes"
	"context"
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
	ctx, end := context.WithCancel(context.Background())
	serving.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return // the listener was closed
			}
			serving.Go(func() {
				defer conn.Close()
				defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
				answerAll(conn, answer)
			})
		}
	})
	_, err = fmt.Fprintf(out, "http://%s\n", listener.Addr())
	if err == nil {
		_, err = io.Copy(io.Discard, until)
	}
	_ = listener.Close()
	end()
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
