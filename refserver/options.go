package refserver

import (
	"log/slog"
	"net/http"
	"time"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/refserver/limiter"
	"outreach.example/conformance/refserver/webhook"
)

// BasePath precedes the path of every operation (specification, section Versioning).
const BasePath = "/api/v2"

// The rate limit of the workspace with the role limited, unless
// Options.Limiters says otherwise: this many requests in each aligned window.
const (
	LimitedRequests = 20
	LimitedPer      = time.Second
)

// AnyRole addresses, in Options.Limiters, the workspaces whose role is not named there.
const AnyRole = "*"

// Options adjust a Server. The zero Options serve honestly with the default limiter.
type Options struct {
	// Limiters holds the rate limiter of each workspace by role. Nil stands for
	// DefaultLimiters; a role that is missing has no limit.
	Limiters map[string]limiter.Config
	// Webhook is where notifications go. Without a URL none are sent or recorded.
	Webhook webhook.Config
	// Clock is what time it is, for ids, timestamps and limiters; nil stands for time.Now.
	Clock func() time.Time
	// Logger gets what an operator must know; nil discards it.
	Logger *slog.Logger
	// Middleware is laid around the API, the first outermost. The truth is
	// measured outside of it: a delay that it adds is part of the true latency.
	Middleware []func(http.Handler) http.Handler
}

// DefaultLimiters limits the role limited by LimitedRequests and LimitedPer,
// with an honest Retry-After, and nobody else.
func DefaultLimiters() map[string]limiter.Config {
	window := limiter.Layer{Kind: limiter.FixedWindow, Limit: LimitedRequests, Per: LimitedPer}
	return map[string]limiter.Config{dataset.Limited: {Layers: []limiter.Layer{window}}}
}

func (o Options) withDefaults() Options {
	if o.Limiters == nil {
		o.Limiters = DefaultLimiters()
	}
	if o.Clock == nil {
		o.Clock = time.Now
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return o
}
