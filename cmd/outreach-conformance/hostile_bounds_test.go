package main

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"outreach.example/conformance/internal/client"
	"outreach.example/conformance/internal/testbed"
	"outreach.example/conformance/spec"
)

// The bounds of a run, whatever the target sends.
const (
	mostResident = 256 << 20
	mostResults  = 10_000_000
	mostJUnit    = 5_000_000
)

// whole is the length of the longest body that the harness reads.
const whole = client.DefaultMaxBody

// swollen answers in place of a reference server, which has answered already. The nth
// response is as large as the harness accepts.
type swollen func(w http.ResponseWriter, answer *httptest.ResponseRecorder, op spec.Operation, n int64)

var mebibyte = strings.Repeat("x", 1<<20)

// mebibyteHere stands for a mebibyte in what everyPage encodes: encoding it would cost more
// than judging it.
const mebibyteHere = "{mebibyte}"

// sendJSON answers 200 with the parts, in chunks.
func sendJSON(w http.ResponseWriter, parts ...string) {
	w.Header().Set("Content-Type", "application/json")
	for _, part := range parts {
		if _, err := io.WriteString(w, part); err != nil {
			return // the client has gone
		}
	}
}

// filled repeats the text up to the longest body, between head and tail.
func filled(head, text, tail string) string {
	n := (whole - len(head) - len(tail)) / len(text)
	return head + strings.TrimSuffix(strings.Repeat(text, n), ",") + tail
}

// rowsOf returns the rows of a page of the reference server.
func rowsOf(answer *httptest.ResponseRecorder) (page map[string]any, rows []map[string]any) {
	if answer.Code != http.StatusOK || json.Unmarshal(answer.Body.Bytes(), &page) != nil {
		return nil, nil
	}
	items, _ := page["items"].([]any)
	for _, item := range items {
		row, _ := item.(map[string]any)
		rows = append(rows, row)
	}
	return page, rows
}

// forward answers as the reference server does.
func forward(w http.ResponseWriter, answer *httptest.ResponseRecorder) {
	for name, values := range answer.Header() {
		w.Header()[name] = values
	}
	w.WriteHeader(answer.Code)
	_, _ = w.Write(answer.Body.Bytes())
}

// everyPage swells the pages with rows, and forwards the rest.
func everyPage(swell func(page map[string]any, rows []map[string]any, n int64)) swollen {
	return func(w http.ResponseWriter, answer *httptest.ResponseRecorder, _ spec.Operation, n int64) {
		page, rows := rowsOf(answer)
		if len(rows) == 0 {
			forward(w, answer)
			return
		}
		swell(page, rows, n)
		body, err := json.Marshal(page)
		if err != nil {
			panic(err)
		}
		var parts []string
		for i, part := range strings.Split(string(body), mebibyteHere) {
			if i > 0 {
				parts = append(parts, mebibyte)
			}
			parts = append(parts, part)
		}
		sendJSON(w, parts...)
	}
}

// everyList answers each list with the same text, and forwards the rest.
func everyList(text func(n int64) string) swollen {
	return func(w http.ResponseWriter, answer *httptest.ResponseRecorder, op spec.Operation, n int64) {
		if op.Answer != spec.Page || answer.Code != http.StatusOK {
			forward(w, answer)
			return
		}
		sendJSON(w, text(n))
	}
}

// always returns a function that returns the text.
func always(text string) func(int64) string { return func(int64) string { return text } }

