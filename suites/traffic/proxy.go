package traffic

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"sync"
	"sync/atomic"
	"time"

	"github.com/klauspost/compress/gzip"

	"outreach.example/conformance/internal/client"
	"outreach.example/conformance/internal/evidence"
	"outreach.example/conformance/internal/printable"
)

const (
	// maxUnjudged bounds the exchanges that wait to be judged, in bytes. More of them pass and are not
	// judged.
	maxUnjudged = 24 << 20
	// besideBodies is what an exchange takes beside its bodies.
	besideBodies = 4 << 10
)

// closing bounds the wait for requests that are under way when the context ends.
const closing = 10 * time.Second

// Proxy listens on an address and passes requests to a server until the context ends. The judge
// judges the exchanges beside that. Say receives what is going on.
func Proxy(ctx context.Context, j *Judge, listen, server string, say func(string)) error {
	base, err := url.Parse(server)
	if err != nil || base.Host == "" || base.Scheme != "http" && base.Scheme != "https" {
		return fmt.Errorf("--target %s: want the address of a server, such as http://127.0.0.1:8025", server)
	}
	config, err := j.profile.TLS.Config()
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", listen)
	if err != nil {
		return fmt.Errorf("--listen: %w", err)
	}
	j.SeesKeys = true
	p := newPassing(j, config, say)
	silent := log.New(io.Discard, "", 0)
	proxy := &http.Server{ErrorLog: silent, ReadHeaderTimeout: time.Minute,
		Handler: &httputil.ReverseProxy{Transport: p, FlushInterval: -1, ErrorLog: silent, Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(base)
			r.Out.URL.RawQuery = r.In.URL.RawQuery // also what cannot be parsed
		}}}
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		<-ctx.Done()
		ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), closing)
		defer cancel()
		_ = errors.Join(proxy.Shutdown(ending), proxy.Close()) // what has passed is judged in any case
	}()
	say(fmt.Sprintf("judging what passes http://%s to %s until Ctrl-C", listener.Addr(), base.Redacted()))
	if err := proxy.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	<-stopped
	p.end()
	if n := p.dropped.Load(); n > 0 {
		say(fmt.Sprintf("not judged: %d exchanges that came faster than they could be judged", n))
	}
	if n := p.failed.Load(); n > 0 {
		say("not judged: " + printable.Counted(int(n), "request") + " without a response of the server")
	}
	return nil
}

// passing is a transport that has a copy of what passes judged, while nobody waits for the target.
type passing struct {
	*http.Transport
	say     func(string)
	judge   *Judge
	judged  chan struct{} // closed when all is judged
	under   atomic.Int64  // requests on their way
	waiting atomic.Int64  // bytes of the exchanges that wait to be judged
	dropped atomic.Int64
	failed  atomic.Int64 // requests without a response

	mu    sync.Mutex
	queue chan evidence.Entry // nil after the end
}

func newPassing(j *Judge, config *tls.Config, say func(string)) *passing {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.DisableCompression, transport.MaxIdleConnsPerHost = true, 256
	transport.TLSClientConfig = config
	p := &passing{Transport: transport, say: say, judge: j, judged: make(chan struct{}), queue: make(chan evidence.Entry, maxUnjudged/besideBodies)}
	go p.judgeAll(p.queue)
	return p
}

// judgeAll judges what has passed. It leaves the processors to requests that are under way,
// unless much waits.
func (p *passing) judgeAll(queue <-chan evidence.Entry) {
	defer close(p.judged)
	for e := range queue {
		for p.under.Load() > 0 && p.waiting.Load() < maxUnjudged/2 {
			time.Sleep(time.Millisecond)
		}
		_ = p.judge.Add(e) // it counts what cannot be read
		p.waiting.Add(-weight(e))
	}
}

// end waits until all is judged. What passes afterwards is not.
func (p *passing) end() {
	p.mu.Lock()
	close(p.queue)
	p.queue = nil
	p.mu.Unlock()
	<-p.judged
}

// RoundTrip passes a request. The exchange is judged once the body of the response has passed.
func (p *passing) RoundTrip(r *http.Request) (*http.Response, error) {
	began := time.Now()
	sent := []byte{}
	if r.Body != nil {
		sent, _ = io.ReadAll(io.LimitReader(r.Body, client.DefaultMaxBody)) // the transport meets the same error
		r.Body = struct {
			io.Reader
			io.Closer
		}{io.MultiReader(bytes.NewReader(sent), r.Body), r.Body}
	}
	p.under.Add(1)
	response, err := p.Transport.RoundTrip(r)
	if err != nil && r.Context().Err() == nil && p.failed.Add(1) == 1 {
		p.say(fmt.Sprintf("the server does not respond: %v", err))
	}
	if err != nil || response.StatusCode == http.StatusSwitchingProtocols {
		p.under.Add(-1)
		return response, err
	}
	body := &copying{ReadCloser: response.Body}
	body.passed = func() {
		p.under.Add(-1)
		p.enter(evidence.Entry{Started: began, Time: evidence.Millis(time.Since(began)),
			Request:  evidence.Request{Method: r.Method, URL: r.URL.String(), Headers: evidence.Pairs(r.Header), PostData: &evidence.PostData{Text: string(sent)}},
			Response: evidence.Response{Status: response.StatusCode, Headers: evidence.Pairs(response.Header), Content: body.content(response.Header)}})
	}
	response.Body = body
	return response, nil
}

// weight is the memory that an exchange takes, in bytes.
func weight(e evidence.Entry) int64 {
	return int64(besideBodies + len(e.Request.PostData.Text) + e.Response.Content.Size)
}

// enter has an exchange judged, unless too many wait.
func (p *passing) enter(e evidence.Entry) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.queue == nil:
	case p.waiting.Add(weight(e)) > maxUnjudged:
		p.waiting.Add(-weight(e))
		p.dropped.Add(1)
	default:
		p.queue <- e // there is room: each weighs at least besideBodies
	}
}

// copying is the body of a response, of which the beginning is kept as it passes.
type copying struct {
	io.ReadCloser
	kept   bytes.Buffer
	whole  bool
	once   sync.Once
	passed func()
}

// Read passes what the body has.
func (c *copying) Read(p []byte) (int, error) {
	n, err := c.ReadCloser.Read(p)
	c.kept.Write(p[:min(n, client.DefaultMaxBody-c.kept.Len())])
	c.whole = errors.Is(err, io.EOF) && c.kept.Len() < client.DefaultMaxBody
	return n, err
}

// Close is called once the body has passed, or its reader has left.
func (c *copying) Close() error {
	defer c.once.Do(c.passed)
	return c.ReadCloser.Close()
}

// content returns the body, decompressed. It has no text if the copy is not whole.
func (c *copying) content(header http.Header) evidence.Content {
	body, err := c.kept.Bytes(), error(nil)
	switch encoding := header.Get("Content-Encoding"); encoding {
	case "", "identity":
	case "gzip":
		var zip *gzip.Reader
		if zip, err = gzip.NewReader(bytes.NewReader(body)); err == nil {
			body, err = io.ReadAll(io.LimitReader(zip, client.DefaultMaxBody))
		}
	default:
		err = errors.New(encoding)
	}
	if !c.whole || err != nil || len(body) == client.DefaultMaxBody {
		return evidence.Content{}
	}
	return evidence.ContentOf(body, evidence.MimeType(header))
}
