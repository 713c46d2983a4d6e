package lock

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"outreach.example/conformance/fixtures"
	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/fixtures/refserver"
	"outreach.example/conformance/internal/client"
	"outreach.example/conformance/internal/sandbox/journal"
	"outreach.example/conformance/spec"
)

var data = sync.OnceValues(func() (*dataset.Data, error) { return dataset.New(dataset.Options{Seed: 1, Rows: 60}) })

// server is a reference server, with something around it.
func server(t *testing.T, around func(http.Handler) http.Handler) string {
	t.Helper()
	set, err := data()
	if err != nil {
		t.Fatal(err)
	}
	service, err := refserver.New(set, refserver.Options{Middleware: []func(http.Handler) http.Handler{around}})
	if err != nil {
		t.Fatal(err)
	}
	running := httptest.NewServer(service.Handler())
	t.Cleanup(running.Close)
	return running.URL
}

func asItIs(next http.Handler) http.Handler { return next }

// run returns the lock of a run on the server, with its journal in the directory.
func run(t *testing.T, base, dir string) *Lock {
	t.Helper()
	api, err := client.New(client.Options{BaseURL: base})
	if err != nil {
		t.Fatal(err)
	}
	known := journal.NewRun()
	book, err := journal.Start(dir, known, base)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		api.Close()
		_ = book.Finish() // which a test may have done
	})
	return &Lock{Send: api.Do, Profile: profile.Embedded(), Journal: book, Run: known.ID}
}

func TestOneRunAtATime(t *testing.T) {
	g := NewWithT(t)
	base := server(t, asItIs)
	first, second := run(t, base, t.TempDir()), run(t, base, t.TempDir())
	g.Expect(first.Take(t.Context(), 0, nil)).To(BeEmpty())

	waited := ""
	other, err := second.Take(t.Context(), 0, func(other string) { waited = other })
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(other).To(Equal(first.own))
	g.Expect(waited).To(Equal(other), "that it waits is told")

	ctx, cancel := context.WithCancel(t.Context())
	_, err = second.Take(ctx, time.Hour, func(string) { cancel() })
	g.Expect(err).To(MatchError(client.ErrCanceled), "who waits can be interrupted")

	g.Expect(first.Release(t.Context())).To(Succeed())
	g.Expect(second.Take(t.Context(), 0, nil)).To(BeEmpty())
}

// A load run creates so many tests that its lock is not among the newest.
func TestLockUnderManyTests(t *testing.T) {
	g := NewWithT(t)
	base := server(t, asItIs)
	first, second := run(t, base, t.TempDir()), run(t, base, t.TempDir())
	g.Expect(first.Take(t.Context(), 0, nil)).To(BeEmpty())
	for i := range newestPages*50 + 1 {
		body, err := json.Marshal(fixtures.PlacementTest(rand.New(rand.NewPCG(1, 1)), fmt.Sprintf("conformance-load-%d", i)))
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(first.Send(t.Context(), first.request(spec.CreatePlacementTest, "", nil, body)).Status).To(Equal(200))
	}
	g.Expect(second.Take(t.Context(), 0, nil)).To(Equal(first.own))
}

// Where the search finds nothing, or is refused, the newest tests tell.
func TestLockWithoutSearch(t *testing.T) {
	g := NewWithT(t)
	base := server(t, func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Query().Has("search") {
				w.WriteHeader(http.StatusInternalServerError)
				return
			}
			next.ServeHTTP(w, r)
		})
	})
	first, second := run(t, base, t.TempDir()), run(t, base, t.TempDir())
	g.Expect(first.Take(t.Context(), 0, nil)).To(BeEmpty())
	g.Expect(second.Take(t.Context(), 0, nil)).To(Equal(first.own))
}

