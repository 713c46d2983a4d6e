package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	. "github.com/onsi/gomega"
)

func TestCallersContext(t *testing.T) {
	hang := func(started chan<- struct{}) http.HandlerFunc {
		return func(_ http.ResponseWriter, r *http.Request) {
			close(started)
			<-r.Context().Done()
		}
	}
	t.Run("canceled while under way", func(t *testing.T) {
		g := NewWithT(t)
		ctx, cancel := context.WithCancel(t.Context())
		started := make(chan struct{})
		c := serve(t, Options{}, hang(started))
		go func() { <-started; cancel() }()
		g.Expect(c.Do(ctx, get("/")).Err).To(MatchError(ErrCanceled))
	})
	t.Run("canceled before", func(t *testing.T) {
		g := NewWithT(t)
		ctx, cancel := context.WithCancelCause(t.Context())
		why := errors.New("the user said so")
		cancel(why)
		c := newClient(t, Options{BaseURL: "http://host", Transport: roundTrip(nil)})
		e := c.Do(ctx, get("/"))
		g.Expect(e.Err).To(MatchError(ErrCanceled))
		g.Expect(e.Err).To(MatchError(why))
		g.Expect(c.Traffic().Requests).To(BeZero())
	})
	t.Run("canceled while all slots are taken", func(t *testing.T) {
		g := NewWithT(t)
		started, release := make(chan struct{}), make(chan struct{})
		c := serve(t, Options{Concurrency: 1}, func(http.ResponseWriter, *http.Request) { close(started); <-release })
		var holder sync.WaitGroup
		holder.Go(func() { c.Do(context.WithoutCancel(t.Context()), get("/")) })
		<-started
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(0, cancel)
		g.Expect(c.Do(ctx, get("/")).Err).To(MatchError(ErrCanceled))
		close(release)
		holder.Wait()
	})
}

func TestAllKeepsOrderAndBoundsConcurrency(t *testing.T) {
	g := NewWithT(t)
	const concurrency, requests = 4, 40
	var under, most atomic.Int32
	var once sync.Once
	full := make(chan struct{})
	c := serve(t, Options{Concurrency: concurrency}, func(w http.ResponseWriter, r *http.Request) {
		now := under.Add(1)
		defer under.Add(-1)
		for old := most.Load(); now > old && !most.CompareAndSwap(old, now); old = most.Load() {
		}
		if now == concurrency {
			once.Do(func() { close(full) })
		}
		<-full // the first requests wait until the bound is reached
		_, _ = io.WriteString(w, r.URL.Path)
	})
	reqs := make([]Request, requests)
	for i := range reqs {
		reqs[i] = get(fmt.Sprintf("/%d", i))
	}
	// Two concurrent lists share the client's bound.
	var both sync.WaitGroup
	var answers [2][]Exchange
	for i := range answers {
		both.Go(func() { answers[i] = c.All(t.Context(), reqs) })
	}
	both.Wait()
	for _, list := range answers {
		for i, e := range list {
			g.Expect(string(e.Body)).To(Equal(reqs[i].Path))
		}
	}
	g.Expect(most.Load()).To(BeEquivalentTo(concurrency))
	g.Expect(c.Traffic().Requests).To(Equal(2 * requests))
	g.Expect(c.All(t.Context(), nil)).To(BeEmpty())
}
