package generate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	. "github.com/onsi/gomega"

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
		"too late":    {Phase{Name: "p", Schedule: schedule.Constant(1, time.Hour), Mix: asking("/"), Start: time.Now().Add(-2 * time.Second)}, "should have started 2"},
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