func TestProcessesOfOneRun(t *testing.T) {
	g := NewWithT(t)
	base, start := server(t, asItIs), time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	one, two, other := run(t, base, t.TempDir()), run(t, base, t.TempDir()), run(t, base, t.TempDir())
	one.Name, two.Name, other.Name = NameOf(7, start), NameOf(7, start.Local()), NameOf(8, start)
	g.Expect(one.Take(t.Context(), 0, nil)).To(BeEmpty())
	g.Expect(two.Take(t.Context(), 0, nil)).To(BeEmpty())
	g.Expect(other.Take(t.Context(), 0, nil)).To(BeElementOf(one.own, two.own))
	g.Expect(one.Release(t.Context())).To(Succeed())
	g.Expect(other.Take(t.Context(), 0, nil)).To(Equal(two.own), "the second process still runs")
}

func TestRenewedLock(t *testing.T) {
	g := NewWithT(t)
	base := server(t, asItIs)
	first, second := run(t, base, t.TempDir()), run(t, base, t.TempDir())
	g.Expect(first.Take(t.Context(), 0, nil)).To(BeEmpty())
	old := first.test
	first.renew(t.Context())
	g.Expect(first.test.id).NotTo(Equal(old.id))
	g.Expect(second.Take(t.Context(), 0, nil)).To(Equal(first.own))
}

// A lock is renewed until KeepAlive is stopped.
func TestKeptLock(t *testing.T) {
	g := NewWithT(t)
	created := make(chan struct{}, 100)
	base := server(t, func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			next.ServeHTTP(w, r)
			if r.Method == http.MethodPost {
				created <- struct{}{}
			}
		})
	})
	c := run(t, base, t.TempDir())
	g.Expect(c.Take(t.Context(), 0, nil)).To(BeEmpty())
	<-created
	stop := c.keepAlive(t.Context(), time.Millisecond)
	<-created
	<-created
	stop()
	g.Expect(c.Release(t.Context())).To(Succeed())
	ex := c.Send(t.Context(), c.request(spec.ListPlacementTests, "", map[string][]string{"search": {Prefix}}, nil))
	g.Expect(strings.Count(string(ex.Body), Prefix)).To(BeZero(), "the last one is gone, and so are those before")
}

func TestNoLockOnTargetWithoutTests(t *testing.T) {
	g := NewWithT(t)
	base := server(t, func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(http.StatusPaymentRequired)
		})
	})
	c := run(t, base, t.TempDir())
	g.Expect(c.Take(t.Context(), 0, nil)).To(BeEmpty())
	g.Expect(c.test.id).To(BeEmpty())
}

// An attempt that fails after the test was created is continued with the same test.
func TestTakeAfterAFailedAttempt(t *testing.T) {
	g := NewWithT(t)
	dir := t.TempDir()
	l := run(t, server(t, asItIs), dir)
	budget, spent := 1, errors.New("no more requests")
	l.Permit = func() error {
		if budget--; budget < 0 {
			return spent
		}
		return nil
	}
	_, err := l.Take(t.Context(), 0, nil)
	g.Expect(err).To(MatchError(spent))
	budget = 100
	g.Expect(l.Take(t.Context(), 0, nil)).To(BeEmpty())
	pending, err := journal.Find(dir)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(pending[0].Entries).To(HaveLen(1))
	g.Expect(l.Release(t.Context())).To(Succeed())
}

// What stands before a target may repeat a creation. All tests of the lock are deleted.
func TestReleaseDeletesRepeatedCreations(t *testing.T) {
	g := NewWithT(t)
	l := run(t, server(t, func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodPost {
				body, _ := io.ReadAll(r.Body)
				again := r.Clone(r.Context())
				r.Body, again.Body = io.NopCloser(bytes.NewReader(body)), io.NopCloser(bytes.NewReader(body))
				next.ServeHTTP(httptest.NewRecorder(), again)
			}
			next.ServeHTTP(w, r)
		})
	}), t.TempDir())
	g.Expect(l.Take(t.Context(), 0, nil)).To(BeEmpty())
	locks := func() int {
		ex := l.Send(t.Context(), l.request(spec.ListPlacementTests, "", map[string][]string{"search": {Prefix}}, nil))
		return strings.Count(string(ex.Body), Prefix)
	}
	g.Expect(locks()).To(Equal(2))
	g.Expect(l.Release(t.Context())).To(Succeed())
	g.Expect(locks()).To(BeZero())
}
