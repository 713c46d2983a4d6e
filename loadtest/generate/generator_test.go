package generate

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	. "github.com/onsi/gomega"
	vegeta "github.com/tsenart/vegeta/v12/lib"

	"outreach.example/conformance/internal/client"
	"outreach.example/conformance/internal/testbed"
	"outreach.example/conformance/loadtest/measure"
)

// network replaces the network and the target in the fake time of a synctest bubble.
// It notes when each request arrives.
type network struct {
	answer func(r *http.Request) // returns when the answer is due; nil for at once
	err    error                 // of each request

	mu       sync.Mutex
	came     []time.Time
	paths    []string
	inFlight int
	most     int // in flight at once
}

func (n *network) RoundTrip(r *http.Request) (*http.Response, error) {
	n.mu.Lock()
	n.came = append(n.came, time.Now())
	n.paths = append(n.paths, r.URL.RequestURI())
	n.inFlight++
	n.most = max(n.most, n.inFlight)
	n.mu.Unlock()
	if n.answer != nil {
		n.answer(r)
	}
	n.mu.Lock()
	n.inFlight--
	n.mu.Unlock()
	if err := cmp.Or(n.err, r.Context().Err()); err != nil {
		return nil, err
	}
	return &http.Response{StatusCode: 200, ContentLength: 2, Body: io.NopCloser(bytes.NewReader([]byte("{}")))}, nil
}

// since returns when the requests arrived, counted from the start.
func (n *network) since(start time.Time) []time.Duration {
	came := make([]time.Duration, len(n.came))
	for i, at := range n.came {
		came[i] = at.Sub(start)
	}
	slices.Sort(came)
	return came
}

// busiest returns the largest number of the sorted times in a window.
func busiest(times []time.Duration, window time.Duration) int {
	most, from := 0, 0
	for i := range times {
		for times[i]-times[from] >= window {
			from++
		}
		most = max(most, i-from+1)
	}
	return most
}

// inBubble returns a generator for the network that waits in fake time only.
func inBubble(t *testing.T, n *network, opts Options) *Generator {
	t.Helper()
	opts.BaseURL, opts.Transport = "http://target.example", n
	return newGenerator(t, opts, time.Sleep)
}

