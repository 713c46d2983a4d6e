package evidence_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	. "github.com/onsi/gomega"

	"outreach.example/conformance/internal/client"
	"outreach.example/conformance/internal/evidence"
	"outreach.example/conformance/internal/redact"
)

// A recorded client's requests are answered from the recording: the same responses, in the same
// words, at the same time, and the 429 that was waited out.
func TestRequestsAreAnsweredFromARecording(t *testing.T) {
	g := NewWithT(t)
	statuses := []int{429, 200, 200, 200}
	served := 0
	network := transport(func(r *http.Request) (*http.Response, error) {
		status := statuses[served]
		served++
		return &http.Response{StatusCode: status, Proto: "HTTP/1.1", Header: http.Header{"Retry-After": {"0"}}, Body: io.NopCloser(strings.NewReader("body " + r.URL.Path)), Request: r}, nil
	})
	var file bytes.Buffer
	recorder := evidence.NewRecorder(&file, "program", "1", func(string) string { return "a" })
	live, err := client.New(client.Options{BaseURL: "http://target.test", Transport: network, Observe: recorder.Observe})
	g.Expect(err).NotTo(HaveOccurred())
	ask := func(c *client.Client, ctx context.Context, path string) client.Exchange {
		return c.Do(client.From(ctx, "a spec"), client.Request{Path: path, Operation: "an operation"})
	}
	ctx := client.WithSchedulers(t.Context(), recorder.Scheduler)
	first, second := ask(live, ctx, "/one"), ask(live, ctx, "/two")
	client.Decide(client.From(ctx, "a spec"), "a choice", 7)
	later := live.Do(client.From(ctx, "a later spec"), client.Request{Path: "/later", Operation: "an operation"})
	g.Expect(recorder.Close(map[string]int{"seed": 3})).To(Succeed())

	player, err := evidence.Open(&file)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(string(player.Run.Settings)).To(Equal(`{"seed":3}`))
	var seen []int
	replay, err := client.New(client.Options{BaseURL: "http://target.test", Replay: player.Answer, Observe: func(e client.Exchange) { seen = append(seen, e.Status) }})
	g.Expect(err).NotTo(HaveOccurred())
	ctx = client.WithSchedulers(t.Context(), player.Scheduler)
	g.Expect(client.Now(client.From(ctx, "a later spec"))).To(BeTemporally("==", later.Sent), "before its first request")
	for path, was := range map[string]client.Exchange{"/one": first, "/two": second} {
		again := ask(replay, ctx, path)
		g.Expect(string(again.Body)).To(Equal(string(was.Body)))
		g.Expect(again.Sent).To(BeTemporally("==", was.Sent))
		g.Expect(again.Took).To(Equal(was.Took))
	}
	g.Expect(seen).To(ConsistOf(429, 200, 200))
	g.Expect(player.Left()).To(ConsistOf(ContainSubstring("/later")))
	source := client.From(ctx, "a spec")
	g.Expect(client.Decide(source, "a choice", 1)).To(Equal(7))
	g.Expect(client.Now(source)).To(BeTemporally("==", second.Sent.Add(second.Took)))
	one, beside := client.Apart(source), client.Apart(source)
	g.Expect(client.Sleep(one, time.Minute)).To(Succeed())
	g.Expect(client.Now(one)).To(BeTemporally("==", second.Sent.Add(second.Took+time.Minute)))
	g.Expect(client.Now(beside)).To(BeTemporally("==", second.Sent.Add(second.Took)), "waits beside each other overlap")
	g.Expect(client.Sleep(source, time.Hour)).To(Succeed(), "a replay does not wait")

	unknown := ask(replay, ctx, "/three")
	g.Expect(unknown.Err).To(MatchError(ContainSubstring("the recording does not have the request")))
	g.Expect(player.Missing).To(HaveLen(1))
}

// A response does not wait for a recorded request that nobody sends again, such as one that a client
// gave up before it was sent.
func TestNobodyWaitsForever(t *testing.T) {
	g := NewWithT(t)
	var file bytes.Buffer
	recorder := evidence.NewRecorder(&file, "program", "1", func(string) string { return "a" })
	address, _ := url.Parse("http://target.test/one")
	at := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	for i, sent := range []time.Time{{}, at, at, at.Add(time.Second)} {
		recorder.Observe(client.Exchange{ID: i + 1, Source: fmt.Sprint("source ", i), Sent: sent, Status: 200, Wire: &http.Request{Method: "GET", URL: address}, Request: client.Request{Place: 1}})
	}
	g.Expect(recorder.Close(nil)).To(Succeed())
	player, err := evidence.Open(&file)
	g.Expect(err).NotTo(HaveOccurred())
	all := player.Answer(client.From(t.Context(), "source 3"), client.Request{Place: 1}, &http.Request{Method: "GET", URL: address})
	g.Expect(all).To(HaveLen(1))
	g.Expect(all[0].Status).To(Equal(200))
	g.Expect(player.Left()).To(HaveLen(3))
}

