package infer

// This file reads what a server says about its rate limiter in response
// headers: Retry-After, the RateLimit fields of the older and newer IETF
// drafts, and the older X-RateLimit fields.
//
// Claims are hypotheses, never results. The headers are untrusted: values that
// are too long, out of range or malformed are reported and ignored.

import (
	"cmp"
	"net/http"
	"net/textproto"
	"strconv"
	"strings"
	"time"
)

// Claims is what one answer says. Pointers are nil if it says nothing.
type Claims struct {
	RetryAfter *time.Duration // from the time the answer was received
	Unreadable string         // Retry-After, quoted and truncated, if it cannot be parsed
	Limit      *int64         // requests in Window
	Window     *time.Duration
	Remaining  *int64
	Reset      *time.Duration // from the time the answer was received
	Styles     []string       // the headers present, without Retry-After
	Malformed  []string       // other values that cannot be parsed, e.g. `RateLimit-Limit: "ten"`
}

const (
	maxValue  = 1024 // bytes of a header that are read
	maxNumber = 1_000_000_000_000_000
	// epochSeconds is the value from which a reset is a date instead of a wait:
	// some servers send the Unix time.
	epochSeconds = 1_000_000_000
	maxWait      = 10 * 365 * 24 * time.Hour
	// maxDate is the maximum distance of a date. Later dates are replaced with
	// it, so that times can be added to it.
	maxDate = 200 * 365 * 24 * time.Hour
)

// parseClaims reads the headers of an answer received at that time. An earlier header
// takes precedence over a later one. Dates count from that of the answer, since clocks differ.
func parseClaims(h http.Header, received time.Time) Claims {
	if date, err := http.ParseTime(h.Get("Date")); err == nil {
		received = date
	}
	r := reader{received: received}
	if values := h["Retry-After"]; len(values) > 0 {
		r.retryAfter(strings.TrimSpace(values[0]))
	}
	for _, prefix := range []string{"RateLimit", "X-RateLimit", "X-Rate-Limit"} {
		r.read(h, prefix+"-Limit", r.limit)
		r.read(h, prefix+"-Remaining", func(value string) bool { return setParsed(&r.Remaining, value, number) })
		r.read(h, prefix+"-Reset", func(value string) bool { return setParsed(&r.Reset, value, r.wait) })
		r.read(h, prefix+"-Policy", r.policies)
	}
	r.read(h, "RateLimit", r.combined)
	return r.Claims
}

type reader struct {
	Claims
	received time.Time
}

// read reads a header. It is malformed if parse refuses its value.
func (r *reader) read(h http.Header, name string, parse func(value string) bool) {
	values := h[textproto.CanonicalMIMEHeaderKey(name)]
	if len(values) == 0 {
		return
	}
	r.Styles = append(r.Styles, name)
	if value := strings.TrimSpace(values[0]); len(value) > maxValue || !parse(value) {
		r.Malformed = append(r.Malformed, name+": "+quoted(value))
	}
}

// quoted returns the beginning of a value with unprintable characters escaped.
func quoted(value string) string {
	if len(value) > 64 {
		value = value[:64] + "…"
	}
	return strconv.Quote(value)
}

// retryAfter reads whole seconds or a date.
func (r *reader) retryAfter(value string) {
	if setParsed(&r.RetryAfter, value, parseSeconds) {
		return
	}
	at, err := http.ParseTime(value)
	if err != nil || len(value) > maxValue {
		r.Unreadable = quoted(value)
		return
	}
	wait := min(max(0, at.Sub(r.received)), maxDate)
	r.RetryAfter = &wait
}

// limit reads a number. The older draft allows "10, 10;w=1, 50;w=60".
func (r *reader) limit(value string) bool {
	first, rest, _ := strings.Cut(value, ",")
	return setParsed(&r.Limit, parts(first)[""], number) && r.policies(rest)
}

// policies reads a list of quotas: 100;w=60 or, in the newer draft,
// "name";q=100;w=60. The quota that equals the Limit gives the Window.
func (r *reader) policies(list string) (ok bool) {
	ok = true
	for item := range strings.SplitSeq(list, ",") {
		p := parts(item)
		quota, known := number(p[""])
		if !known {
			quota, known = number(p["q"])
		}
		window, timed := parseSeconds(p["w"])
		switch {
		case strings.TrimSpace(item) == "":
		case !known || !timed && p["w"] != "":
			ok = false
		default:
			if r.Limit == nil {
				r.Limit = &quota
			}
			if window > 0 && *r.Limit == quota && r.Window == nil {
				r.Window = &window
			}
		}
	}
	return ok
}

// combined reads the RateLimit field: limit=100, remaining=50, reset=30 in the
// middle drafts, "name";r=50;t=30 in the newest.
func (r *reader) combined(value string) (ok bool) {
	for item := range strings.SplitSeq(value, ",") {
		p := parts(item)
		limit := setParsed(&r.Limit, p["limit"], number)
		remaining := setParsed(&r.Remaining, cmp.Or(p["remaining"], p["r"]), number)
		reset := setParsed(&r.Reset, cmp.Or(p["reset"], p["t"]), r.wait)
		ok = ok || limit || remaining || reset
	}
	return ok
}

// parts returns the parameters of an item by name, and its bare value under "".
func parts(item string) map[string]string {
	all := map[string]string{}
	for part := range strings.SplitSeq(item, ";") {
		name, value, named := strings.Cut(part, "=")
		if !named {
			name, value = "", name
		}
		all[strings.TrimSpace(name)] = strings.TrimSpace(value)
	}
	return all
}

// wait reads seconds from now, or the Unix time in seconds.
func (r *reader) wait(text string) (time.Duration, bool) {
	if n, ok := number(text); ok && n >= epochSeconds {
		text = strconv.FormatInt(max(0, n-r.received.Unix()), 10)
	}
	return parseSeconds(text)
}

func parseSeconds(text string) (time.Duration, bool) {
	n, ok := number(text)
	if !ok || n > int64(maxWait/time.Second) {
		return 0, false
	}
	return time.Duration(n) * time.Second, true
}

// number reads a non-negative integer.
func number(text string) (int64, bool) {
	n, err := strconv.ParseInt(strings.TrimSpace(text), 10, 64)
	return n, err == nil && n >= 0 && n <= maxNumber
}

// setParsed assigns what the text says, unless there is a value already. It reports
// whether the text can be parsed.
func setParsed[T any](to **T, text string, parse func(string) (T, bool)) bool {
	value, ok := parse(text)
	if ok && *to == nil {
		*to = &value
	}
	return ok
}
