package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/fixtures/refserver"
	"outreach.example/conformance/fixtures/refserver/limiter"
	"outreach.example/conformance/fixtures/refserver/shape"

	"outreach.example/conformance/reports"
	"outreach.example/conformance/reports/publish"
)

type serveOptions struct {
	session
	Addr          string   `flag:"addr" usage:"address of the API; port 0 picks a free one"`
	TruthAddr     string   `flag:"truth-addr" usage:"address of the test-only endpoints, e.g. 127.0.0.1:0 (default: none)"`
	Seed          uint64   `flag:"seed" usage:"random seed: the data"`
	RateLimits    []string `flag:"rate-limit" whole:"" usage:"rate limit of a workspace, ROLE=LIMIT; * for all other roles; repeatable"`
	Shape         string   `flag:"shape" usage:"known latencies, stalls and failures, e.g. 98%:2ms,2%:250ms,stall=2s/10s (default: none)"`
	Webhook       refserver.WebhookConfig
	IdleExit      time.Duration `flag:"idle-exit" usage:"stop after this time without a request to the API; 0 never"`
	StrictClients bool          `flag:"strict-clients" usage:"report what clients send that the specification does not allow"`
}

func newServe() *cobra.Command {
	f := &serveOptions{session: at(""), Addr: "127.0.0.1:8025", Seed: dataset.DefaultOptions().Seed,
		Webhook: refserver.WebhookConfig{Timeout: 5 * time.Second, Retries: []time.Duration{time.Second, 5 * time.Second, 30 * time.Second}}}
	return command(&cobra.Command{
		Use:   "serve",
		Short: "Start the reference server",
		Long: `serve starts the reference server: a complete, honest implementation of the
specification. The same seed gives the same data. The server stops on interrupt,
after it has answered the requests in progress, and with --idle-exit also if no
request arrives for that time.

With --strict-clients, the server judges its clients. At its end, and at GET /clients
of the truth port, it reports what they sent that the specification does not allow.
Then the exit code is 1 if there was something, and 0 otherwise.

A rate limit is a list of layers KIND:REQUESTS/PERIOD, e.g. fixed-window:20/1s or
token-bucket:100/1s:burst=20,fixed-window:6000/1m, or none.

A shape makes the server slow or faulty in an exactly known way, to test load
generators. It is a list of
  98%:2ms,2%:250ms   exactly 98 of each 100 requests take 2 ms, the others 250 ms
  drift=1ms/10s      and 1 ms more for each 10 s since the first request
  stall=2s/10s       no response in the last 2 s of each 10 s
  capacity=800/1s    at most 800 requests served per second, the others queue
  errors=1%:503      exactly 1 of each 100 fails with this status`,
		Example: `  outreach-conformance serve
  outreach-conformance serve --addr 127.0.0.1:0 --truth-addr 127.0.0.1:0
  outreach-conformance serve --rows-of webhook-events=1000000
  outreach-conformance serve --rate-limit 'main=token-bucket:100/1s:burst=20'
  outreach-conformance serve --strict-clients --truth-addr 127.0.0.1:8026
  outreach-conformance serve --shape '98%:2ms,2%:250ms,stall=2s/10s'`,
	}, f, `Server: addr truth-addr idle-exit
Data: seed rows rows-of
Behaviour: rate-limit shape
Clients: strict-clients
Webhooks: webhook-url webhook-timeout webhook-retries`, f.serve, "{lists}", fmt.Sprint(dataset.RowResources))
}

func (f *serveOptions) serve(ctx context.Context, _ []string) error {
	f.Data.Seed = f.Seed
	data, err := dataset.New(f.Data)
	if err != nil {
		return err
	}
	limiters, err := f.limiters()
	if err != nil {
		return err
	}
	config, err := shape.Parse(f.Shape)
	if err != nil {
		return fmt.Errorf("--shape: %w", err)
	}
	shaped, err := shape.New(config, f.Seed)
	if err != nil {
		return fmt.Errorf("--shape: %w", err)
	}
	ctx, middleware, stopWatching := whileAsked(ctx, f.IdleExit)
	defer stopWatching()
	server, err := refserver.New(data, refserver.Options{
		Limiters:      limiters,
		Middleware:    append(middleware, shaped.Middleware),
		StrictClients: f.StrictClients,
		Webhook:       f.Webhook,
		Logger:        slog.New(slog.NewTextHandler(f.err, &slog.HandlerOptions{Level: slog.LevelWarn})),
	})
	if err != nil {
		return err
	}
	if err := server.Listen(ctx, f.Addr, f.TruthAddr); err != nil {
		return err
	}
	f.print("target %s\nAPI    %s%s\n", server.URL(), server.URL(), refserver.BasePath)
	if truth := server.TruthURL(); truth != "" {
		f.print("truth  %s\n", truth)
	}
	stopped := context.AfterFunc(ctx, func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeTimeout)
		defer cancel()
		_ = server.Shutdown(ctx) // Serve returns its error
	})
	defer stopped()
	if err := server.Serve(); err != nil || !f.StrictClients {
		return err
	}
	clients := server.Clients()
	code, err := 0, error(nil)
	if clients.Violations > 0 {
		code = reports.Failed.ExitCode()
	}
	if _, err = io.WriteString(f.out, clients.String()); err != nil {
		code, err = publish.Despite(err, code), fmt.Errorf("write the summary: %w", err)
	}
	if code == 0 {
		return nil
	}
	return exitError{code, err, true}
}

// whileAsked returns a context that ends when the middleware has seen no request
// for the idle time. Zero means never. The caller calls the function that it returns
// last.
func whileAsked(ctx context.Context, idle time.Duration) (context.Context, []func(http.Handler) http.Handler, func()) {
	if idle <= 0 {
		return ctx, nil, func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	timer := time.AfterFunc(idle, cancel)
	watch := func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			timer.Reset(idle)
			next.ServeHTTP(w, r)
		})
	}
	return ctx, []func(http.Handler) http.Handler{watch}, func() { timer.Stop(); cancel() }
}

// limiters returns the default limiters with the changes of --rate-limit.
func (f *serveOptions) limiters() (map[string]limiter.Config, error) {
	limiters := refserver.DefaultLimiters()
	for _, given := range f.RateLimits {
		role, text, ok := strings.Cut(given, "=")
		if !ok {
			return nil, fmt.Errorf("--rate-limit %s: want ROLE=LIMIT, e.g. main=fixed-window:20/1s", given)
		}
		if text == "none" {
			text = ""
		}
		config, err := limiter.Parse(text)
		if err != nil {
			return nil, fmt.Errorf("--rate-limit %s: %w", given, err)
		}
		limiters[role] = config
	}
	return limiters, nil
}
