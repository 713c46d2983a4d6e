package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"outreach.example/conformance/internal/redact"
	"outreach.example/conformance/reports/console"
	"outreach.example/conformance/reports/view"
)

// metricsPath is where --listen serves the figures.
const metricsPath = "/metrics"

// mostLivePhases bounds the phases that a scrape returns. The oldest are dropped.
const mostLivePhases = 200

// liveMetrics serves the figures of a load run while it goes on. Nil serves nothing.
type liveMetrics struct {
	started time.Time
	server  *http.Server
	address string

	mu     sync.Mutex
	phases []view.LivePhase // the last one runs
}

// listenAddress returns the address to listen on. Without a host it is on the loopback
// interface.
func listenAddress(text string) (string, error) {
	full := text
	if !strings.Contains(text, ":") {
		full = ":" + text
	}
	host, port, err := net.SplitHostPort(full)
	if n, wrong := strconv.ParseUint(port, 10, 16); err != nil || wrong != nil || port != strconv.FormatUint(n, 10) {
		return "", fmt.Errorf("--listen %q: no address and port (want e.g. 127.0.0.1:9464)", text)
	}
	if host == "" {
		host = "127.0.0.1"
	}
	return net.JoinHostPort(host, port), nil
}

// listen serves live figures on the address until stop is called. An empty address serves
// nothing.
func listen(ctx context.Context, address string) (*liveMetrics, error) {
	if address == "" {
		return nil, nil
	}
	address, err := listenAddress(address)
	if err != nil {
		return nil, err
	}
	var config net.ListenConfig
	bound, err := config.Listen(ctx, "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("--listen: %w (choose a free port of this machine)", err)
	}
	m := &liveMetrics{started: time.Now(), address: "http://" + bound.Addr().String() + metricsPath}
	m.server = &http.Server{Handler: m.handler(), ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 5 * time.Second,
		WriteTimeout: 10 * time.Second, IdleTimeout: time.Minute, MaxHeaderBytes: 16 << 10}
	go func() {
		_ = m.server.Serve(bound) // a scrape that fails is the scraper's to report
	}()
	return m, nil
}

func (m *liveMetrics) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+metricsPath, func(w http.ResponseWriter, _ *http.Request) {
		m.mu.Lock()
		phases := slices.Clone(m.phases)
		m.mu.Unlock()
		w.Header().Set("Content-Type", view.MetricsType)
		_, _ = io.WriteString(redact.Process.Writer(w), view.LiveMetrics(m.started, phases))
	})
	return mux
}

// show takes the figures of the phase that runs.
func (m *liveMetrics) show(f console.LoadFigures) {
	if m == nil {
		return
	}
	is := view.LivePhase{Scenario: f.Scenario, Phase: f.Phase, Warmup: f.Warmup, At: f.At, Planned: f.Planned, Sent: f.Sent, InFlight: f.InFlight,
		Accepted: f.Accepted, Limited: f.Limited, Failed: f.Failed,
		AskedPerSecond: f.AskedPerSecond, AnsweredPerSecond: f.DonePerSecond, P50MS: f.P50MS, P99MS: f.P99MS, LagP99MS: f.LagP99MS}
	m.mu.Lock()
	defer m.mu.Unlock()
	// A phase with the name of an earlier one replaces it: a repeat, or another block of
	// a comparison.
	m.phases = append(slices.DeleteFunc(m.phases, func(p view.LivePhase) bool {
		return p.Scenario == is.Scenario && p.Phase == is.Phase && p.Warmup == is.Warmup
	}), is)
	if over := len(m.phases) - mostLivePhases; over > 0 {
		m.phases = slices.Delete(m.phases, 0, over)
	}
}

// stop closes the port.
func (m *liveMetrics) stop() error {
	if m == nil {
		return nil
	}
	if err := m.server.Close(); err != nil && !errors.Is(err, net.ErrClosed) {
		return fmt.Errorf("--listen: %w", err)
	}
	return nil
}
