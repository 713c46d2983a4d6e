package client

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"pgregory.net/rapid"
)

func TestCurl(t *testing.T) {
	raw := "bearer " + mainKey.Token
	basic := "Basic dG9rZW4tb2YtbWFpbg=="
	for _, tc := range []struct {
		name string
		req  Request
		want string
	}{
		{"no key", Request{Path: "/x"}, `curl -i "$OUTREACH_URL/x"`},
		{"get", Request{Path: "/api/v2/tests", Query: url.Values{"limit": {"10"}, "search": {"a b"}}, Key: mainKey},
			`curl -i -H "Authorization: Bearer $OUTREACH_KEY_MAIN" "$OUTREACH_URL/api/v2/tests?limit=10&search=a%20b"`},
		{"post", Request{Method: "POST", Path: "/x", Key: mainKey, Body: []byte(`{"a":"it's $5"}`)},
			`curl -i -X POST -H "Authorization: Bearer $OUTREACH_KEY_MAIN" -H 'Content-Type: application/json' --data-raw '{"a":"it'\''s $5"}' "$OUTREACH_URL/x"`},
		{"minted key", Request{Path: "/x", Key: Key{Name: "minted", Token: "t0ken-of-minted", Mint: "cd mints && ./mint leads:read"}},
			`OUTREACH_KEY_MINTED=$(cd mints && ./mint leads:read); curl -i -H "Authorization: Bearer $OUTREACH_KEY_MINTED" "$OUTREACH_URL/x"`},
		{"minted key that is not sent", Request{Path: "/x", Key: Key{Name: "minted", Token: "t0ken-of-minted", Mint: "./mint"}, Authorization: new(string)},
			`curl -i -H 'Authorization;' "$OUTREACH_URL/x"`},
		{"token in the command that mints", Request{Path: "/x", Key: Key{Name: "minted", Token: "t0ken-of-minted", Mint: "./mint t0ken-of-minted"}},
			`OUTREACH_KEY_MINTED=$(./mint $OUTREACH_KEY_MINTED); curl -i -H "Authorization: Bearer $OUTREACH_KEY_MINTED" "$OUTREACH_URL/x"`},
		{"delete", Request{Method: "DELETE", Path: "/x"}, `curl -i -X DELETE "$OUTREACH_URL/x"`},
		{"head", Request{Method: "HEAD", Path: "/x"}, `curl -i --head "$OUTREACH_URL/x"`},
		{"raw authorization with a known token", Request{Path: "/x", Key: mainKey, Authorization: &raw},
			`curl -i -H "Authorization: bearer $OUTREACH_KEY_MAIN" "$OUTREACH_URL/x"`},
		{"encoded token", Request{Path: "/x", Key: mainKey, Authorization: &basic},
			`curl -i -H 'Authorization: Basic [redacted]' "$OUTREACH_URL/x"`},
		{"empty authorization", Request{Path: "/x", Authorization: new(string)}, `curl -i -H 'Authorization;' "$OUTREACH_URL/x"`},
		{"token in the query", Request{Path: "/x", Query: url.Values{"k": {mainKey.Token}, "l": {""}}, Key: mainKey},
			`curl -i -H "Authorization: Bearer $OUTREACH_KEY_MAIN" "$OUTREACH_URL/x?k=$OUTREACH_KEY_MAIN&l="`},
		{"token before a letter", Request{Path: "/" + mainKey.Token + "x", Key: mainKey},
			`curl -i -H "Authorization: Bearer $OUTREACH_KEY_MAIN" "$OUTREACH_URL/${OUTREACH_KEY_MAIN}x"`},
		{"character with a meaning in double quotes", Request{Path: "/a!"}, `curl -i "$OUTREACH_URL"'/a!'`},
		{"dots that curl would resolve", Request{Path: "/a/../b"}, `curl -i --path-as-is "$OUTREACH_URL/a/../b"`},
		{"brackets that curl would expand", Request{Path: "/a[1]"}, `curl -i --globoff "$OUTREACH_URL/a[1]"`},
		{"content type suppressed", Request{Method: "POST", Path: "/x", Body: []byte("1"), Header: http.Header{"Content-Type": nil}},
			`curl -i -X POST -H 'Content-Type:' --data-raw '1' "$OUTREACH_URL/x"`},
		{"lines in the body", Request{Path: "/x", Body: []byte("{\n'%\\é}")},
			`printf '{\012\047%%\134\303\251}' | curl -i -X GET -H 'Content-Type: application/json' --data-binary @- "$OUTREACH_URL/x"`},
		{"long body", Request{Method: "POST", Path: "/x", Body: bytes.Repeat([]byte("x"), maxCurlBody+1)},
			`curl -i -X POST -H 'Content-Type: application/json' --data-binary @body "$OUTREACH_URL/x" # the file body has 16385 bytes, not shown here`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			NewWithT(t).Expect(Exchange{Request: tc.req}.Curl()).To(Equal(tc.want))
		})
	}
}

