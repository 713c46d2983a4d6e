// Package limiter holds the rate limiters of the reference service. They are
// pure: a decision depends on the configuration, on the earlier decisions and
// on the time that the caller passes in, and on nothing else, so that what a
// limiter does is known exactly.
//
// It imports nothing of this module and knows nothing of HTTP.
package limiter

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Kind names a way of counting.
type Kind string

// The kinds. With limit L and period P:
const (
	// TokenBucket holds up to Burst tokens, refills L tokens evenly over P,
	// and takes one token a request. It starts full.
	TokenBucket Kind = "token-bucket"
	// FixedWindow allows L requests in a window of P. Windows are aligned to
	// the Unix epoch, or, with FromFirst, one opens with the first request
	// after the former one ended.
	FixedWindow Kind = "fixed-window"
	// SlidingLog remembers the time of each request and allows L in any span of P.
	SlidingLog Kind = "sliding-log"
	// SlidingCounter estimates a sliding window from two aligned windows: the
	// former one counts by the share of it that the last P still covers.
	SlidingCounter Kind = "sliding-counter"
)

// Layer is one counter of a limiter.
type Layer struct {
	Kind      Kind
	Limit     int           // requests per period, 1 to MaxLimit
	Per       time.Duration // MinPer to MaxPer
	Burst     int           // TokenBucket: its capacity; 0 stands for Limit
	FromFirst bool          // FixedWindow: windows open with a request instead of with the clock
}

// Scope tells which requests share a limiter.
type Scope string

// The scopes; all of them lie within one workspace.
const (
	PerWorkspace Scope = "workspace" // all requests of the workspace, across its keys
	PerKey       Scope = "key"       // the requests of one API key
	PerAddress   Scope = "address"   // the requests from one IP address
	PerOperation Scope = "operation" // the requests for one operation
)

// Config describes a limiter. A request is allowed if every layer allows it,
// and only then takes something from them, unless CountRefused is set. No
// layers, no limit.
type Config struct {
	Layers []Layer
	Scope  Scope // empty stands for PerWorkspace
	// CountRefused makes a refused request count in every layer too, so that a
	// client that does not slow down stays out: a log remembers it, a sliding
	// counter counts it, a bucket goes into debt, by one capacity at most. A
	// fixed window starts anew all the same.
	CountRefused bool
	// NoRetryAfter leaves out the Retry-After header of a refusal.
	NoRetryAfter bool
	// Headers adds RateLimit-Limit, RateLimit-Remaining and RateLimit-Reset to every answer.
	Headers bool
}

// The bounds of a layer keep all arithmetic exact within 64 bits.
const (
	MaxLimit = 1_000_000
	MinPer   = time.Millisecond
	MaxPer   = time.Hour
)

// Parse reads a configuration as String writes it: layers and settings,
// separated by commas. A layer is KIND:LIMIT/PERIOD, followed by its options
// (:burst=N for a token-bucket, :from-first for a fixed-window). The settings are
// scope=workspace|key|address|operation, count-refused, no-retry-after and
// headers. The empty string is no limit.
//
//	token-bucket:100/1s:burst=20,fixed-window:6000/1m,scope=key
func Parse(text string) (Config, error) {
	var c Config
	if strings.TrimSpace(text) == "" {
		return c, nil
	}
	for item := range strings.SplitSeq(text, ",") {
		item = strings.TrimSpace(item)
		if strings.Contains(item, ":") {
			layer, err := parseLayer(item)
			if err != nil {
				return Config{}, fmt.Errorf("limiter %q: %w", item, err)
			}
			c.Layers = append(c.Layers, layer)
			continue
		}
		switch name, value, _ := strings.Cut(item, "="); {
		case item == "count-refused":
			c.CountRefused = true
		case item == "no-retry-after":
			c.NoRetryAfter = true
		case item == "headers":
			c.Headers = true
		case name == "scope":
			c.Scope = Scope(value)
		default:
			return Config{}, fmt.Errorf("limiter: unknown setting %q: use scope=…, count-refused, no-retry-after or headers, or a layer such as fixed-window:20/1s", item)
		}
	}
	return c, c.Validate()
}

