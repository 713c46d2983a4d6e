package generate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	. "github.com/onsi/gomega"

	"outreach.example/conformance/loadtest/inspect"
	"outreach.example/conformance/loadtest/measure"
	"outreach.example/conformance/loadtest/schedule"
)

// stall holds up every request that comes between two times, until the second.
func stall(from, until time.Duration) func(*http.Request) {
	began := time.Now()
	return func(*http.Request) {
		if at := time.Since(began); at >= from && at < until {
			time.Sleep(until - at)
		}
	}
}

func TestRequestsGoOutWhenTheyAreDue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		n := &network{}
		p := Phase{Name: "test", Mix: asking("/a"), Schedule: schedule.Schedule{Segments: []schedule.Segment{
			{Rate: 100, Duration: time.Second}, {Rate: 0, Duration: time.Second}, {Rate: 1000, Duration: time.Second},
		}}}
		r := run(t, inBubble(t, n, Options{}), p)
		came := n.since(r.Start)
		g.Expect(came).To(HaveLen(1100))
		for i, at := range came {
			g.Expect(at).To(Equal(p.Schedule.Due(uint64(i))))
		}
		g.Expect(r.Planned()).To(BeEquivalentTo(1100))
		g.Expect(r.Sent).To(BeEquivalentTo(1100))
		g.Expect(r.Lag.Max()).To(BeNumerically("<", time.Microsecond))
		g.Expect(r.Rate()).To(BeZero(), "a plan of several rates has none")
	})
}

// The requests that are due during a stall are sent, and their times contain the stall.
func TestAStallDoesNotHoldBackTheLoad(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		n := &network{answer: stall(200*time.Millisecond, 700*time.Millisecond)}
		r := run(t, inBubble(t, n, Options{}), constant(100, time.Second))
		g.Expect(r.Sent).To(BeEquivalentTo(100))
		g.Expect(r.Late()).To(BeZero())
		g.Expect(n.most).To(BeNumerically(">=", 49))
		response := r.Response[measure.Accepted]
		g.Expect(response.Count()).To(BeEquivalentTo(100))
		g.Expect(response.Max()).To(BeNumerically("~", 500*time.Millisecond, 10*time.Millisecond))
		why := cmp.Or(measure.Calibration{Ceiling: 1000}.Near(r), r.SentLate())
		g.Expect(why).To(BeEmpty())
	})
}

// With too few workers the loop is closed. The recording must show it.
func TestTooFewWorkersShow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		n := &network{answer: stall(200*time.Millisecond, 700*time.Millisecond)}
		r := run(t, inBubble(t, n, Options{Workers: 10}), constant(100, time.Second))
		g.Expect(n.most).To(Equal(10))
		g.Expect(r.Sent).To(BeEquivalentTo(len(n.came)))
		g.Expect(r.Late()).To(BeNumerically(">=", 39), "all that was due while the workers waited")
		g.Expect(r.Response[measure.Accepted].Max()).To(BeNumerically("~", 500*time.Millisecond, 10*time.Millisecond), "the times still count from when requests were due")
		why := cmp.Or(measure.Calibration{Ceiling: 1000}.Near(r), r.SentLate())
		g.Expect(why).To(ContainSubstring("after they were due"))
	})
}

func TestCatchingUpIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		n := &network{answer: stall(100*time.Millisecond, 300*time.Millisecond)}
		r := run(t, inBubble(t, n, Options{Workers: 20}), constant(1000, 2*time.Second))
		g.Expect(r.Late()).To(BeNumerically(">", 100), "there is something to catch up with")
		g.Expect(r.Sent).To(BeEquivalentTo(2000), "and it is caught up with")
		g.Expect(busiest(n.since(r.Start), 10*time.Millisecond)).To(BeNumerically("<=", 13)) // 1.3 × 10
	})
}

func TestADeadTargetIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		n := &network{answer: func(r *http.Request) { <-r.Context().Done() }}
		began := time.Now()
		r := run(t, inBubble(t, n, Options{Workers: 3, Timeout: 700 * time.Millisecond}), constant(100, time.Second))
		g.Expect(time.Since(began)).To(BeNumerically("<=", time.Second+DefaultLateTolerance+700*time.Millisecond+startupLead))
		g.Expect(n.most).To(Equal(3))
		g.Expect(r.Failures).To(Equal(map[string]int64{measure.FailureTimeout: r.Sent}))
		g.Expect(r.Sent).To(BeEquivalentTo(len(n.came)))
		g.Expect(r.Sent).To(BeNumerically("<", 12))
		g.Expect(r.Dropped()).To(Equal(100 - r.Sent))
		g.Expect(r.Response[measure.Accepted].Count()).To(BeZero())
	})
}

func TestInterruptedRunsKeepWhatTheyMeasured(t *testing.T) {
	cause := errors.New("Ctrl-C")
	for name, opts := range map[string]Options{"free workers": {}, "no free worker": {Workers: 1}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := NewWithT(t)
				// One request never gets a response.
				n := &network{answer: func(r *http.Request) {
					if r.URL.Path == "/29" {
						<-r.Context().Done()
					}
				}}
				p := constant(100, time.Hour)
				p.Mix = func(seq uint64) Request { return Request{Path: "/" + strconv.FormatUint(seq, 10)} }
				ctx, cancel := context.WithCancelCause(context.Background())
				time.AfterFunc(startupLead+299*time.Millisecond, func() { cancel(cause) })
				began := time.Now()
				r, _, err := inBubble(t, n, opts).Run(ctx, p)
				g.Expect(err).To(MatchError(cause))
				g.Expect(time.Since(began)).To(BeNumerically("<", 2*time.Second))
				g.Expect(r.Sent).To(BeEquivalentTo(30))
				g.Expect(r.Count(measure.Accepted)).To(BeEquivalentTo(29))
				g.Expect(r.Failures).To(Equal(map[string]int64{measure.FailureOther: 1}))
			})
		})
	}
}

// A phase can be interrupted while it waits for its start.
func TestInterruptedBeforeItsStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		n := &network{}
		p := constant(10, time.Second)
		p.Start = time.Now().Add(time.Hour)
		cause := errors.New("Ctrl-C")
		ctx, cancel := context.WithCancelCause(context.Background())
		time.AfterFunc(time.Minute, func() { cancel(cause) })
		began := time.Now()
		r, _, err := inBubble(t, n, Options{}).Run(ctx, p)
		g.Expect(err).To(And(MatchError(cause), MatchError(ContainSubstring("did not run to its end"))))
		g.Expect(time.Since(began)).To(Equal(time.Minute))
		g.Expect(r.Sent).To(BeZero())
		g.Expect(n.came).To(BeEmpty())
	})
}

func TestStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		n := &network{}
		generator := inBubble(t, n, Options{})
		p := constant(10, time.Second)
		p.Start = time.Now().Add(3 * time.Second).Round(0) // as another machine says it
		r := run(t, generator, p)
		g.Expect(n.since(p.Start)[0]).To(BeZero())
		g.Expect(r.Start).To(Equal(p.Start))

		p.Start = time.Now().Add(-2 * time.Second)
		_, _, err := generator.Run(context.Background(), p)
		g.Expect(err).To(MatchError(ContainSubstring("2s ago")))

		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		p.Start = time.Now().Add(time.Hour)
		_, _, err = generator.Run(ctx, p)
		g.Expect(err).To(MatchError(context.Canceled))
		g.Expect(n.came).To(HaveLen(10), "nothing was sent")
	})
}

