package client

import (
	"fmt"
	"net/http"
	"strings"
	"time"
)

// A limit is met by requests that follow each other closely. A curl for each would
// be too slow for many limits, so one curl sends volleys, the numbers of which it
// writes behind the address as a fragment, which is not sent. Volleys follow until
// one of their answers is a 429, or what stood in its place, up to 1,000 requests.
const (
	volley  = "#[1-50]"
	volleys = "for n in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20"
)

// CurlAtLimit is Curl for a request beyond the limit of its key: its line drives
// the key to the limit first. A request that reads is sent until it is answered
// with 429, and that answer is shown, or the last one if none is. Any other is sent
// once, after the given one, which must read, was answered with 429. Where the key
// is to rest before the request, that goes for all. Otherwise an exchange with a
// server error had it in the place of a 429: the line looks for it there.
func (e Exchange) CurlAtLimit(read Request, rest time.Duration) string {
	read.Key, read.Authorization = e.Request.Key, e.Request.Authorization
	reads := len(e.Request.Body) == 0 && (e.Request.method() == http.MethodGet || e.Request.method() == http.MethodHead)
	shown, met := http.StatusTooManyRequests, "*429*"
	if rest == 0 && e.Status >= http.StatusInternalServerError {
		shown, met = e.Status, fmt.Sprintf("*429*|*%d*", e.Status)
	}
	if reads && rest == 0 {
		return `d=$(mktemp -d); ` + volleys + `; do ` + e.curlVolley("-i", "-o", `"$d/#1"`) +
			fmt.Sprintf(`; a=$(grep -l '^HTTP/[0-9.]* %d' "$d"/* | head -n 1); [ -z "$a" ] || break; done; cat "${a:-$d/50}"; rm -r "$d"`, shown)
	}
	by := Exchange{Request: read, redactor: e.redactor}
	line := volleys + `; do case $(` + by.curlVolley("-o", "/dev/null", "-w", "'%{http_code} '") + `) in ` + met + `) break;; esac; done; `
	if rest > 0 {
		line += fmt.Sprintf("sleep %.0f; ", rest.Seconds())
	}
	return line + e.Curl()
}

// curlVolley sends a request that reads many times at once.
func (e Exchange) curlVolley(options ...string) string {
	words := append([]string{"curl", "-Z", "--no-progress-meter"}, options...)
	if e.Request.method() == http.MethodHead {
		words = append(words, "--head")
	}
	words = append(words, e.curlHeaders()...)
	return strings.Join(append(words, e.curlAddress(volley)...), " ")
}