// parseLayer reads KIND:LIMIT/PERIOD[:option…].
func parseLayer(item string) (Layer, error) {
	parts := strings.Split(item, ":")
	limit, per, ok := strings.Cut(parts[1], "/")
	if !ok {
		return Layer{}, fmt.Errorf("write the rate as LIMIT/PERIOD, e.g. %s:100/1s", parts[0])
	}
	layer := Layer{Kind: Kind(parts[0])}
	var err error
	if layer.Limit, err = strconv.Atoi(limit); err != nil {
		return Layer{}, fmt.Errorf("the limit %q is not a whole number", limit)
	}
	if layer.Per, err = time.ParseDuration(per); err != nil {
		return Layer{}, fmt.Errorf("the period %q is not a duration such as 1s or 1m", per)
	}
	for _, option := range parts[2:] {
		switch name, value, _ := strings.Cut(option, "="); {
		case name == "burst" && layer.Kind == TokenBucket:
			if layer.Burst, err = strconv.Atoi(value); err != nil || layer.Burst < 1 {
				return Layer{}, fmt.Errorf("the burst %q is not a whole number above 0", value)
			}
		case option == "from-first" && layer.Kind == FixedWindow:
			layer.FromFirst = true
		default:
			return Layer{}, fmt.Errorf("a %s has no option %q", layer.Kind, option)
		}
	}
	return layer, layer.validate()
}

// String writes the configuration in the form that Parse reads.
func (c Config) String() string {
	var items []string
	for _, l := range c.Layers {
		item := fmt.Sprintf("%s:%d/%s", l.Kind, l.Limit, l.Per)
		if l.Burst > 0 {
			item += fmt.Sprintf(":burst=%d", l.Burst)
		}
		if l.FromFirst {
			item += ":from-first"
		}
		items = append(items, item)
	}
	if c.Scope != "" {
		items = append(items, "scope="+string(c.Scope))
	}
	if c.CountRefused {
		items = append(items, "count-refused")
	}
	if c.NoRetryAfter {
		items = append(items, "no-retry-after")
	}
	if c.Headers {
		items = append(items, "headers")
	}
	return strings.Join(items, ",")
}

// Validate reports the first setting that cannot be used.
func (c Config) Validate() error {
	for _, layer := range c.Layers {
		if err := layer.validate(); err != nil {
			return fmt.Errorf("limiter: %w", err)
		}
	}
	switch c.Scope {
	case "", PerWorkspace, PerKey, PerAddress, PerOperation:
		return nil
	default:
		return fmt.Errorf("limiter: unknown scope %q: use workspace, key, address or operation", c.Scope)
	}
}

func (l Layer) validate() error {
	switch l.Kind {
	case TokenBucket, FixedWindow, SlidingLog, SlidingCounter:
	default:
		return fmt.Errorf("unknown kind %q: use %s, %s, %s or %s", l.Kind, TokenBucket, FixedWindow, SlidingLog, SlidingCounter)
	}
	switch {
	case l.Limit < 1 || l.Limit > MaxLimit:
		return fmt.Errorf("%s: the limit %d is not within 1 to %d", l.Kind, l.Limit, MaxLimit)
	case l.Per < MinPer || l.Per > MaxPer:
		return fmt.Errorf("%s: the period %s is not within %s to %s", l.Kind, l.Per, MinPer, MaxPer)
	case l.Burst != 0 && l.Kind != TokenBucket:
		return fmt.Errorf("%s: only a %s has a burst", l.Kind, TokenBucket)
	case l.Burst < 0 || l.Burst > MaxLimit:
		return fmt.Errorf("%s: the burst %d is not within 1 to %d", l.Kind, l.Burst, MaxLimit)
	case l.FromFirst && l.Kind != FixedWindow:
		return fmt.Errorf("%s: only the windows of a %s can open with a request", l.Kind, FixedWindow)
	}
	return nil
}