// A replay of a recording with many requests that nobody sends ends soon.
func TestNobodyWaitsForHours(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		var file bytes.Buffer
		recorder := evidence.NewRecorder(&file, "program", "1", func(string) string { return "a" })
		address, _ := url.Parse("http://target.test/one")
		at := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
		for i := range 20_000 {
			recorder.Observe(client.Exchange{ID: i + 1, Source: fmt.Sprint("source ", i), Sent: at.Add(time.Duration(i) * time.Second), Status: 200, Wire: &http.Request{Method: "GET", URL: address}, Request: client.Request{Place: 1}})
		}
		g.Expect(recorder.Close(nil)).To(Succeed())
		player, err := evidence.Open(&file)
		g.Expect(err).NotTo(HaveOccurred())
		began := time.Now()
		g.Expect(player.Answer(client.From(t.Context(), "source 19999"), client.Request{Place: 1}, &http.Request{Method: "GET", URL: address})).To(HaveLen(1))
		g.Expect(time.Since(began)).To(BeNumerically("<=", time.Minute))
	})
}

// A body that was recorded without a secret is searched again once a secret is known.
func TestRepeatedBodiesAreRedacted(t *testing.T) {
	g := NewWithT(t)
	const key, other = "a-Secret-0f9e8d7c6b5a", "b-Secret-1a2b3c4d5e6f"
	redact.Process.Learn(key, "")
	var file bytes.Buffer
	recorder := evidence.NewRecorder(&file, "program", "1", func(string) string { return "a" })
	address, _ := url.Parse("http://target.test/one")
	observe := func(body string) {
		recorder.Observe(client.Exchange{ID: 1, Source: "a spec", Sent: time.Now(), Status: 200, Body: []byte(body), Wire: &http.Request{Method: "GET", URL: address}})
	}
	for range 2 {
		observe(`{"key":"` + key + `"}`)
		observe(`{"key":"` + other + `"}`)
	}
	redact.Process.Learn(other, "")
	observe(`{"key":"` + other + `"}`)
	g.Expect(recorder.Close(nil)).To(Succeed())
	zip, err := gzip.NewReader(&file)
	g.Expect(err).NotTo(HaveOccurred())
	text, err := io.ReadAll(zip)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(strings.Count(string(text), key)).To(BeZero())
	g.Expect(strings.Count(string(text), other)).To(Equal(2), "only what was written before it was known")
}

// An entry that another program may read in another way is refused.
func TestOnlyTheRecordersFormIsRead(t *testing.T) {
	g := NewWithT(t)
	var file bytes.Buffer
	recorder := evidence.NewRecorder(&file, "program", "1", func(string) string { return "a" })
	address, _ := url.Parse("http://target.test/one\xff")
	recorder.Observe(client.Exchange{ID: 1, Source: "a\xffspec", Sent: time.Now(), Status: 500, Header: http.Header{"X": {"<\xff"}}, Body: []byte("\xff"), Wire: &http.Request{Method: "GET", URL: address}})
	g.Expect(recorder.Close(nil)).To(Succeed())
	zip, err := gzip.NewReader(&file)
	g.Expect(err).NotTo(HaveOccurred())
	text, err := io.ReadAll(zip)
	g.Expect(err).NotTo(HaveOccurred())
	open := func(text string) error {
		var packed bytes.Buffer
		zip := gzip.NewWriter(&packed)
		_, _ = io.WriteString(zip, text)
		_ = zip.Close()
		_, err := evidence.Open(&packed)
		return err
	}
	g.Expect(open(string(text))).To(Succeed())
	for _, changed := range []string{
		strings.Replace(string(text), `"status":500`, `"status":500,"Status":200`, 1), strings.Replace(string(text), `"status":500`, `"status": 500`, 1),
		strings.Replace(string(text), `"time":`, `"time":-`, 1), string(text) + "{}", string(text) + "{}\n",
		strings.Replace(string(text), "\n],", ",\n],", 1), strings.Replace(string(text), "\n],", "\n{}\n],", 1), strings.Replace(string(text), "\n],", "],", 1),
		strings.Replace(string(text), `"version":"1"`, `"version":"1","entries":[]`, 1), strings.Replace(string(text), `"_run":{`, `"_run":{"keys":{},`, 1),
		string(text[:len(text)-len("}}\n")]), "", "\n",
	} {
		g.Expect(changed).NotTo(Equal(string(text)))
		g.Expect(open(changed)).NotTo(Succeed())
	}
}

type transport func(*http.Request) (*http.Response, error)

func (f transport) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// Whatever the file holds, reading it ends, and a file that is no recording is refused.
func FuzzOpen(f *testing.F) {
	const head = `{"log":{"version":"1.2","creator":{"name":"a","version":"1"},"entries":[` + "\n"
	f.Add(head + `{"_spec":"a","request":{"method":"GET","url":"/"},"response":{"status":200,"content":{"text":"x"}}}` + "\n" + `],"_run":{}}}`)
	f.Add(head + `],"_run":{"keys":{},"settings":{},"decisions":7}}}`)
	f.Fuzz(func(t *testing.T, text string) {
		var packed bytes.Buffer
		zip := gzip.NewWriter(&packed)
		_, _ = io.WriteString(zip, text)
		_ = zip.Close()
		_, _ = evidence.Open(&packed)
		if _, err := evidence.Open(strings.NewReader(text)); err == nil {
			t.Error("what is not compressed was read")
		}
	})
}
