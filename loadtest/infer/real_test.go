package infer

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/fixtures/refserver"
	"outreach.example/conformance/fixtures/refserver/limiter"
	"outreach.example/conformance/internal/testbed"
)

// real is a wire to a reference server over loopback.
func real(t *testing.T, config limiter.Config) Wire {
	t.Helper()
	data, err := dataset.New(dataset.Options{Seed: 1, Rows: 3})
	if err != nil {
		t.Fatal(err)
	}
	server, err := refserver.New(data, refserver.Options{Limiters: map[string]limiter.Config{refserver.AnyRole: config}})
	if err != nil {
		t.Fatal(err)
	}
	front := httptest.NewServer(server.Handler())
	t.Cleanup(front.Close)
	tokens := map[string]string{}
	for _, key := range data.Keys {
		tokens[key.Name] = key.Token
	}
	usual, other := clientFrom(t, ""), clientFrom(t, "127.0.0.2")
	send := func(ctx context.Context, s Subject) Observation {
		client, key, path := usual, dataset.Main, "/lead-labels?limit=1"
		switch s {
		case OtherKey:
			key = dataset.Main + "-2"
		case OtherWorkspace:
			key = dataset.Second
		case OtherOperation:
			path = "/lead-lists?limit=1"
		case OtherAddress:
			client = other
		}
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, front.URL+refserver.BasePath+path, nil)
		if err != nil {
			return Observation{Subject: s, Failure: err.Error()}
		}
		request.Header.Set("Authorization", "Bearer "+tokens[key])
		o := Observation{Subject: s, Sent: time.Now()}
		response, err := client.Do(request)
		o.Received = time.Now()
		if err != nil {
			o.Failure = "no answer"
			return o
		}
		_, _ = io.Copy(io.Discard, response.Body)
		_ = response.Body.Close()
		o.Status, o.Header = response.StatusCode, response.Header
		return o
	}
	return Wire{
		Now: time.Now, Subjects: []Subject{OtherKey, OtherWorkspace, OtherOperation, OtherAddress},
		Sleep: func(ctx context.Context, d time.Duration) error {
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-time.After(d):
				return nil
			}
		},
		Send: func(ctx context.Context, subjects []Subject) []Observation {
			seen := make([]Observation, len(subjects))
			var wait sync.WaitGroup
			for i, subject := range subjects {
				wait.Go(func() { seen[i] = send(ctx, subject) })
			}
			wait.Wait()
			return seen
		},
	}
}

// clientFrom sends from a local address.
func clientFrom(t *testing.T, address string) *http.Client {
	dialer := &net.Dialer{}
	if address != "" {
		dialer.LocalAddr = &net.TCPAddr{IP: net.ParseIP(address)}
	}
	transport := &http.Transport{DialContext: dialer.DialContext, MaxIdleConnsPerHost: 100}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}

// TestReal infers limiters of the reference server on the wall clock. On a busy
// machine the answer may be "cannot tell"; it must not be wrong.
func TestReal(t *testing.T) {
	testbed.SkipUnlessSlow(t)
	for i, tc := range []gridCase{
		{kind: "token-bucket:%d/%s", limit: 15, window: 200 * time.Millisecond},
		{kind: "fixed-window:%d/%s", limit: 12, window: 200 * time.Millisecond},
		{kind: "sliding-log:%d/%s", limit: 10, window: 200 * time.Millisecond},
		{kind: "fixed-window:%d/%s:from-first", limit: 20, window: 200 * time.Millisecond},
	} {
		tc.seed = uint64(i)
		t.Run(tc.String(), func(t *testing.T) {
			t.Parallel()
			config := tc.config(t)
			r, err := Run(t.Context(), real(t, config), Options{MaxTime: 12 * time.Second, Sustain: 500 * time.Millisecond, Seed: tc.seed})
			if err != nil {
				t.Fatal(err)
			}
			s := judge(tc, config, r)
			l := r.Layers[0]
			t.Logf("kind %s%v limit %g..%g window %g..%g counts %q scope %q (%s) recovery %g honest %g; %d requests, %.1f windows; round trip %g s", l.Kind.Value, l.Kind.OneOf, l.Limit.Low, l.Limit.High,
				l.Window.Low, l.Window.High, l.CountsRefused.Value, r.Scope.Value, r.Scope.Why, r.Recovery.Value, r.RetryAfter.Honest.Value, r.Inference.Requests, s.windows, r.RoundTrip.Value)
			if len(s.wrong) > 0 {
				t.Errorf("wrong: %v", s.wrong)
			}
		})
	}
}
