//go:build unix

package main

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"outreach.example/conformance/reports"
	"outreach.example/conformance/reports/jsonfile"
)

// daemon starts a Docker engine that gives the answers, by method and path without version.
// It has no containers, and every image exposes port 80.
func daemon(t *testing.T, answers map[string]func(w http.ResponseWriter)) (address string) {
	t.Helper()
	dir := must[string](t)(os.MkdirTemp("", "d")) // the path of a socket is short
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	version := regexp.MustCompile(`^/v[0-9.]+`)
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		path := version.ReplaceAllString(r.URL.Path, "")
		w.Header().Set("Api-Version", "1.44")
		w.Header().Set("Content-Type", "application/json")
		answer, ok := answers[r.Method+" "+path]
		switch {
		case ok:
			answer(w)
		case path == "/_ping":
			_, _ = io.WriteString(w, "OK")
		case path == "/containers/json" || path == "/networks" || path == "/images/json":
			_, _ = io.WriteString(w, "[]")
		case strings.HasPrefix(path, "/images/"):
			_, _ = io.WriteString(w, `{"Id":"sha256:0","Config":{"ExposedPorts":{"80/tcp":{}}}}`)
		default:
			_, _ = io.WriteString(w, "{}")
		}
	}))
	server.Listener = must[net.Listener](t)(net.Listen("unix", filepath.Join(dir, "s")))
	server.Start()
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	return "unix://" + filepath.Join(dir, "s")
}

// says answers with the status and body.
func says(status int, body string) func(http.ResponseWriter) {
	return func(w http.ResponseWriter) {
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

// beforeALyingDaemon runs against an image on the engine, and returns the output of a run that is
// inconclusive and has results.
func beforeALyingDaemon(t *testing.T, answers map[string]func(w http.ResponseWriter)) string {
	t.Helper()
	g := NewWithT(t)
	c := command(t, []string{"DOCKER_HOST=" + daemon(t, answers)}, runCommand, "--target", "image:x")
	ended := toTheEnd(t, c)
	g.Expect(ended.code).To(Equal(exitCannotTell), "%s", ended)
	r := must[reports.Results](t)(jsonfile.Run.Read(filepath.Join(c.Dir, defaultOutput, resultsFile)))
	g.Expect(r.Verdict).To(Equal(reports.Inconclusive))
	out := fmt.Sprint(ended)
	g.Expect(out).NotTo(MatchRegexp(`(?m)^\s*::error::`))
	g.Expect(contents(t, filepath.Join(c.Dir, defaultOutput, containerLog))).NotTo(ContainSubstring("\x1b"))
	return out
}

func TestALyingDaemon_long(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		answers map[string]func(http.ResponseWriter)
		says    string
	}{
		"about ids": {map[string]func(http.ResponseWriter){"POST /containers/create": says(201, `{"Id":"short"}`)}, "the Docker library failed at a response of the engine"},
		"in lines of its own": {map[string]func(http.ResponseWriter){"GET /images/x/json": says(404, `{"message":"no such image"}`),
			"POST /images/create": says(500, `{"message":"denied\n::error::forged\u001b[31m"}`)}, `denied\n::error::forged\x1b[31m`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			NewWithT(t).Expect(beforeALyingDaemon(t, tc.answers)).To(ContainSubstring(tc.says))
		})
	}
}

// The log of a container claims a frame of 4 GiB and never ends.
func TestALogThatNeverEnds_long(t *testing.T) {
	t.Parallel()
	id := strings.Repeat("0123456789abcdef", 4)
	NewWithT(t).Expect(beforeALyingDaemon(t, map[string]func(http.ResponseWriter){
		"POST /containers/create":           says(201, `{"Id":"`+id+`"}`),
		"POST /containers/" + id + "/start": says(204, ""),
		"GET /containers/" + id + "/json":   says(200, `{"Id":"`+id+`","State":{"Status":"exited","Running":false,"ExitCode":1},"Config":{},"HostConfig":{},"NetworkSettings":{"Ports":{"80/tcp":[{"HostIp":"127.0.0.1","HostPort":"1"}]}}}`),
		"GET /containers/" + id + "/logs": func(w http.ResponseWriter) {
			_, err := w.Write([]byte{1, 0, 0, 0, 0xff, 0xff, 0xff, 0xff})
			for err == nil {
				_, err = io.WriteString(w, "\x1b[31mred\n::error::forged\n"+strings.Repeat(" \n", 1<<10))
			}
		},
	})).To(ContainSubstring("container exited with code 1"))
}
