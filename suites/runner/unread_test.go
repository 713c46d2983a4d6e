package runner

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/textproto"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	. "github.com/onsi/gomega"

	"outreach.example/conformance/fixtures/target"
	"outreach.example/conformance/reports"
	"outreach.example/conformance/spec"
)

// A server that leaves the body of a rejected request unread takes it for the next
// request. The run reports the cause and goes on with the response that the server
// gives on a fresh connection.
func TestBodyLeftUnread(t *testing.T) {
	const words = "only after another request on the same connection; on a fresh connection it is [24]0[01]: " +
		"the server probably leaves a request body unread .of POST /api/v2/leads/subsequence/move, answered with 401.; "
	for name, tc := range map[string]struct {
		server handWritten
		starts string // of the violation; "" if the server is right
	}{
		"reads the body":                     {server: handWritten{reads: true}},
		"reads it, and closes after a while": {server: handWritten{reads: true, closesAfter: 3}},
		"answers the rest with 400":          {handWritten{garbled: "HTTP/1.1 400 Bad Request\r\nContent-Type: text/html\r\nConnection: close\r\n\r\n" + stockPage}, "400, "},
		"answers the rest without a status":  {handWritten{garbled: stockPage}, "a response that is not HTTP, "},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			behind := embedded(t)
			subject, err := target.URL(behind.Profile, tc.server.start(t, behind.BaseURL))
			g.Expect(err).NotTo(HaveOccurred())
			subject.Profile.Pace.Concurrency = 1 // all requests share one connection
			results := judged(t, t.Context(), Config{Target: subject, Seed: 1, Selection: Selection{
				Operations:   []string{spec.MoveLead, spec.ListLeadLists},
				Requirements: []string{"STATUS-200", "AUTH-HEADER-MISSING", "PAGE-LIMIT-*"},
			}})
			if tc.starts == "" {
				g.Expect(of(results, reports.Fail)).To(BeEmpty())
				g.Expect(of(results, reports.Pass)).NotTo(BeEmpty())
				return
			}
			for _, trouble := range results.Troubles { // a request that changes something is not sent again
				g.Expect(trouble.What).To(ContainSubstring("the server may have left its body unread"))
			}
			i := slices.IndexFunc(results.Checks, func(c reports.Check) bool {
				return c.Requirement == "STATUS-200" && c.Outcome == reports.Fail
			})
			g.Expect(i).To(BeNumerically(">=", 0), "no GET suffered")
			for _, v := range results.Checks[i].Violations {
				g.Expect(v.Actual).To(And(MatchRegexp("^"+tc.starts+words), Not(ContainSubstring("color: red"))))
				if tc.starts == "400, " {
					g.Expect(v.Body).To(Equal(stockPage), "the body as received")
				}
			}
			g.Expect(of(results, reports.Fail)).NotTo(ContainElement(HavePrefix("PAGE-")))
		})
	}
}

// An operation is served although the server takes the rest of a rejected request for a
// request that it does not implement.
func TestBodyLeftUnreadIsServed(t *testing.T) {
	g := NewWithT(t)
	behind := embedded(t)
	server := handWritten{findsGET: true, garbled: "HTTP/1.1 501 Not Implemented\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"}
	subject, err := target.URL(behind.Profile, server.start(t, behind.BaseURL))
	g.Expect(err).NotTo(HaveOccurred())
	subject.Profile.Pace.Concurrency = 1 // all requests share one connection
	results := judged(t, t.Context(), Config{Target: subject, Seed: 1, Selection: Selection{
		Operations: []string{spec.MoveLead, spec.CreatePlacementTest}, Requirements: []string{"SERVED", "AUTH-HEADER-MISSING"},
	}})
	g.Expect(of(results, reports.Fail)).To(BeEmpty())
	g.Expect(of(results, reports.Pass)).To(ContainElements("SERVED on "+spec.MoveLead, "SERVED on "+spec.CreatePlacementTest))
}

