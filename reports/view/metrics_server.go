package view

import (
	"context"
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
)

// metricsPath is where a MetricsServer serves the figures.
const metricsPath = "/metrics"

// mostLivePhases bounds the phases that a scrape returns. The oldest are dropped.
const mostLivePhases = 200

// MetricsServer serves the figures of a load run while it goes on. Nil serves nothing.
type MetricsServer struct {
	Address string // of the figures

	started time.Time
	server  *http.Server

	mu     sync.Mutex
	phases []LoadFigures // the last one runs
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

// ServeMetrics serves live figures on the address until it is closed. An empty address serves
// nothing.
func ServeMetrics(ctx context.Context, address string) (*MetricsServer, error) {
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
	m := &MetricsServer{started: time.Now(), Address: "http://" + bound.Addr().String() + metricsPath}
	m.server = &http.Server{Handler: m.handler(), ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 5 * time.Second,
		WriteTimeout: 10 * time.Second, IdleTimeout: time.Minute, MaxHeaderBytes: 16 << 10}
	go func() {
		_ = m.server.Serve(bound) // a scrape that fails is the scraper's to report
	}()
	return m, nil
}

func (m *MetricsServer) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+metricsPath, func(w http.ResponseWriter, _ *http.Request) {
		m.mu.Lock()
		phases := slices.Clone(m.phases)
		m.mu.Unlock()
		w.Header().Set("Content-Type", metricsType)
		_, _ = io.WriteString(redact.Process.Writer(w), LiveMetrics(m.started, phases))
	})
	return mux
}

// Show takes the figures of the phase that runs.
func (m *MetricsServer) Show(f LoadFigures) {
	if m == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	// A phase with the name of an earlier one replaces it: a repeat, or another block of
	// a comparison.
	m.phases = append(slices.DeleteFunc(m.phases, func(p LoadFigures) bool {
		return p.Scenario == f.Scenario && p.Phase == f.Phase && p.Warmup == f.Warmup
	}), f)
	if over := len(m.phases) - mostLivePhases; over > 0 {
		m.phases = slices.Delete(m.phases, 0, over)
	}
}

// Close closes the port.
func (m *MetricsServer) Close() {
	if m != nil {
		_ = m.server.Close()
	}
}