// swellings are the ways in which a target is too large.
func swellings() map[string]swollen {
	zeros := filled("", "0", "")
	var bomb bytes.Buffer
	packer := gzip.NewWriter(&bomb)
	_, _ = packer.Write([]byte(filled(`{"items":[],"pad":"`, "a", `"}`)))
	_ = packer.Close()
	manyRows := filled(`{"items":[`, `{"id":"01890000-0000-7000-8000-000000000000"},`, `]}`)
	return map[string]swollen{
		"none": func(w http.ResponseWriter, answer *httptest.ResponseRecorder, _ spec.Operation, _ int64) {
			forward(w, answer)
		},
		"ids of 1 MiB": everyPage(func(_ map[string]any, rows []map[string]any, n int64) {
			for i := range rows[:min(len(rows), 7)] {
				rows[i]["id"] = fmt.Sprintf("%d-%d-%s", n, i, mebibyteHere)
			}
		}),
		"a cursor of 1 MiB": everyPage(func(page map[string]any, _ []map[string]any, n int64) {
			page["next_starting_after"] = fmt.Sprintf("%d-%s", n, mebibyteHere)
		}),
		"texts of 1 MiB": everyPage(func(_ map[string]any, rows []map[string]any, n int64) {
			for i := range rows[:min(len(rows), 3)] {
				for name, value := range rows[i] {
					if _, isText := value.(string); isText && name != "id" && strings.HasPrefix(name, "n") {
						rows[i][name] = fmt.Sprintf("%d-%d-%s", n, i, mebibyteHere)
					}
				}
			}
		}),
		"extra fields of 8 MiB": everyPage(func(_ map[string]any, rows []map[string]any, n int64) {
			for i := range rows {
				for k := range 40_000 / len(rows) {
					rows[i][fmt.Sprintf("extra-%d-%d-%s", n, k, mebibyte[:20])] = mebibyte[:100]
				}
			}
		}),
		"names of 1 MiB": everyPage(func(_ map[string]any, rows []map[string]any, n int64) {
			for i := range rows[:min(len(rows), 7)] {
				rows[i][fmt.Sprint(n)+mebibyteHere] = 1
			}
		}),
		"rows that break every rule": everyPage(func(_ map[string]any, rows []map[string]any, n int64) {
			for i := range rows {
				for name := range rows[i] {
					rows[i][name] = map[string]any{fmt.Sprint(n, i): mebibyte[:2000]}
				}
			}
		}),
		"new rows on each page, without end": func(w http.ResponseWriter, answer *httptest.ResponseRecorder, op spec.Operation, n int64) {
			if op.Answer != spec.Page || answer.Code != http.StatusOK {
				forward(w, answer)
				return
			}
			var page strings.Builder
			for i := range 100 {
				fmt.Fprintf(&page, `{"id":"01890000-0000-7000-8000-%04x%08x","name":"%d%s"},`, i, n, n, mebibyte[:80_000])
			}
			sendJSON(w, `{"items":[`, strings.TrimSuffix(page.String(), ","), fmt.Sprintf(`],"next_starting_after":"01890000-0000-7000-8000-%012x"}`, n))
		},
		"padding":            everyList(always(filled(`{"items":[]`, " ", `}`))),
		"one long text":      everyList(always(filled(`{"items":[{"id":"`, "x", `"}]}`))),
		"dense arrays":       everyList(always(filled(`{"items":[`, "[],", `]}`))),
		"dense objects":      everyList(always(filled(`{"items":[`, `{"":0},`, `]}`))),
		"dense rows":         everyList(always(manyRows)),
		"dense member":       everyList(always(filled(`{"items":[{"id":"01890000-0000-7000-8000-000000000000","tags":[`, `0,`, `]}]}`))),
		"dense extra member": everyList(always(filled(`{"items":[{"id":"01890000-0000-7000-8000-000000000000"}],"x":[`, `{"":0},`, `]}`))),
		"too long a body":    everyList(func(int64) string { return zeros + zeros + zeros }),
		"compressed bodies": func(w http.ResponseWriter, answer *httptest.ResponseRecorder, op spec.Operation, _ int64) {
			if op.Answer != spec.Page || answer.Code != http.StatusOK {
				forward(w, answer)
				return
			}
			w.Header().Set("Content-Encoding", "gzip")
			sendJSON(w, bomb.String())
		},
		"headers of 250 KiB": func(w http.ResponseWriter, answer *httptest.ResponseRecorder, _ spec.Operation, _ int64) {
			for i := range 25 {
				w.Header().Set(fmt.Sprintf("X-Filler-%d", i), mebibyte[:10<<10])
			}
			forward(w, answer)
		},
		"errors of 8 MiB": func(w http.ResponseWriter, answer *httptest.ResponseRecorder, _ spec.Operation, n int64) {
			if answer.Code == http.StatusOK {
				forward(w, answer)
				return
			}
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(answer.Code)
			_, _ = fmt.Fprintf(w, `{"statusCode":%d,"error":%q,"message":"%d`, answer.Code, http.StatusText(answer.Code), n)
			_, _ = w.Write([]byte(zeros[:whole-200] + `"}`))
		},
		"everything is an error of 8 MiB": func(w http.ResponseWriter, _ *httptest.ResponseRecorder, _ spec.Operation, _ int64) {
			w.WriteHeader(http.StatusInternalServerError)
			_, _ = w.Write([]byte(zeros))
		},
	}
}

