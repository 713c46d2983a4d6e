package refserver

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"
	"time"
)

// Bounds of a connection. A header is allowed 64 KiB, which a filter with some
// hundred ids needs.
const (
	readHeaderTimeout = 10 * time.Second
	readTimeout       = 30 * time.Second
	writeTimeout      = 2 * time.Minute // more than any stall that a load test wants
	idleTimeout       = 2 * time.Minute
	maxHeaderBytes    = 64 << 10
)

// listeners are the two ports of a server.
type listeners struct {
	api, truth       net.Listener // truth is nil when there is no such port
	servers          []*http.Server
	bound            []net.Listener // in the order of servers
	shutdownComplete chan struct{}
	shutdown         sync.Once
	shutdownErr      error
}

// Listen binds the API to addr and the truth to truthAddr, for which an empty
// string means no truth port. Port 0 picks a free one: see URL and TruthURL.
// Requests are answered once Serve runs. Call it once.
func (s *Server) Listen(ctx context.Context, addr, truthAddr string) error {
	l := &s.listeners
	if l.api != nil {
		return errors.New("refserver: Listen was called twice")
	}
	var config net.ListenConfig
	api, err := config.Listen(ctx, "tcp", addr)
	if err != nil {
		return fmt.Errorf("refserver: API port: %w", err)
	}
	l.api, l.shutdownComplete = api, make(chan struct{})
	l.add(api, s.httpServer(s.Handler(), s.countConnections))
	if truthAddr == "" {
		return nil
	}
	if l.truth, err = config.Listen(ctx, "tcp", truthAddr); err != nil {
		return errors.Join(fmt.Errorf("refserver: truth port: %w", err), api.Close())
	}
	l.add(l.truth, s.httpServer(s.TruthHandler(), nil))
	return nil
}

func (l *listeners) add(bound net.Listener, server *http.Server) {
	l.bound = append(l.bound, bound)
	l.servers = append(l.servers, server)
}

func (s *Server) httpServer(h http.Handler, connState func(net.Conn, http.ConnState)) *http.Server {
	return &http.Server{
		Handler:           h,
		ConnState:         connState,
		ReadHeaderTimeout: readHeaderTimeout,
		ReadTimeout:       readTimeout,
		WriteTimeout:      writeTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeaderBytes,
	}
}

func (s *Server) countConnections(_ net.Conn, state http.ConnState) {
	switch state {
	case http.StateNew:
		s.counters.Connection(+1)
	case http.StateClosed, http.StateHijacked:
		s.counters.Connection(-1)
	}
}

// URL is the address of the API port without BasePath, e.g. http://127.0.0.1:8080.
func (s *Server) URL() string { return "http://" + s.listeners.api.Addr().String() }

// TruthURL is the address of the truth port; empty when there is none.
func (s *Server) TruthURL() string {
	if s.listeners.truth == nil {
		return ""
	}
	return "http://" + s.listeners.truth.Addr().String()
}

// Serve answers requests until Shutdown has been called and has ended, or until
// a port fails. It returns nil after a Shutdown.
func (s *Server) Serve() error {
	l := &s.listeners
	if l.api == nil {
		return errors.New("refserver: call Listen before Serve")
	}
	failed := make(chan error, len(l.servers))
	for i, server := range l.servers {
		go func() { failed <- server.Serve(l.bound[i]) }()
	}
	s.options.Logger.Info("reference server is listening", "api", s.URL()+BasePath, "truth", s.TruthURL())
	err := <-failed
	if errors.Is(err, http.ErrServerClosed) {
		<-l.shutdownComplete
		return nil
	}
	for _, server := range l.servers {
		_ = server.Close() // the first failure is the one to report
	}
	return fmt.Errorf("refserver: %w", err)
}

// Shutdown takes no more requests, lets those under way end, and delivers the
// webhook events that are queued. When ctx ends first it breaks off and returns
// ctx's error. Later calls return what the first returned.
func (s *Server) Shutdown(ctx context.Context) error {
	l := &s.listeners
	l.shutdown.Do(func() {
		var errs []error
		for _, server := range l.servers {
			if err := server.Shutdown(ctx); err != nil {
				errs = append(errs, err, server.Close())
			}
		}
		for _, bound := range l.bound { // a port that was bound and never served
			_ = bound.Close()
		}
		if s.webhooks != nil {
			errs = append(errs, s.webhooks.Close(ctx))
		}
		l.shutdownErr = errors.Join(errs...)
		if l.shutdownComplete != nil {
			close(l.shutdownComplete)
		}
	})
	return l.shutdownErr
}
