package main

import (
	"bytes"
	"compress/gzip"
	"context"
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

	"golang.org/x/sync/semaphore"

	"outreach.example/conformance/internal/client"
	"outreach.example/conformance/internal/har"
	"outreach.example/conformance/suites/traffic"
)

const (
	// maxUnjudged bounds the exchanges that wait to be judged, in bytes. More of them pass and are not
	// judged.
	maxUnjudged = 24 << 20
	// perExchange is what an exchange takes beside its bodies.
	perExchange = 4 << 10
)

// proxy passes requests to the target until the context ends, and has the exchanges judged beside
// that.
func (f judgeFlags) proxy(ctx context.Context, j *traffic.Judge, stderr io.Writer) error {
	base, err := url.Parse(f.target)
	if err != nil || base.Host == "" || base.Scheme != "http" && base.Scheme != "https" {
		return exitError{exitUsage, fmt.Errorf("--target %s: want the address of a server, such as http://127.0.0.1:8025", f.target)}
	}
	listener, err := net.Listen("tcp", f.listen)
	if err != nil {
		return exitError{exitUsage, fmt.Errorf("--listen: %w", err)}
	}
	j.SeesKeys()
	p := newPassing(base)
	judged := make(chan struct{})
	go func() {
		defer close(judged)
		for e := range p.entries {
			_ = j.Add(e) // it counts what cannot be read
			p.unjudged.Release(weight(e))
		}
	}()
	server := &http.Server{Handler: p, ErrorLog: log.New(io.Discard, "", 0), ReadHeaderTimeout: time.Minute}
	stopped := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(stopped)
		ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeTimeout)
		defer cancel()
		_ = errors.Join(server.Shutdown(ending), server.Close()) // what has passed is judged in any case
	})
	sayOn(stderr)(fmt.Sprintf("judging what passes http://%s to %s until Ctrl-C", listener.Addr(), base.Redacted()))
	if err = server.Serve(listener); errors.Is(err, http.ErrServerClosed) {
		err = nil
	}
	if !stop() {
		<-stopped
	}
	p.end()
	<-judged
	if n := p.dropped.Load(); n > 0 {
		sayOn(stderr)(fmt.Sprintf("not judged: %d exchanges that came faster than they could be judged", n))
	}
	return err
}

// passing is a reverse proxy that keeps a copy of what passes.
type passing struct {
	httputil.ReverseProxy
	entries  chan har.Entry
	unjudged *semaphore.Weighted
	dropped  atomic.Int64

	mu    sync.RWMutex
	ended bool // nothing more is judged
}

func newPassing(base *url.URL) *passing {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.DisableCompression, transport.MaxIdleConnsPerHost = true, 256
	p := &passing{entries: make(chan har.Entry, maxUnjudged/perExchange), unjudged: semaphore.NewWeighted(maxUnjudged)}
	p.ReverseProxy = httputil.ReverseProxy{Transport: transport, FlushInterval: -1, ErrorLog: log.New(io.Discard, "", 0), ModifyResponse: p.keep,
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(base)
			sent := &copying{ReadCloser: r.Out.Body, began: time.Now()}
			if r.Out.Body != nil && r.Out.Body != http.NoBody {
				r.Out.Body = sent
			}
			r.Out = r.Out.WithContext(context.WithValue(r.Out.Context(), sentKey{}, sent))
		}}
	return p
}

// sentKey is the key of the copy of the request's body in its context.
type sentKey struct{}

// keep has the exchange judged once the body of the response has passed.
func (p *passing) keep(r *http.Response) error {
	sent, _ := r.Request.Context().Value(sentKey{}).(*copying)
	if sent == nil || r.StatusCode == http.StatusSwitchingProtocols {
		return nil
	}
	received := &copying{ReadCloser: r.Body}
	received.ended = sync.OnceFunc(func() {
		body, _ := sent.copy()
		p.enter(har.Entry{Started: sent.began, Time: har.Millis(time.Since(sent.began)),
			Request:  har.Request{Method: r.Request.Method, URL: r.Request.URL.String(), Headers: har.Pairs(r.Request.Header), PostData: &har.PostData{Text: string(body)}},
			Response: har.Response{Status: r.StatusCode, Headers: har.Pairs(r.Header), Content: contentOf(received, r.Header)}})
	})
	r.Body = received
	return nil
}

// contentOf returns a body, decompressed. It has no text if the copy is not whole.
func contentOf(received *copying, header http.Header) har.Content {
	body, whole := received.copy()
	switch header.Get("Content-Encoding") {
	case "", "identity":
	case "gzip":
		zip, err := gzip.NewReader(bytes.NewReader(body))
		if err == nil {
			body, err = io.ReadAll(io.LimitReader(zip, client.DefaultMaxBody))
		}
		whole = whole && err == nil && len(body) < client.DefaultMaxBody
	default:
		whole = false
	}
	if !whole {
		return har.Content{}
	}
	return har.ContentOf(body, har.MimeType(header))
}

// enter hands an exchange over, unless too many wait.
func (p *passing) enter(e har.Entry) {
	p.mu.RLock()
	defer p.mu.RUnlock()
	if p.ended || !p.unjudged.TryAcquire(weight(e)) {
		p.dropped.Add(1)
		return
	}
	p.entries <- e // there is room for all that may wait
}

func (p *passing) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ended = true
	close(p.entries)
}

func weight(e har.Entry) int64 {
	n := perExchange + len(e.Request.PostData.Text)
	if e.Response.Content.Text != nil {
		n += len(*e.Response.Content.Text)
	}
	return int64(min(n, maxUnjudged))
}

// copying is a body of which the beginning is kept as it passes.
type copying struct {
	io.ReadCloser
	began time.Time // of the request
	ended func()    // is called at the end of the body; nil for nothing

	mu         sync.Mutex
	kept       bytes.Buffer
	cut, whole bool
}

// Read passes what the body has.
func (c *copying) Read(p []byte) (int, error) {
	n, err := c.ReadCloser.Read(p)
	c.mu.Lock()
	fits := min(n, client.DefaultMaxBody-c.kept.Len())
	c.kept.Write(p[:fits])
	c.cut, c.whole = c.cut || fits < n, c.whole || errors.Is(err, io.EOF)
	c.mu.Unlock()
	if c.whole && c.ended != nil {
		c.ended()
	}
	return n, err
}

// Close closes the body. The end of one that is closed early is not known.
func (c *copying) Close() error {
	err := c.ReadCloser.Close()
	if c.ended != nil {
		c.ended()
	}
	return err
}

// copy returns what is kept, and whether that is all.
func (c *copying) copy() ([]byte, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return bytes.Clone(c.kept.Bytes()), c.whole && !c.cut
}
