package generate

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	. "github.com/onsi/gomega"
	vegeta "github.com/tsenart/vegeta/v12/lib"
	"github.com/tsenart/vegeta/v12/lib/plot"

	"outreach.example/conformance/internal/client"
	"outreach.example/conformance/loadtest/inspect"
	"outreach.example/conformance/loadtest/measure"
)

func decodeRaw(t *testing.T, raw []byte) vegeta.Results {
	t.Helper()
	decode := vegeta.DecoderFor(bytes.NewReader(raw))
	if decode == nil {
		t.Fatal("Vegeta does not know the encoding")
	}
	var results vegeta.Results
	for {
		var r vegeta.Result
		if err := decode(&r); errors.Is(err, io.EOF) {
			return results
		} else if err != nil {
			t.Fatal(err)
		}
		results.Add(&r)
	}
}

// Vegeta's own reporters read the raw results. Their latencies count from the due time.
func TestVegetaReadsTheRawResults(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		var raw bytes.Buffer
		n := &network{answer: stall(200*time.Millisecond, 700*time.Millisecond)}
		generator := inBubble(t, n, Options{Raw: &raw, Workers: 10})
		first, inspected := constant(100, time.Second), 0
		warm := constant(10, time.Second) // is neither inspected nor raw
		warm.Warmup, warm.Inspect = true, func(inspect.Answer) { inspected++ }
		run(t, generator, warm)
		n.answer = stall(200*time.Millisecond, 700*time.Millisecond)
		r := run(t, generator, first)
		second := first
		second.Name = "second"
		run(t, generator, second)

		results := decodeRaw(t, raw.Bytes())
		g.Expect(results).To(HaveLen(200))
		g.Expect(inspected).To(BeZero())
		var metrics vegeta.Metrics
		picture := plot.New()
		seen := map[uint64]bool{}
		for _, result := range results {
			g.Expect(picture.Add(&result)).To(Succeed())
			if result.Attack != "test" {
				continue
			}
			metrics.Add(&result)
			g.Expect(result.Seq).To(BeNumerically("<", 100))
			g.Expect(seen).NotTo(HaveKey(result.Seq))
			seen[result.Seq] = true
			g.Expect(result.Timestamp).To(BeTemporally("==", r.Start.Add(first.Schedule.Due(result.Seq))))
			g.Expect(result.URL).To(Equal("http://target.example/a"))
			g.Expect(result.Method).To(Equal("GET"))
			g.Expect(result.Body).To(BeEmpty())
		}
		metrics.Close()
		response, service := r.Response[measure.Accepted].Mean(), r.Service[measure.Accepted].Mean()
		g.Expect(response).To(BeNumerically(">", 2*service), "ten workers are too few: the two differ")
		g.Expect(metrics.Latencies.Mean).To(BeNumerically("~", response, response/100))
		g.Expect(metrics.Requests).To(BeEquivalentTo(100))
		g.Expect(metrics.Success).To(Equal(1.0))
		g.Expect(metrics.BytesIn.Total).To(BeEquivalentTo(200))
		g.Expect(metrics.Latencies.Max).To(BeNumerically("~", 500*time.Millisecond, 10*time.Millisecond))
		var text, page bytes.Buffer
		g.Expect(vegeta.NewTextReporter(&metrics).Report(&text)).To(Succeed())
		g.Expect(text.String()).To(ContainSubstring("200:100"))
		picture.Close()
		_, err := picture.WriteTo(&page)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(page.Len()).To(BeNumerically(">", 1000))
	})
}

func TestRawResultsHoldNoSecrets(t *testing.T) {
	g := NewWithT(t)
	const token = "secret-token-of-main"
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Set-Cookie", r.Header.Get("Authorization"))
		w.Header().Set("Retry-After", "3")
		w.Header().Set("RateLimit-Limit", "10")
		w.WriteHeader(http.StatusTooManyRequests)
		_, _ = io.WriteString(w, r.Header.Get("Authorization"))
	}))
	defer server.Close()
	var raw bytes.Buffer
	generator := newGenerator(t, Options{BaseURL: server.URL, Raw: &raw}, fineSleep)
	run(t, generator, few(Request{Path: "/", Key: client.Key{Name: "main", Token: token}}))
	g.Expect(raw.String()).NotTo(ContainSubstring(token))
	results := decodeRaw(t, raw.Bytes())
	g.Expect(results).To(HaveLen(20))
	g.Expect(results[0].Code).To(BeEquivalentTo(429))
	g.Expect(results[0].Error).To(Equal("429 Too Many Requests"))
	g.Expect(results[0].Headers).To(HaveKeyWithValue("Retry-After", []string{"3"}))
	g.Expect(results[0].Headers).To(HaveKeyWithValue("Ratelimit-Limit", []string{"10"}))
	g.Expect(results[0].Headers).NotTo(HaveKey("Set-Cookie"))
}
