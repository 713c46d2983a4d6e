package refserver

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/refserver/truth"
	"outreach.example/conformance/refserver/webhook"
)

// Server is the reference service. Make one with New; serve it with Listen and
// Serve, or put its handlers into a server of your own and end with Shutdown.
type Server struct {
	options  Options
	router   *router
	keys     map[string]*apiKey // by token
	ids      *idSource
	webhooks *webhook.Sender // nil without a subscriber
	counters *truth.Counters

	seed    *world
	current atomic.Pointer[world]

	listeners listeners
}

// New loads the data set. It fails on data that cannot be served, naming the
// place, and on options that contradict themselves or the data.
func New(data *dataset.Data, opts Options) (*Server, error) {
	opts = opts.withDefaults()
	s := &Server{
		options:  opts,
		router:   newRouter(operations()),
		keys:     map[string]*apiKey{},
		ids:      &idSource{clock: opts.Clock},
		counters: truth.New(opts.Clock),
	}
	load := &loader{ids: s.ids}
	if s.seed = load.world(data, opts.Limiters); load.err != nil {
		return nil, load.err
	}
	for _, key := range data.Keys {
		if s.seed.byRole[key.Workspace] == nil {
			return nil, fmt.Errorf("refserver: key %s: no workspace has the role %q", key.Name, key.Workspace)
		}
		if key.Token == "" || s.keys[key.Token] != nil {
			return nil, fmt.Errorf("refserver: key %s: its token is empty or occurs twice", key.Name)
		}
		s.keys[key.Token] = &apiKey{key.Name, key.Workspace, key.Scopes, key.Revoked}
	}
	if opts.Webhook.URL != "" {
		sender, err := webhook.New(opts.Webhook, opts.Logger)
		if err != nil {
			return nil, fmt.Errorf("refserver: %w", err)
		}
		s.webhooks = sender
	}
	s.Reset()
	return s, nil
}

// Reset puts the data and the limiters back to how they were at the start.
// Ids go on ascending.
func (s *Server) Reset() { s.current.Store(s.seed.fork()) }

// now is the time for timestamps that stand alone. It goes with the ids, so that
// a change never seems to lie before the creation of what it changes.
func (s *Server) now() time.Time {
	_, at := s.ids.next()
	return at
}

// Handler serves the API below BasePath and, without authentication, GET /healthz.
func (s *Server) Handler() http.Handler {
	var api http.Handler = http.HandlerFunc(s.serveAPI)
	for i := len(s.options.Middleware) - 1; i >= 0; i-- {
		api = s.options.Middleware[i](api)
	}
	api = s.measure(s.recoverPanics(api))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case strings.HasPrefix(r.URL.Path, BasePath+"/"):
			api.ServeHTTP(w, r)
		case r.URL.Path == "/healthz":
			serveHealth(w, r)
		default:
			s.writeError(w, r, errNotFound)
		}
	})
}

func (s *Server) serveAPI(w http.ResponseWriter, r *http.Request) {
	t, ok := r.Context().Value(traceKey{}).(*trace)
	if !ok {
		t = &trace{} // a middleware went on with a context of its own
	}
	c := &call{server: s, world: s.current.Load(), w: w, r: r, trace: t}
	if err := c.handle(); err != nil {
		s.writeError(w, r, err)
	}
}

// trace is what the truth wants to know of a request: the handler fills it in.
type trace struct{ operation, key string }

type traceKey struct{}

// measure counts the request and its time, faults of the middleware included.
func (s *Server) measure(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		started := time.Now()
		end := s.counters.Begin(started)
		t := &trace{operation: unrouted, key: unrouted}
		seen := &statusWriter{ResponseWriter: w}
		defer func() {
			end(truth.Request{Operation: t.operation, Status: seen.status, Key: t.key}, time.Since(started))
		}()
		next.ServeHTTP(seen, r.WithContext(context.WithValue(r.Context(), traceKey{}, t)))
	})
}

// recoverPanics answers a panic with 500. When the answer has begun, it breaks
// the connection instead, so that the client does not take a part for the whole.
func (s *Server) recoverPanics(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer func() {
			cause := recover()
			if cause == nil {
				return
			}
			if cause == http.ErrAbortHandler {
				panic(cause)
			}
			s.options.Logger.Error("panic", "method", r.Method, "path", r.URL.Path, "cause", cause)
			if w.(*statusWriter).status != 0 {
				panic(http.ErrAbortHandler)
			}
			s.writeError(w, r, errInternal)
		}()
		next.ServeHTTP(w, r)
	})
}

// statusWriter remembers the status; 0 means that no answer has begun.
type statusWriter struct {
	http.ResponseWriter
	status int
}

func (w *statusWriter) WriteHeader(status int) {
	if w.status == 0 {
		w.status = status
	}
	w.ResponseWriter.WriteHeader(status)
}

func (w *statusWriter) Write(p []byte) (int, error) {
	if w.status == 0 {
		w.status = http.StatusOK
	}
	return w.ResponseWriter.Write(p)
}

// Unwrap lets an http.ResponseController reach the connection.
func (w *statusWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func serveHealth(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, http.StatusOK, []byte(`{"status":"ok"}`))
}
