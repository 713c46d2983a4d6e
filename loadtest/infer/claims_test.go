package infer

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"
)

var received = time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)

// say formats claims as text for comparison.
func say(c Claims) string {
	var parts []string
	number := func(name string, n *int64) {
		if n != nil {
			parts = append(parts, fmt.Sprintf("%s=%d", name, *n))
		}
	}
	wait := func(name string, d *time.Duration) {
		if d != nil {
			parts = append(parts, fmt.Sprintf("%s=%s", name, *d))
		}
	}
	wait("retry", c.RetryAfter)
	number("limit", c.Limit)
	wait("window", c.Window)
	number("remaining", c.Remaining)
	wait("reset", c.Reset)
	if c.Unreadable != "" {
		parts = append(parts, "unreadable="+c.Unreadable)
	}
	if len(c.Malformed) > 0 {
		parts = append(parts, fmt.Sprintf("malformed=%d", len(c.Malformed)))
	}
	return strings.Join(parts, " ")
}

func TestParse(t *testing.T) {
	for _, tc := range []struct{ name, headers, want string }{
		{"nothing", "", ""},
		{"seconds", "Retry-After: 7", "retry=7s"},
		{"date", "Retry-After: Mon, 04 May 2026 12:00:30 GMT", "retry=30s"},
		{"date by another clock", "Date: Mon, 04 May 2026 13:00:00 GMT\nRetry-After: Mon, 04 May 2026 13:00:30 GMT\nX-RateLimit-Reset: 1777899660", "retry=30s reset=1m0s"},
		{"not a wait", "Retry-After: soon", `unreadable="soon"`},
		{"what does not print", "Retry-After: a\x1b[1m", `unreadable="a\x1b[1m"`},
		{"date beyond all clocks", "Retry-After: Fri, 31 Dec 9999 23:59:59 GMT", "retry=1752000h0m0s"},
		{"separate fields", "RateLimit-Limit: 10\nRateLimit-Remaining: 3\nRateLimit-Reset: 20", "limit=10 remaining=3 reset=20s"},
		{"limit with policies", "RateLimit-Limit: 10, 10;w=1, 50;w=60", "limit=10 window=1s"},
		{"policy field", "RateLimit-Limit: 50\nRateLimit-Policy: 10;w=1, 50;w=60", "limit=50 window=1m0s"},
		{"newest draft", `RateLimit-Policy: "burst";q=100;w=60` + "\n" + `RateLimit: "burst";r=50;t=30`, "limit=100 window=1m0s remaining=50 reset=30s"},
		{"middle draft", "RateLimit: limit=100, remaining=50, reset=5", "limit=100 remaining=50 reset=5s"},
		{"older names", "X-RateLimit-Limit: 5\nX-RateLimit-Remaining: 4\nX-RateLimit-Reset: 1777896060", "limit=5 remaining=4 reset=1m0s"},
		{"standard before older names", "X-RateLimit-Limit: 5\nRateLimit-Limit: 6", "limit=6"},
		{"nonsense", "RateLimit: hello\nRateLimit-Limit: many\nX-Rate-Limit-Reset: never\nRateLimit-Policy: x;w=y", "malformed=4"},
		{"too long", "RateLimit-Limit: " + strings.Repeat("1, ", 1000), "malformed=1"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := say(parseClaims(header(tc.headers), received)); got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}

func header(text string) http.Header {
	h := http.Header{}
	for line := range strings.SplitSeq(text, "\n") {
		if name, value, ok := strings.Cut(line, ":"); ok {
			h.Add(strings.TrimSpace(name), strings.TrimSpace(value))
		}
	}
	return h
}

func FuzzClaims(f *testing.F) {
	f.Add("Retry-After: 7\nRateLimit-Limit: 10, 10;w=1\nRateLimit-Remaining: 3\nRateLimit-Reset: 20")
	f.Add(`RateLimit-Policy: "burst";q=100;w=60, x` + "\n" + `RateLimit: "burst";r=50;t=30`)
	f.Add("X-RateLimit-Reset: 1777896060\nRetry-After: Mon, 04 May 2026 12:00:30 GMT")
	f.Fuzz(func(t *testing.T, text string) {
		c := parseClaims(header(text), received)
		for _, d := range []*time.Duration{c.Reset, c.Window} {
			if d != nil && (*d < 0 || *d > maxWait) {
				t.Fatalf("a wait of %s", *d)
			}
		}
		if d := c.RetryAfter; d != nil && (*d < 0 || *d > maxDate) {
			t.Fatalf("Retry-After %s", *d)
		}
		for _, n := range []*int64{c.Limit, c.Remaining} {
			if n != nil && (*n < 0 || *n > maxNumber) {
				t.Fatalf("a number of %d", *n)
			}
		}
		for _, m := range append(c.Malformed, c.Unreadable) {
			if len(m) > 1000 {
				t.Fatalf("%d bytes are quoted", len(m))
			}
		}
	})
}