// drawRequest draws any valid request.
func drawRequest(t *rapid.T, key Key) Request {
	text := rapid.OneOf(
		rapid.String(),
		rapid.SampledFrom([]string{"", " ", "'", `"`, "`id`", "$HOME", "$(id)", `\`, "!!", "%", "%41", "*", "~", "#", ";", "&", "a\nb", "\x00", "-d", "@file", key.Token, key.Token + "x"}),
	)
	values := rapid.SliceOfN(text, 0, 2)
	req := Request{
		Method: rapid.SampledFrom([]string{"GET", "POST", "DELETE", "PATCH"}).Draw(t, "method"),
		Path:   "/api/" + url.PathEscape(text.Draw(t, "segment")),
		Query:  url.Values(rapid.MapOfN(text, values, 0, 2).Draw(t, "query")),
		Body:   []byte(text.Draw(t, "body")),
	}
	if rapid.Bool().Draw(t, "keyed") {
		req.Key = key
	}
	if rapid.Bool().Draw(t, "header") {
		req.Header = http.Header{"X-Extra": {strings.Trim(oneLine(text.Draw(t, "value")), " \t")}}
	}
	return req
}

// The line makes curl send the same request that went over the wire. A script that writes
// its arguments and standard input replaces curl.
func TestCurlRepeatsTheRequest_long(t *testing.T) {
	shell, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("no POSIX shell on this machine")
	}
	dir := t.TempDir()
	const script = "#!/bin/sh\nprintf '%s\\0' \"$@\" > \"$CURL_DIR/args\"\ncase \"$*\" in *@-*) cat > \"$CURL_DIR/stdin\";; esac\n"
	if err := os.WriteFile(filepath.Join(dir, "curl"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	key := Key{Name: "main", Token: "T0ken.0f-the~main_key"}
	var wire *http.Request
	var wireBody []byte
	c := newClient(t, Options{BaseURL: "http://host/prefix", Keys: []Key{key}, Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
		wire = r
		wireBody, _ = io.ReadAll(r.Body)
		return answer(http.StatusOK, nil), nil
	})})
	rapid.Check(t, func(t *rapid.T) {
		e := c.Do(t.Context(), drawRequest(t, key))
		if e.Err != nil {
			t.Fatal(e.Err)
		}
		line := e.Curl()
		if strings.Contains(line, key.Token) || strings.ContainsAny(line, "\n\r\x00") {
			t.Fatalf("not one line without a secret: %q", line)
		}
		command := exec.Command(shell, "-c", line)
		command.Env = []string{"PATH=" + dir + ":" + os.Getenv("PATH"), "CURL_DIR=" + dir,
			"OUTREACH_URL=http://host/prefix", "OUTREACH_KEY_MAIN=" + key.Token}
		if out, err := command.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v: %s", line, err, out)
		}
		said := readCurl(t, dir)
		g := NewWithT(t)
		g.Expect(said.method).To(Equal(wire.Method), line)
		g.Expect(said.address).To(Equal(wire.URL.String()), line)
		g.Expect(said.body).To(Equal(string(wireBody)), line)
		sent := maps.Clone(wire.Header)
		delete(sent, "User-Agent")
		g.Expect(said.header).To(Equal(sent), line)
	})
}

// curlCall is what a command line tells curl to send.
type curlCall struct {
	method, address, body string
	header                http.Header
}

func readCurl(t *rapid.T, dir string) curlCall {
	raw, err := os.ReadFile(filepath.Join(dir, "args"))
	if err != nil {
		t.Fatal(err)
	}
	args := strings.Split(strings.TrimSuffix(string(raw), "\x00"), "\x00")
	call := curlCall{method: http.MethodGet, header: http.Header{}}
	for len(args) > 0 {
		option := args[0]
		args = args[1:]
		switch option {
		case "-i", "--globoff", "--path-as-is":
			continue
		}
		if !strings.HasPrefix(option, "-") {
			call.address = option
			continue
		}
		value := args[0]
		args = args[1:]
		switch option {
		case "-X":
			call.method = value
		case "-H":
			name, text, found := strings.Cut(value, ": ")
			if !found {
				name = strings.TrimSuffix(value, ";")
			}
			call.header[name] = append(call.header[name], text)
		case "--data-raw":
			call.body = value
		case "--data-binary":
			stdin, err := os.ReadFile(filepath.Join(dir, "stdin"))
			if err != nil || value != "@-" {
				t.Fatalf("standard input of %q: %v", value, err)
			}
			call.body = string(stdin)
		default:
			t.Fatalf("curl has no option %q here", option)
		}
	}
	return call
}

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

// With a real shell and curl, the line shows the response beyond the limit. A request that
// changes something is sent once.
func TestCurlAtLimitMeetsTheLimit_long(t *testing.T) {
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
		most   int64 // maximum GET requests
		status int   // of the exchange
		odd    int64 // one of this many rejections has that status, the others are 429
	}{
		{"get", "GET", "/list", limit, "429 GET beyond", 150, 429, 1},
		{"post", "POST", "/made", limit, "429 POST beyond", 150, 429, 1},
		{"no limit", "GET", "/list", 1 << 30, "200 GET served", 1000, 429, 1},
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

// A path with a query that no shell takes is left out of the command.
func TestCurlLeavesOutALongLine(t *testing.T) {
	for name, tc := range map[string]struct {
		cursor string
		whole  bool
	}{"short": {"abc", true}, "long": {strings.Repeat("y", maxCurlLine), false}} {
		e := Exchange{Request: Request{Path: "/api/v2/lead-lists", Query: map[string][]string{"starting_after": {tc.cursor}}}}
		for _, line := range []string{e.Curl(), e.CurlAtLimit(Request{Path: "/"}, 0)} {
			if strings.Contains(line, "curl ") != tc.whole || len(line) > 1000 {
				t.Errorf("%s: a command of %d bytes: %.100s", name, len(line), line)
			}
		}
	}
}
