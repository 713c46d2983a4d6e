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
		return fmt.Errorf("--target %s: want the address of a server, such as http://127.0.0.1:8025", f.target)
	}
	listener, err := net.Listen("tcp", f.listen)
	if err != nil {
		return fmt.Errorf("--listen: %w", err)
	}
	j.SeesKeys = true
	p := newPassing(j)
	silent := log.New(io.Discard, "", 0)
	server := &http.Server{ErrorLog: silent, ReadHeaderTimeout: time.Minute,
		Handler: &httputil.ReverseProxy{Transport: p, FlushInterval: -1, ErrorLog: silent, Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(base) }}}
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		<-ctx.Done()
		ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeTimeout)
		defer cancel()
		_ = errors.Join(server.Shutdown(ending), server.Close()) // what has passed is judged in any case
	}()
	sayOn(stderr)(fmt.Sprintf("judging what passes http://%s to %s until Ctrl-C", listener.Addr(), base.Redacted()))
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	<-stopped
	_ = p.unjudged.Acquire(context.WithoutCancel(ctx), maxUnjudged) // all is judged, and what passes now is not
	if n := p.dropped.Load(); n > 0 {
		sayOn(stderr)(fmt.Sprintf("not judged: %d exchanges that came faster than they could be judged", n))
	}
	return nil
}

// passing is a transport that has a copy of what passes judged.
type passing struct {
	*http.Transport
	unjudged *semaphore.Weighted
	dropped  atomic.Int64

	mu    sync.Mutex
	judge *traffic.Judge
}

func newPassing(j *traffic.Judge) *passing {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.DisableCompression, transport.MaxIdleConnsPerHost = true, 256
	return &passing{Transport: transport, unjudged: semaphore.NewWeighted(maxUnjudged), judge: j}
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
	response, err := p.Transport.RoundTrip(r)
	if err != nil || response.StatusCode == http.StatusSwitchingProtocols {
		return response, err
	}
	body := &copying{ReadCloser: response.Body}
	body.passed = func() {
		p.enter(har.Entry{Started: began, Time: har.Millis(time.Since(began)),
			Request:  har.Request{Method: r.Method, URL: r.URL.String(), Headers: har.Pairs(r.Header), PostData: &har.PostData{Text: string(sent)}},
			Response: har.Response{Status: response.StatusCode, Headers: har.Pairs(response.Header), Content: body.content(response.Header)}})
	}
	response.Body = body
	return response, nil
}

// enter has an exchange judged beside the traffic, unless too many wait.
func (p *passing) enter(e har.Entry) {
	weight := int64(min(perExchange+len(e.Request.PostData.Text)+e.Response.Content.Size, maxUnjudged))
	if !p.unjudged.TryAcquire(weight) {
		p.dropped.Add(1)
		return
	}
	go func() {
		defer p.unjudged.Release(weight)
		p.mu.Lock()
		defer p.mu.Unlock()
		_ = p.judge.Add(e) // it counts what cannot be read
	}()
}

// copying is the body of a response, of which the beginning is kept as it passes.
type copying struct {
	io.ReadCloser
	kept   bytes.Buffer
	whole  bool
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
	defer c.passed()
	return c.ReadCloser.Close()
}

// content returns the body, decompressed. It has no text if the copy is not whole.
func (c *copying) content(header http.Header) har.Content {
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
		return har.Content{}
	}
	return har.ContentOf(body, har.MimeType(header))
}