// Together, shards send the requests of the whole schedule, at the same times.
func TestShardsAddUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		whole := schedule.Constant(90, time.Second)
		start := time.Now().Add(time.Second)
		n := &network{}
		var running sync.WaitGroup
		for i := range 4 {
			generator := inBubble(t, n, Options{})
			p := Phase{Name: "test", Schedule: whole.Shard(i, 4), Start: start,
				Mix: func(seq uint64) Request { return Request{Path: "/" + strconv.FormatUint(seq, 10)} }}
			running.Go(func() { run(t, generator, p) })
		}
		running.Wait()
		came := n.since(start)
		g.Expect(came).To(HaveLen(90))
		var wanted []string
		for i, at := range came {
			g.Expect(at).To(Equal(whole.Due(uint64(i))))
			wanted = append(wanted, fmt.Sprintf("/%d", i))
		}
		g.Expect(n.paths).To(ConsistOf(wanted))
	})
}

func TestWarmupsAreNeitherInspectedNorRaw(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		n := &network{}
		raw := &strings.Builder{}
		generator := inBubble(t, n, Options{Raw: raw})
		inspected := make(chan inspect.Answer, 100)
		take := func(a inspect.Answer) { inspected <- a }
		warm, counted := constant(10, time.Second), constant(20, time.Second)
		warm.Name, warm.Warmup, warm.Inspect, warm.Mix = "warm-up", true, take, asking("/warm")
		counted.Inspect = take
		for _, p := range []Phase{warm, counted} {
			_, _, err := generator.Run(context.Background(), p)
			g.Expect(err).NotTo(HaveOccurred())
		}
		g.Expect(inspected).To(HaveLen(20))
		g.Expect(raw.String()).NotTo(ContainSubstring("warm"))
		g.Expect(n.paths).To(HaveLen(30))
		g.Expect(slices.Contains(n.paths, "/warm")).To(BeTrue())
	})
}

func TestTheLiveViewIsFed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		n := &network{answer: func(*http.Request) { time.Sleep(55 * time.Millisecond) }}
		generator := inBubble(t, n, Options{})
		var latest atomic.Pointer[Live]
		time.AfterFunc(505*time.Millisecond, func() {
			l := latest.Load()
			g.Expect(l.Phase).To(Equal("test"))
			g.Expect(l.Duration).To(Equal(time.Second))
			g.Expect(l.Planned).To(BeEquivalentTo(100))
			g.Expect(l.InFlight).To(BeNumerically("~", 5.5, 1))
			g.Expect(l.Sent).To(BeNumerically("~", 45, 5))
		})
		p := constant(100, time.Second)
		p.Live = func(l Live) { latest.Store(&l) }
		run(t, generator, p)
		g.Expect(latest.Load().Sent).To(BeEquivalentTo(100))
		g.Expect(latest.Load().InFlight).To(BeZero())
	})
}

func TestMistakesInPhases(t *testing.T) {
	generator := newGenerator(t, Options{BaseURL: "http://127.0.0.1:1"}, fineSleep)
	for name, tc := range map[string]struct {
		phase Phase
		says  string
	}{
		"no schedule": {Phase{Name: "p", Mix: asking("/")}, "no segments"},
		"no slash":    {Phase{Name: "p", Schedule: schedule.Constant(1, time.Hour), Mix: asking("@evil.example/")}, "slash"},
		"no address":  {Phase{Name: "p", Schedule: schedule.Constant(1, time.Hour), Mix: asking("/%zz")}, "%zz"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			r, _, err := generator.Run(context.Background(), tc.phase)
			g.Expect(err).To(MatchError(ContainSubstring(tc.says)))
			g.Expect(r.Sent).To(BeZero())
		})
	}
}

func TestMistakesInOptions(t *testing.T) {
	for name, tc := range map[string]struct {
		opts Options
		says string
	}{
		"address": {Options{BaseURL: "target.example"}, "base address"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := New(tc.opts)
			NewWithT(t).Expect(err).To(MatchError(ContainSubstring(tc.says)))
		})
	}
}