func newGenerator(t *testing.T, opts Options, fine func(time.Duration)) *Generator {
	t.Helper()
	opts.Sleep = fine
	g, err := New(opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(g.Close)
	return g
}

func asking(path string) Mix {
	return func(uint64) Request { return Request{Label: "test", Path: path} }
}

func constant(rate float64, d time.Duration) Phase {
	return Phase{Name: "test", Schedule: measure.Constant(rate, d), Mix: asking("/a")}
}

func run(t *testing.T, g *Generator, p Phase) measure.Recording {
	t.Helper()
	r, _, err := g.Run(context.Background(), p)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

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
		p := Phase{Name: "test", Mix: asking("/a"), Schedule: measure.Schedule{Segments: []measure.Segment{
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
		whole := measure.Constant(90, time.Second)
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

func TestMistakesInPhases(t *testing.T) {
	generator := newGenerator(t, Options{BaseURL: "http://127.0.0.1:1"}, fineSleep)
	for name, tc := range map[string]struct {
		phase Phase
		says  string
	}{
		"no schedule": {Phase{Name: "p", Mix: asking("/")}, "no segments"},
		"no slash":    {Phase{Name: "p", Schedule: measure.Constant(1, time.Hour), Mix: asking("@evil.example/")}, "slash"},
		"too late":    {Phase{Name: "p", Schedule: measure.Constant(1, time.Hour), Mix: asking("/"), Start: time.Now().Add(-2 * time.Second)}, "should have started 2"},
		"no address":  {Phase{Name: "p", Schedule: measure.Constant(1, time.Hour), Mix: asking("/%zz")}, "%zz"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			r, _, err := generator.Run(context.Background(), tc.phase)
			g.Expect(err).To(MatchError(ContainSubstring(tc.says)))
			g.Expect(r.Sent).To(BeZero())
		})
	}
}

var (
	_ vegeta.Pacer    = measure.Schedule{}
	_ vegeta.Pacer    = (*pacer)(nil)
	_ vegeta.Targeter = (*attack)(nil).Target
)

// Vegeta's workers may overtake each other between the number of a hit and the call
// of the targeter. Each result must still be about the request that was sent under
// its number, and be due when its number is.
func TestOvertakingWorkers(t *testing.T) {
	g := NewWithT(t)
	p := Phase{Schedule: measure.Constant(10, time.Second).Shard(1, 2), Mix: func(place uint64) Request {
		return Request{Label: strconv.FormatUint(place, 10), Path: "/"}
	}}
	a := newAttack(p, func(err error) { t.Error(err) })
	header := func(seq string) http.Header {
		var target vegeta.Target
		g.Expect(a.Target(&target)).To(Succeed())
		target.Header.Set(seqHeader, seq)
		return target.Header
	}
	first, second := header("1"), header("0") // the worker with number 1 calls first
	for _, sent := range []http.Header{second, first} {
		_, err := a.RoundTrip(&http.Request{URL: &url.URL{Host: "target.example"}, Header: sent})
		g.Expect(err).NotTo(HaveOccurred())
	}
	labels := map[uint64]string{}
	for _, seq := range []uint64{1, 0} {
		sent, _ := a.sent.Load(seq)
		a.add(&vegeta.Result{Seq: seq})
		h := sent.(*hit)
		labels[seq] = h.Label
		g.Expect(h.Seq).To(Equal(2*seq + 1))
		g.Expect(h.Due).To(Equal(time.Duration(2*seq+1) * 100 * time.Millisecond))
	}
	g.Expect(labels).To(Equal(map[uint64]string{1: "1", 0: "3"}), "number 1 called for the shard's first place")
	a.sent.Range(func(any, any) bool { t.Error("a hit was not recorded"); return false })
}

// A machine that is out of something ends the phase. It is no failure of the target.
func TestTheMachineRunsOut(t *testing.T) {
	g := NewWithT(t)
	p := Phase{Schedule: measure.Constant(10, time.Second), Mix: func(uint64) Request { return Request{Label: "list", Path: "/"} }}
	var ended error
	a := newAttack(p, func(err error) { ended = err })
	a.g.opts.Transport = &network{err: &net.OpError{Op: "dial", Err: os.NewSyscallError("connect", syscall.EADDRNOTAVAIL)}}
	var target vegeta.Target
	g.Expect(a.Target(&target)).To(Succeed())
	target.Header.Set(seqHeader, "0")
	_, err := a.RoundTrip(&http.Request{URL: &url.URL{Host: "target.example"}, Header: target.Header})
	g.Expect(err).To(HaveOccurred())
	a.add(&vegeta.Result{Seq: 0, Error: err.Error()})
	g.Expect(ended).To(MatchError(ContainSubstring("out of local ports")))
	g.Expect(a.recorder.Recording().Sent).To(BeZero())
}

func newAttack(p Phase, fail func(error)) *attack {
	g := &Generator{opts: Options{BaseURL: "http://target.example", Timeout: time.Minute, MaxBody: 1000, Transport: &network{}}}
	return &attack{Phase: p, g: g, start: time.Now(), fail: fail, requests: context.Background(), recorder: measure.NewRecorder("", time.Time{}, p.Schedule), monitor: g.OutageMonitor()}
}

// mute responds to no request that comes while dead returns true.
func mute(dead func(at time.Duration) bool) func(*http.Request) {
	began := time.Now()
	return func(r *http.Request) {
		if dead(time.Since(began)) {
			<-r.Context().Done()
		}
	}
}

// A phase of 8 hours ends soon after its target has stopped responding.
func TestADeadTargetIsGivenUp(t *testing.T) {
	const dies = time.Minute
	for name, tc := range map[string]struct {
		opts    Options
		silence time.Duration
	}{
		"a long time-out":      {Options{Timeout: 4 * time.Second}, outageTimeouts * 4 * time.Second},
		"a maximum of its own": {Options{Timeout: time.Second, MaxOutage: 3 * time.Second}, 3 * time.Second},
		"no free worker":       {Options{Timeout: 700 * time.Millisecond, Workers: 5}, leastMaxOutage},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := NewWithT(t)
				n := &network{answer: mute(func(at time.Duration) bool { return at >= dies })}
				r, _, err := inBubble(t, n, tc.opts).Run(context.Background(), constant(20, 8*time.Hour))
				var silent *client.Error
				g.Expect(errors.As(err, &silent)).To(BeTrue(), "%v", err)
				g.Expect(silent.For).To(BeNumerically("~", tc.silence, time.Second))
				g.Expect(r.Count(measure.Accepted)).To(BeEquivalentTo(20 * dies.Seconds()))
				g.Expect(r.Sent).To(BeEquivalentTo(len(n.came)))
				g.Expect(r.Dropped()).To(BeEquivalentTo(8*3600*20 - r.Sent))
			})
		})
	}
}

// A target that responds now and then is loaded to the end, and its outages are told.
func TestOutages(t *testing.T) {
	every := func(period, silent time.Duration) func(time.Duration) bool {
		return func(at time.Duration) bool { return at%period < silent }
	}
	within := func(from, to time.Duration) func(time.Duration) bool {
		return func(at time.Duration) bool { return at >= from && at < to }
	}
	for name, tc := range map[string]struct {
		rate  float64
		dead  func(at time.Duration) bool
		ended int64
		last  bool // the last one goes on to the end
	}{
		"hardly ever answers":      {20, every(9*time.Second, 8900*time.Millisecond), 66, true},
		"misses few, far between":  {0.02, within(3*time.Minute, 5*time.Minute), 0, false},
		"comes back":               {20, within(time.Minute, time.Minute+5*time.Second), 1, false},
		"dies just before the end": {20, within(9*time.Minute+55*time.Second, time.Hour), 0, true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := NewWithT(t)
				n := &network{answer: mute(tc.dead)}
				r, told, err := inBubble(t, n, Options{Timeout: time.Second}).Run(t.Context(), constant(tc.rate, 10*time.Minute))
				g.Expect(err).NotTo(HaveOccurred())
				g.Expect(r.Sent).To(Equal(r.Planned()))
				g.Expect(r.Failures[measure.FailureTimeout]).To(BeNumerically(">=", 1))
				g.Expect(told.Ended).To(BeEquivalentTo(tc.ended))
				g.Expect(told.Last != nil).To(Equal(tc.last))
			})
		})
	}
}

// roles are what the test binary does in a process of its own.
var roles = testbed.Roles{}

func TestMain(m *testing.M) { testbed.Main(m, roles) }
