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
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	. "github.com/onsi/gomega"

	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/fixtures/target"
	"outreach.example/conformance/reports"
	"outreach.example/conformance/spec"
)

// A server that leaves the body of a rejected request unread takes it for the next
// request. The run reports the cause and goes on with the response that the server
// gives on a fresh connection. A server may close connections without notice.
func TestBodyLeftUnread(t *testing.T) {
	const words = "only after another request on the same connection; on a fresh connection it is [24]0[01]: " +
		"the server probably leaves a request body unread .of POST /api/v2/leads/subsequence/move, answered with 401.; "
	const page = "<!DOCTYPE HTML>\n<html><head><style type=\"text/css\">h1 { color: red }</style><title>Error response</title></head><body><p>Bad request version.</p></body></html>\n"
	for name, tc := range map[string]struct {
		server handWritten
		starts string // of the violation; "" if the server is right
	}{
		"reads it, and closes after a while": {server: handWritten{reads: true, closesAfter: 3}},
		"answers the rest with 400":          {handWritten{garbled: "HTTP/1.1 400 Bad Request\r\nContent-Type: text/html\r\nConnection: close\r\n\r\n" + page}, "400, "},
		"answers the rest without a status":  {handWritten{garbled: page}, "a response that is not HTTP, "},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			results := judged(t, t.Context(), Config{Target: tc.server.before(t, embedded(t)), Selection: Selection{
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
			}
			g.Expect(of(results, reports.Fail)).NotTo(ContainElement(HavePrefix("PAGE-")))
		})
	}
}

// If one input never gets a response, the requirement of that request fails, with a command
// that repeats it. A timeout may have another cause.
func TestInputsWithoutResponse(t *testing.T) {
	for lost, fails := range map[error][]string{io.ErrUnexpectedEOF: {"STATUS-ALLOWED on lead-lists.list", "PAGE-LIMIT-OUT-OF-RANGE on lead-lists.list"}, os.ErrDeadlineExceeded: nil} {
		g := NewWithT(t)
		results := judged(t, t.Context(), Config{Target: embedded(t), Selection: Selection{Operations: []string{spec.ListLeadLists}, Groups: []string{"pages", "errors", "shape"}},
			Transport: roundTripper(func(r *http.Request) (*http.Response, error) {
				if r.URL.Query().Get("limit") == "101" {
					return nil, lost
				}
				return http.DefaultTransport.RoundTrip(r)
			})})
		g.Expect(of(results, reports.Fail)).To(ConsistOf(fails), "%v", lost)
		for _, c := range results.Checks {
			if c.Outcome == reports.Fail {
				g.Expect(c.Violations[0].Curl).To(ContainSubstring("limit=101"))
			}
		}
	}
}

// A server that answers the same on every connection is asked a bounded number of times
// more, and never to change something again.
func TestFreshConnectionsAreBounded(t *testing.T) {
	g := NewWithT(t)
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
	subject, err := target.URL(profile.Embedded(), front.URL)
	g.Expect(err).NotTo(HaveOccurred())
	subject.Profile.Pace.Concurrency = 1
	results := judged(t, t.Context(), Config{Target: subject, Selection: Selection{Requirements: []string{"STATUS-200", "PAGE-*"}}})
	g.Expect(results.Verdict).To(Equal(reports.Failed))
	g.Expect(gets.Load()).To(BeNumerically(">", 40), "or there was nothing to bound")
	g.Expect(again.Load()).To(BeEquivalentTo(20))
}

// handWritten is a server on plain connections in front of another one. It checks
// the key before it reads the body. net/http would read the body in any case.
type handWritten struct {
	reads       bool   // the body of a rejected request
	closesAfter int    // requests; 0 for never
	garbled     string // the response to what is not a request
}

// before starts it for a run whose requests share one connection.
func (h handWritten) before(t *testing.T, server *target.Target) *target.Target {
	t.Helper()
	base, err := url.Parse(server.BaseURL)
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
	front := described(server, func(p *profile.Profile) { p.Pace.Concurrency = 1 })
	front.BaseURL = "http://" + listener.Addr().String()
	return front
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
		if len(parts) != 3 || !slices.Contains([]string{http.MethodGet, http.MethodPost, http.MethodDelete}, parts[0]) {
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
		if err != nil {
			return
		}
		address, err := behind.Parse(parts[1])
		if err != nil {
			return
		}
		r := httptest.NewRequest(parts[0], address.String(), bytes.NewReader(body))
		r.RequestURI, r.Header = "", http.Header(header)
		answer, err := http.DefaultTransport.RoundTrip(r)
		if err != nil {
			return
		}
		text, _ := io.ReadAll(answer.Body)
		_ = answer.Body.Close()
		if _, err = fmt.Fprintf(conn, "HTTP/1.1 %s\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n%s",
			answer.Status, answer.Header.Get("Content-Type"), len(text), text); err != nil {
			return
		}
	}
}
