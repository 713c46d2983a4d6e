// Package claims reads what a server says about its rate limiter in response
// headers: Retry-After, the RateLimit fields of the older and newer IETF
// drafts, and the older X-RateLimit fields.
//
// Claims are hypotheses, never results. The headers are untrusted: values that
// are too long, out of range or malformed are reported and ignored.
//
// The package imports nothing of this module.
package claims

import (
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
	Policies   []Policy       // all stated quotas; at most maxPolicies
	Styles     []string       // the headers present, without Retry-After
	Malformed  []string       // other values that cannot be parsed, e.g. `RateLimit-Limit: "ten"`
}

// Policy is a quota of requests in a window.
type Policy struct {
	Quota  int64
	Window time.Duration // 0: not stated
}

const (
	maxValue    = 1024 // bytes of a header that are read
	maxPolicies = 8
	maxNumber   = 1_000_000_000_000_000
	// epochSeconds is the value from which a reset is a date instead of a wait:
	// some servers send the Unix time.
	epochSeconds = 1_000_000_000
	maxWait      = 10 * 365 * 24 * time.Hour
	// maxDate is the maximum distance of a date. Later dates are replaced with
	// it, so that times can be added to it.
	maxDate = 200 * 365 * 24 * time.Hour
)

// Parse reads the headers of an answer received at that time.
func Parse(h http.Header, received time.Time) Claims {
	r := reader{received: received}
	if value, ok := field(h, "Retry-After"); ok {
		r.retryAfter(value)
	}
	for _, prefix := range []string{"RateLimit", "X-RateLimit", "X-Rate-Limit"} {
		r.separate(h, prefix)
	}
	r.combined(h)
	return r.Claims
}

// field returns the first value of a field, ignoring the case of its name.
func field(h http.Header, name string) (string, bool) {
	values := h[textproto.CanonicalMIMEHeaderKey(name)]
	if len(values) == 0 {
		return "", false
	}
	return strings.TrimSpace(values[0]), true
}

type reader struct {
	Claims
	received time.Time
}

func (r *reader) malformed(name, value string) {
	r.Malformed = append(r.Malformed, name+": "+quoted(value))
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
	if n, ok := number(value); ok && n <= int64(maxWait/time.Second) {
		r.RetryAfter = seconds(n)
		return
	}
	if at, err := http.ParseTime(value); err == nil && len(value) <= maxValue {
		wait := min(max(0, at.Sub(r.received)), maxDate)
		r.RetryAfter = &wait
		return
	}
	r.Unreadable = quoted(value)
}

// separate reads the three fields of the older draft and of the X- form. It
// does not override a value from another form.
func (r *reader) separate(h http.Header, prefix string) {
	if value, ok := r.seen(h, prefix+"-Limit"); ok {
		// The older draft allows "10, 10;w=1, 50;w=60".
		first, rest, _ := strings.Cut(value, ",")
		plain, _, _ := strings.Cut(first, ";")
		if n, ok := number(plain); ok {
			set(&r.Limit, n)
			r.policies(prefix+"-Limit", rest)
		} else {
			r.malformed(prefix+"-Limit", value)
		}
	}
	if value, ok := r.seen(h, prefix+"-Remaining"); ok {
		if n, ok := number(value); ok {
			set(&r.Remaining, n)
		} else {
			r.malformed(prefix+"-Remaining", value)
		}
	}
	if value, ok := r.seen(h, prefix+"-Reset"); ok {
		if wait, ok := r.wait(value); ok {
			set(&r.Reset, wait)
		} else {
			r.malformed(prefix+"-Reset", value)
		}
	}
	if prefix == "RateLimit" {
		if value, ok := r.seen(h, "RateLimit-Policy"); ok {
			r.policies("RateLimit-Policy", value)
		}
	}
}

func (r *reader) seen(h http.Header, name string) (string, bool) {
	value, ok := field(h, name)
	if !ok {
		return "", false
	}
	r.Styles = append(r.Styles, name)
	if len(value) > maxValue {
		r.malformed(name, value)
		return "", false
	}
	return value, true
}

// policies reads a list of quotas: 100;w=60 or, in the newer draft,
// "name";q=100;w=60. The quota that equals the Limit gives the Window.
func (r *reader) policies(name, list string) {
	for item := range strings.SplitSeq(list, ",") {
		item = strings.TrimSpace(item)
		if item == "" || len(r.Policies) == maxPolicies {
			continue
		}
		head, parameters := cut(item)
		quota, ok := number(head)
		if !ok {
			quota, ok = number(parameters["q"])
		}
		if !ok {
			r.malformed(name, item)
			continue
		}
		policy := Policy{Quota: quota}
		if w, given := parameters["w"]; given {
			n, ok := number(w)
			if !ok || n > int64(maxWait/time.Second) {
				r.malformed(name, item)
				continue
			}
			policy.Window = *seconds(n)
		}
		r.Policies = append(r.Policies, policy)
		if r.Limit == nil {
			set(&r.Limit, quota)
		}
		if policy.Window > 0 && *r.Limit == quota {
			set(&r.Window, policy.Window)
		}
	}
}

// combined reads the RateLimit field: limit=100, remaining=50, reset=30 in the
// middle drafts, "name";r=50;t=30 in the newest.
func (r *reader) combined(h http.Header) {
	value, ok := r.seen(h, "RateLimit")
	if !ok {
		return
	}
	understood := false
	for item := range strings.SplitSeq(value, ",") {
		head, parameters := cut(item)
		if name, v, ok := strings.Cut(head, "="); ok {
			parameters[strings.TrimSpace(name)] = strings.TrimSpace(v)
		}
		for name, to := range map[string]**int64{"limit": &r.Limit, "remaining": &r.Remaining, "r": &r.Remaining} {
			if n, ok := number(parameters[name]); ok {
				set(to, n)
				understood = true
			}
		}
		for _, name := range []string{"reset", "t"} {
			if wait, ok := r.wait(parameters[name]); ok {
				set(&r.Reset, wait)
				understood = true
			}
		}
	}
	if !understood {
		r.malformed("RateLimit", value)
	}
}

// cut splits an item into its value and its parameters.
func cut(item string) (head string, parameters map[string]string) {
	parts := strings.Split(item, ";")
	parameters = map[string]string{}
	for _, part := range parts[1:] {
		name, value, _ := strings.Cut(part, "=")
		parameters[strings.TrimSpace(name)] = strings.TrimSpace(value)
	}
	return strings.TrimSpace(parts[0]), parameters
}

// wait reads seconds from now, or the Unix time in seconds.
func (r *reader) wait(text string) (time.Duration, bool) {
	n, ok := number(text)
	if !ok {
		return 0, false
	}
	if n >= epochSeconds {
		n = max(0, n-r.received.Unix())
	}
	if n > int64(maxWait/time.Second) {
		return 0, false
	}
	return *seconds(n), true
}

// number reads a non-negative integer.
func number(text string) (int64, bool) {
	n, err := strconv.ParseInt(strings.TrimSpace(text), 10, 64)
	return n, err == nil && n >= 0 && n <= maxNumber
}

func seconds(n int64) *time.Duration {
	d := time.Duration(n) * time.Second
	return &d
}

// set assigns the value unless there is one already.
func set[T any](to **T, value T) {
	if *to == nil {
		*to = &value
	}
}