// typical are the swellings that every test run tries, against one operation. With
// -slow the test tries all of them, against all operations. Make hostile plays others.
var typical = []string{"ids of 1 MiB", "everything is an error of 8 MiB"}

// swelling serves the swollen target.
func swelling(t *testing.T, swell swollen) (base string) {
	var n atomic.Int64
	return servingBehind(t, func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		op, _, _ := spec.MatchOperation(r.Method, r.URL.Path)
		answer := httptest.NewRecorder()
		next.ServeHTTP(answer, r)
		if r.Method == http.MethodGet {
			swell(w, answer, op, n.Add(1))
		} else {
			forward(w, answer)
		}
	})
}

var peak = regexp.MustCompile(`VmHWM:\s+(\d+) kB`)

// TestMemoryOfARun_long starts the program against targets whose responses are as large as
// the harness accepts. It reads how much memory the program had at most, and the size of
// what it wrote.
func TestMemoryOfARun_long(t *testing.T) {
	t.Parallel()
	if peakOf(os.Getpid()) == 0 {
		t.Skip("needs /proc")
	}
	for name, swell := range swellings() {
		t.Run(name, func(t *testing.T) {
			if !slices.Contains(typical, name) {
				testbed.SkipUnlessSlow(t)
			}
			t.Parallel()
			g := NewWithT(t)
			args := []string{runCommand, "--target", swelling(t, swell), "--seed", "7"}
			if !testbed.Slow() {
				args = append(args, "--operation", spec.ListLeadLists)
			}
			c := command(t, nil, args...)
			c.Path = filepath.Join(testbed.Built(t), "bin", testbed.Program)
			var output bytes.Buffer
			c.Stdout, c.Stderr = &output, &output
			began := time.Now()
			resident := peakUntilTheEnd(t, c)
			results, junit := sizeOf(filepath.Join(c.Dir, defaultOutput, resultsFile)), sizeOf(filepath.Join(c.Dir, defaultOutput, "junit.xml"))
			lines := strings.Split(strings.TrimSpace(output.String()), "\n")
			t.Logf("resident %d MiB, results %d KiB, JUnit %d KiB, %s: %s", resident>>20, results>>10, junit>>10, time.Since(began).Round(time.Millisecond), lines[len(lines)-1])
			g.Expect(resident).To(BeNumerically("<=", mostResident))
			g.Expect(results).To(BeNumerically("<=", mostResults))
			g.Expect(junit).To(BeNumerically("<=", mostJUnit))
		})
	}
}

// peakUntilTheEnd runs the command and returns how many bytes were resident at most. It
// ends a process that goes far beyond the bound, for the sake of the machine.
func peakUntilTheEnd(t *testing.T, c *exec.Cmd) (resident int) {
	t.Helper()
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = c.Wait() // its verdict does not matter
	}()
	defer func() {
		_ = c.Process.Kill()
		<-ended
	}()
	for limit := time.After(patience); ; {
		select {
		case <-ended:
			return resident
		case <-limit:
			t.Errorf("the run does not end within %s", patience)
			return resident
		case <-time.After(5 * time.Millisecond):
			if resident = max(resident, peakOf(c.Process.Pid)); resident > 4*mostResident {
				return resident
			}
		}
	}
}

// peakOf returns how many bytes of a process were resident at most; 0 if it has ended.
func peakOf(pid int) int {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	found := peak.FindSubmatch(status)
	if found == nil {
		return 0
	}
	kilobytes, _ := strconv.Atoi(string(found[1]))
	return kilobytes << 10
}

func sizeOf(path string) int64 {
	info, err := os.Stat(path)
	if err != nil {
		return 0
	}
	return info.Size()
}
