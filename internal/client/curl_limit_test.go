package client

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	. "github.com/onsi/gomega"
)

var smallest = Request{Path: "/list", Query: url.Values{"limit": {"1"}}}

func TestCurlAtLimit(t *testing.T) {
	const loop = `for n in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do `
	const drive = loop + `case $(curl -Z --no-progress-meter -o /dev/null -w '%{http_code} ' -H "Authorization: Bearer $OUTREACH_KEY_MAIN" "$OUTREACH_URL/list?limit=1#[1-50]") in *429*) break;; esac; done; `
	shown := func(curl string) string {
		return `d=$(mktemp -d); ` + loop + curl + `; a=$(grep -l '^HTTP/[0-9.]* 429' "$d"/* | head -n 1); [ -z "$a" ] || break; done; cat "${a:-$d/50}"; rm -r "$d"`
	}
	for _, tc := range []struct {
		name   string
		req    Request
		rest   time.Duration
		want   string
		status int
	}{
		{"get of a server error", Request{Path: "/x"}, 0, strings.Replace(shown(`curl -Z --no-progress-meter -i -o "$d/#1" "$OUTREACH_URL/x#[1-50]"`), "429", "503", 1), 503},
		{"delete of a server error", Request{Method: "DELETE", Path: "/x", Key: mainKey}, 0,
			strings.Replace(drive, "*429*", "*429*|*503*", 1) + `curl -i -X DELETE -H "Authorization: Bearer $OUTREACH_KEY_MAIN" "$OUTREACH_URL/x"`, 503},
		{"get", Request{Path: "/x", Key: mainKey}, 0,
			shown(`curl -Z --no-progress-meter -i -o "$d/#1" -H "Authorization: Bearer $OUTREACH_KEY_MAIN" "$OUTREACH_URL/x#[1-50]"`), 429},
		{"head", Request{Method: "HEAD", Path: "/x"}, 0, shown(`curl -Z --no-progress-meter -i -o "$d/#1" --head "$OUTREACH_URL/x#[1-50]"`), 200},
		{"what curl would expand", Request{Path: "/a[1]"}, 0, shown(`curl -Z --no-progress-meter -i -o "$d/#1" "$OUTREACH_URL"'/a\[1\]''#[1-50]'`), 0},
		{"delete", Request{Method: "DELETE", Path: "/x", Key: mainKey}, 0,
			drive + `curl -i -X DELETE -H "Authorization: Bearer $OUTREACH_KEY_MAIN" "$OUTREACH_URL/x"`, 429},
		{"get after a rest", Request{Path: "/x", Key: mainKey}, 2 * time.Minute,
			drive + `sleep 120; curl -i -H "Authorization: Bearer $OUTREACH_KEY_MAIN" "$OUTREACH_URL/x"`, 403},
		{"server error after a rest", Request{Path: "/x", Key: mainKey}, 2 * time.Minute,
			drive + `sleep 120; curl -i -H "Authorization: Bearer $OUTREACH_KEY_MAIN" "$OUTREACH_URL/x"`, 503},
	} {
		t.Run(tc.name, func(t *testing.T) {
			NewWithT(t).Expect(Exchange{Request: tc.req, Status: tc.status}.CurlAtLimit(smallest, tc.rest)).To(Equal(tc.want))
		})
	}
}

// The line shows, with a real shell and a real curl, what is answered beyond the
// limit; what changes something is sent once.
func TestCurlAtLimitMeetsTheLimit(t *testing.T) {
	if _, err := exec.LookPath("curl"); err != nil {
		t.Skip("no curl on this machine")
	}
	const limit = 120 // more than two volleys
	for _, tc := range []struct {
		name   string
		method string
		path   string
		limit  int64
		want   string
		most   int64 // requests that read
		status int   // of the exchange
		odd    int64 // of so many refusals one is of that status, the others are 429
	}{
		{"get", "GET", "/list", limit, "429 GET beyond", 150, 429, 1},
		{"brackets", "GET", "/list[1]", limit, "429 GET beyond", 150, 429, 1},
		{"post", "POST", "/made", limit, "429 POST beyond", 150, 429, 1},
		{"no limit", "GET", "/list", 1 << 30, "200 GET served", 1000, 429, 1},
		{"a server error", "GET", "/list", limit, "503 GET beyond", 150, 503, 1},
		{"a server error now and then", "GET", "/list", limit, "503 GET beyond", 150, 503, 5},
		{"a server error for a write", "POST", "/made", limit, "503 POST beyond", 150, 503, 1},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var reads, writes, elsewhere, refused atomic.Int64
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				counter := &reads
				switch {
				case r.Header.Get("Authorization") != "Bearer "+mainKey.Token:
					counter = &elsewhere
				case r.Method == tc.method && r.URL.Path == tc.path && tc.method != "GET":
					counter = &writes
				case r.Method != "GET" || r.URL.Path != tc.path && r.URL.Path != smallest.Path:
					counter = &elsewhere
				}
				counter.Add(1)
				if reads.Load() > tc.limit {
					status := http.StatusTooManyRequests
					if refused.Add(1)%tc.odd == 0 {
						status = tc.status
					}
					w.WriteHeader(status)
					_, _ = fmt.Fprint(w, status, " ", r.Method, " beyond")
					return
				}
				_, _ = fmt.Fprint(w, "200 ", r.Method, " served")
			}))
			defer server.Close()
			line := Exchange{Request: Request{Method: tc.method, Path: tc.path, Key: mainKey}, Status: tc.status}.CurlAtLimit(smallest, 0)
			command := exec.Command("sh", "-c", line)
			command.Env = []string{"PATH=" + os.Getenv("PATH"), "TMPDIR=" + t.TempDir(), "OUTREACH_URL=" + server.URL, "OUTREACH_KEY_MAIN=" + mainKey.Token}
			said, err := command.Output()
			if err != nil || !strings.HasPrefix(string(said), "HTTP/1.1 "+tc.want[:3]) || !strings.HasSuffix(string(said), tc.want) {
				t.Errorf("%s\nsays %q (%v), want %q", line, said, err, tc.want)
			}
			if n := writes.Load(); n > 1 || reads.Load() > tc.most || elsewhere.Load() > 0 {
				t.Errorf("%d reads, %d writes, %d others", reads.Load(), n, elsewhere.Load())
			}
		})
	}
}
