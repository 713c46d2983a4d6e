package generate

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"outreach.example/conformance/loadtest/measure"
	"outreach.example/conformance/reports/load"
)

// A phase's context ends with the phase. Its connections go on, and what is still
// asked within it does not.
func TestContextsOfConnections(t *testing.T) {
	g := NewWithT(t)
	hanging := make(chan struct{})
	server, w := newScripted(t, func(_ int64, conn net.Conn, requests *bufio.Reader) {
		for {
			r, err := http.ReadRequest(requests)
			if err != nil {
				return
			}
			switch r.URL.Path {
			case "/hang":
				close(hanging)
				continue
			case "/hang-in-body":
				_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\no")
				continue
			}
			_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
		}
	}), testWire(t, nil)
	for range 3 {
		ctx, cancel := context.WithCancel(context.Background())
		_, body, err := ask(ctx, w, "GET", server.URL, "")
		cancel()
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(body).To(Equal("ok"))
	}
	g.Expect(server.open.Load()).To(BeEquivalentTo(1))

	ctx, cancel := context.WithCancel(context.Background())
	go func() { <-hanging; cancel() }()
	_, _, err := ask(ctx, w, "GET", server.URL+"/hang", "")
	g.Expect(err).To(MatchError(context.Canceled))
	_, _, err = ask(ctx, w, "GET", server.URL, "")
	g.Expect(err).To(MatchError(context.Canceled))

	ctx, cancel = context.WithCancel(context.Background())
	r, err := http.NewRequestWithContext(ctx, "GET", server.URL+"/hang-in-body", nil)
	g.Expect(err).NotTo(HaveOccurred())
	answer, err := w.RoundTrip(r)
	g.Expect(err).NotTo(HaveOccurred())
	cancel()
	_, err = io.ReadAll(answer.Body)
	g.Expect(err).To(MatchError(context.Canceled))
	g.Expect(w.idle).To(BeEmpty())
}

func TestHeadersAreBounded(t *testing.T) {
	for name, answer := range map[string]string{
		"one":           "HTTP/1.1 200 OK\r\nX: " + strings.Repeat("x", maxHeader) + "\r\nContent-Length: 0\r\n\r\n",
		"announcements": strings.Repeat("HTTP/1.1 103 Early Hints\r\n\r\n", maxHeader/20) + "HTTP/1.1 204 No Content\r\n\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			server := newScripted(t, answering(answer))
			_, _, err := ask(context.Background(), testWire(t, nil), "GET", server.URL, "")
			g.Expect(failureOf(err)).To(Equal(measure.FailureLongHeader))
		})
	}
	g := NewWithT(t)
	long := strings.Repeat("x", 2*maxHeader)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, long) }))
	defer server.Close()
	_, body, err := ask(context.Background(), testWire(t, nil), "GET", server.URL, "")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(body == long).To(BeTrue(), "bodies are bounded by whoever reads them")
}

// Who reads of something that is larger than what is read is told how much that is.
func TestBoundsAreToldInWords(t *testing.T) {
	g := NewWithT(t)
	g.Expect(load.FailureInWords(measure.FailureTooLong)).To(Equal(fmt.Sprintf("body larger than %d MiB, the most that is read", DefaultMaxBody>>20)))
	g.Expect(load.FailureInWords(measure.FailureLongHeader)).To(Equal(fmt.Sprintf("header larger than %d KiB, the most that is read", maxHeader>>10)))
}

// A server that refuses a request may not wait for the end of it.
func TestRefusalsOfWhatIsNotRead(t *testing.T) {
	g := NewWithT(t)
	server, w := newScripted(t, func(_ int64, conn net.Conn, requests *bufio.Reader) {
		_, _ = http.ReadRequest(requests)
		_, _ = io.WriteString(conn, "HTTP/1.1 413 Content Too Large\r\nContent-Length: 4\r\n\r\nlong")
	}), testWire(t, nil)
	answer, body, err := ask(context.Background(), w, "POST", server.URL, string(bytes.Repeat([]byte("x"), 16<<20)))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(answer.StatusCode).To(Equal(413))
	g.Expect(body).To(Equal("long"))
	g.Expect(w.idle).To(BeEmpty())
}

func TestProxiesAreLeftToNetHTTP(t *testing.T) {
	through, err := url.Parse("http://proxy.example:3128")
	if err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		proxy *url.URL
		err   error
		timed bool
	}{
		"none":        {nil, nil, true},
		"one":         {through, nil, false},
		"a wrong one": {nil, errors.New("wrong"), false},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			transport, timed := newTransport(Options{BaseURL: "http://target.example"}, func(r *http.Request) (*url.URL, error) {
				g.Expect(r.URL.Host).To(Equal("target.example"))
				return tc.proxy, tc.err
			})
			g.Expect(timed).To(Equal(tc.timed))
			_, ours := transport.(*wire)
			g.Expect(ours).To(Equal(tc.timed))
		})
	}
}

func TestAddresses(t *testing.T) {
	for address, want := range map[string]string{
		"http://target.example":       "target.example:80",
		"https://target.example":      "target.example:443",
		"https://target.example:8443": "target.example:8443",
		"http://[::1]":                "[::1]:80",
		"http://[::1]:8080":           "[::1]:8080",
		"http://bücher.example":       "xn--bcher-kva.example:80",
	} {
		u, err := url.Parse(address)
		if err != nil {
			t.Fatal(err)
		}
		got, err := addressOf(u)
		NewWithT(t).Expect(got, err).To(Equal(want))
	}
}
