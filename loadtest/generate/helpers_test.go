package generate

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"outreach.example/conformance/loadtest/measure"
	"outreach.example/conformance/loadtest/schedule"
)

// network replaces the network and the target in the fake time of a synctest bubble.
// It notes when each request arrives.
type network struct {
	answer func(r *http.Request) // returns when the answer is due; nil for at once

	mu       sync.Mutex
	came     []time.Time
	paths    []string
	inFlight int
	most     int // in flight at once
}

func (n *network) RoundTrip(r *http.Request) (*http.Response, error) {
	n.mu.Lock()
	n.came = append(n.came, time.Now())
	n.paths = append(n.paths, r.URL.RequestURI())
	n.inFlight++
	n.most = max(n.most, n.inFlight)
	n.mu.Unlock()
	if n.answer != nil {
		n.answer(r)
	}
	n.mu.Lock()
	n.inFlight--
	n.mu.Unlock()
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	return &http.Response{StatusCode: 200, ContentLength: 2, Body: io.NopCloser(bytes.NewReader([]byte("{}")))}, nil
}

// since returns when the requests arrived, counted from the start.
func (n *network) since(start time.Time) []time.Duration {
	came := make([]time.Duration, len(n.came))
	for i, at := range n.came {
		came[i] = at.Sub(start)
	}
	slices.Sort(came)
	return came
}

// busiest returns the largest number of the sorted times in a window.
func busiest(times []time.Duration, window time.Duration) int {
	most, from := 0, 0
	for i := range times {
		for times[i]-times[from] >= window {
			from++
		}
		most = max(most, i-from+1)
	}
	return most
}

// inBubble returns a generator for the network that waits in fake time only.
func inBubble(t *testing.T, n *network, opts Options) *Generator {
	t.Helper()
	opts.BaseURL, opts.Transport = "http://target.example", n
	return newGenerator(t, opts, time.Sleep)
}

func newGenerator(t *testing.T, opts Options, fine func(time.Duration)) *Generator {
	t.Helper()
	opts.Sleep = fine
	g, err := New(opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(g.Close)
	return g
}

func asking(path string) Mix {
	return func(uint64) Request { return Request{Label: "test", Path: path} }
}

func constant(rate float64, d time.Duration) Phase {
	return Phase{Name: "test", Schedule: schedule.Constant(rate, d), Mix: asking("/a")}
}

func run(t *testing.T, g *Generator, p Phase) measure.Recording {
	t.Helper()
	r, _, err := g.Run(context.Background(), p)
	if err != nil {
		t.Fatal(err)
	}
	return r
}