// A server that answers the same on every connection is asked a bounded number of times
// more, and never to change something again.
func TestFreshConnectionsAreBounded(t *testing.T) {
	g := NewWithT(t)
	behind := embedded(t)
	var again, gets atomic.Int64
	var sent sync.Map // requests
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		_, seen := sent.LoadOrStore(r.Method+" "+r.URL.String()+" "+string(body), true)
		if r.Close && seen { // the first request that asks whether an operation is served has a connection of its own, too
			again.Add(1)
		}
		if r.Close && seen && r.Method != http.MethodGet {
			t.Errorf("%s %s was sent again", r.Method, r.URL.Path)
		}
		if r.Method == http.MethodGet {
			gets.Add(1)
		}
		w.WriteHeader(http.StatusInternalServerError)
	}))
	defer front.Close()
	subject, err := target.URL(behind.Profile, front.URL)
	g.Expect(err).NotTo(HaveOccurred())
	subject.Profile.Pace.Concurrency = 1
	results := judged(t, t.Context(), Config{Target: subject, Seed: 1, Selection: Selection{Requirements: []string{"STATUS-200", "PAGE-*"}}})
	g.Expect(results.Verdict).To(Equal(reports.Failed))
	g.Expect(gets.Load()).To(BeNumerically(">", 40), "or there was nothing to bound")
	g.Expect(again.Load()).To(BeEquivalentTo(20))
}

// stockPage is what a common library answers to a bad request line.
const stockPage = `<!DOCTYPE HTML>
<html lang="en"><head><meta charset="utf-8"><style type="text/css">h1 { color: red }</style><title>Error response</title></head>
<body><h1>Error response</h1><p>Error code: 400</p><p>Message: Bad request version.</p></body></html>
`

// handWritten is a server on plain connections in front of another one. It checks
// the key before it reads the body. net/http would read the body in any case.
type handWritten struct {
	reads       bool   // the body of a rejected request
	findsGET    bool   // behind a body that it left unread
	closesAfter int    // requests; 0 for never
	garbled     string // the response to what is not a request
}

func (h handWritten) start(t *testing.T, behind string) (address string) {
	t.Helper()
	base, err := url.Parse(behind)
	if err != nil {
		t.Fatal(err)
	}
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
			go h.serve(conn, base)
		}
	}()
	return "http://" + listener.Addr().String()
}

func (h handWritten) serve(conn net.Conn, behind *url.URL) {
	defer func() { _ = conn.Close() }()
	in := textproto.NewReader(bufio.NewReader(conn))
	for served := 0; h.closesAfter == 0 || served < h.closesAfter; served++ {
		line, err := in.ReadLine()
		if err != nil {
			return
		}
		parts := strings.Split(line, " ")
		if h.findsGET && strings.HasSuffix(parts[0], http.MethodGet) {
			parts[0] = http.MethodGet
		}
		if len(parts) != 3 || parts[0] != http.MethodGet && parts[0] != http.MethodPost && parts[0] != http.MethodDelete {
			_, _ = in.ReadMIMEHeader() // or closing would reset the connection
			_, _ = io.WriteString(conn, h.garbled)
			return
		}
		header, err := in.ReadMIMEHeader()
		if err != nil {
			return
		}
		length, _ := strconv.ParseInt(header.Get("Content-Length"), 10, 64)
		if header.Get("Authorization") == "" && !h.reads {
			length = 0
		}
		body, err := io.ReadAll(io.LimitReader(in.R, length))
		if err != nil || !forward(conn, behind, parts[0], parts[1], header, body) {
			return
		}
	}
}

// forward sends the request on and writes the response. It reports whether it could.
func forward(conn net.Conn, behind *url.URL, method, path string, header textproto.MIMEHeader, body []byte) bool {
	address, err := behind.Parse(path)
	if err != nil {
		return false
	}
	r := httptest.NewRequest(method, address.String(), bytes.NewReader(body))
	r.RequestURI, r.Header = "", http.Header(header)
	answer, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		return false
	}
	defer func() { _ = answer.Body.Close() }()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		return false
	}
	_, err = fmt.Fprintf(conn, "HTTP/1.1 %s\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n%s",
		answer.Status, answer.Header.Get("Content-Type"), len(text), text)
	return err == nil
}
