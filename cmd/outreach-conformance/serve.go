package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/fixtures/refserver"
	"outreach.example/conformance/fixtures/refserver/limiter"
	"outreach.example/conformance/fixtures/refserver/shape"
	"outreach.example/conformance/fixtures/refserver/webhook"
)

type serveFlags struct {
	addr, truthAddr string
	seed            uint64
	rows            int
	rowsOf          map[string]int
	limits          []string
	shape           string
	webhookURL      string
	webhookTimeout  time.Duration
	webhookRetries  []time.Duration
	idleExit        time.Duration
	strictClients   bool
}

func newServe() *cobra.Command {
	var f serveFlags
	cmd := &cobra.Command{
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
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return f.serve(cmd.Context(), cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	defaults := dataset.DefaultOptions()
	flags := cmd.Flags()
	group(flags, "Server", func() {
		flags.StringVar(&f.addr, "addr", "127.0.0.1:8025", "address of the API; port 0 picks a free one")
		flags.StringVar(&f.truthAddr, "truth-addr", "", "address of the test-only endpoints, e.g. 127.0.0.1:0 (default: none)")
		flags.DurationVar(&f.idleExit, "idle-exit", 0, "stop after this time without a request to the API; 0 never")
	})
	group(flags, "Data", func() {
		registerSeed(flags, &f.seed, defaults.Seed, "the data")
		flags.IntVar(&f.rows, "rows", defaults.Rows, rowsUsage)
		flags.StringToIntVar(&f.rowsOf, "rows-of", nil, fmt.Sprintf("rows of single lists, e.g. webhook-events=1000000; lists: %v", dataset.RowResources))
	})
	group(flags, "Behaviour", func() {
		flags.StringArrayVar(&f.limits, "rate-limit", nil, "rate limit of a workspace, ROLE=LIMIT; * for all other roles; repeatable")
		flags.StringVar(&f.shape, "shape", "", "known latencies, stalls and failures, e.g. 98%:2ms,2%:250ms,stall=2s/10s (default: none)")
	})
	group(flags, "Clients", func() {
		flags.BoolVar(&f.strictClients, "strict-clients", false, "report what clients send that the specification does not allow")
	})
	group(flags, "Webhooks", func() {
		flags.StringVar(&f.webhookURL, "webhook-url", "", "address to deliver webhook events to (default: none)")
		flags.DurationVar(&f.webhookTimeout, "webhook-timeout", 5*time.Second, "timeout of one delivery attempt")
		flags.DurationSliceVar(&f.webhookRetries, "webhook-retries", []time.Duration{time.Second, 5 * time.Second, 30 * time.Second}, "pauses before the retries of a delivery")
	})
	return cmd
}

func (f serveFlags) serve(ctx context.Context, stdout, stderr io.Writer) error {
	data, err := dataset.New(dataset.Options{Seed: f.seed, Rows: f.rows, RowsOf: f.rowsOf})
	if err != nil {
		return err
	}
	limiters, err := f.limiters()
	if err != nil {
		return err
	}
	config, err := shape.Parse(f.shape)
	if err != nil {
		return fmt.Errorf("--shape: %w", err)
	}
	shaped, err := shape.New(config, f.seed)
	if err != nil {
		return fmt.Errorf("--shape: %w", err)
	}
	ctx, middleware, stopWatching := whileAsked(ctx, f.idleExit)
	defer stopWatching()
	server, err := refserver.New(data, refserver.Options{
		Limiters:      limiters,
		Middleware:    append(middleware, shaped.Middleware),
		StrictClients: f.strictClients,
		Webhook:       webhook.Config{URL: f.webhookURL, Timeout: f.webhookTimeout, Retries: f.webhookRetries},
		Logger:        slog.New(slog.NewTextHandler(stderr, &slog.HandlerOptions{Level: slog.LevelWarn})),
	})
	if err != nil {
		return err
	}
	if err := server.Listen(ctx, f.addr, f.truthAddr); err != nil {
		return err
	}
	_, _ = fmt.Fprintf(stdout, "target %s\nAPI    %s%s\n", server.URL(), server.URL(), refserver.BasePath)
	if truth := server.TruthURL(); truth != "" {
		_, _ = fmt.Fprintf(stdout, "truth  %s\n", truth)
	}
	stopped := context.AfterFunc(ctx, func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeTimeout)
		defer cancel()
		_ = server.Shutdown(ctx) // Serve returns its error
	})
	defer stopped()
	if err := server.Serve(); err != nil || !f.strictClients {
		return err
	}
	return endWithClients(stdout, server.Clients())
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
func (f serveFlags) limiters() (map[string]limiter.Config, error) {
	limiters := refserver.DefaultLimiters()
	for _, given := range f.limits {
		role, text, ok := strings.Cut(given, "=")
		if !ok {
			return nil, fmt.Errorf("--rate-limit %s: want ROLE=LIMIT, e.g. main=fixed-window:20/1s", given)
		}
		if role != refserver.AnyRole && !slices.Contains(roles(), role) {
			return nil, fmt.Errorf("--rate-limit %s: unknown role %s (known: %v)", given, role, roles())
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

// roles returns the roles of the data set's workspaces.
func roles() []string {
	return []string{dataset.Main, dataset.Second, dataset.Unpaid, dataset.Limited, dataset.Admin, dataset.SubA, dataset.SubB,
		dataset.Outsider, dataset.OutsiderAdmin, dataset.UnpaidSubA, dataset.UnpaidSubB, dataset.LimitedSubA, dataset.LimitedSubB}
}
