package client

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	. "github.com/onsi/gomega"
)

// throttling is a target on a fake clock. It rejects each key until a certain time.
type throttling struct {
	clock  *fakeClock
	mu     sync.Mutex
	until  map[string]time.Time // by Authorization; rejected before it
	header func(wait time.Duration) http.Header
	hits   map[string]int
}

func newThrottling(clock *fakeClock) *throttling {
	return &throttling{clock: clock, until: map[string]time.Time{}, hits: map[string]int{},
		header: func(wait time.Duration) http.Header {
			seconds := int((wait + time.Second - 1) / time.Second)
			return http.Header{"Retry-After": {strconv.Itoa(seconds)}}
		}}
}

func (s *throttling) RoundTrip(r *http.Request) (*http.Response, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := r.Header.Get("Authorization")
	s.hits[key]++
	now := s.clock.Now()
	if until := s.until[key]; now.Before(until) {
		return answer(http.StatusTooManyRequests, s.header(until.Sub(now))), nil
	}
	return answer(http.StatusOK, nil), nil
}

func (s *throttling) refuse(token string, d time.Duration) {
	s.until["Bearer "+token] = s.clock.Now().Add(d)
}

func (s *throttling) client(t *testing.T, opts Options) *Client {
	opts.BaseURL, opts.Transport, opts.Now, opts.Sleep = "http://host", s, s.clock.Now, s.clock.Sleep
	return newClient(t, opts)
}

var (
	mainKey  = Key{Name: "main", Token: "token-of-main"}
	otherKey = Key{Name: "other", Token: "token-of-other"}
)

func keyed(k Key) Request { return Request{Path: "/", Key: k} }

func TestThrottledRequestHonoursRetryAfter(t *testing.T) {
	g := NewWithT(t)
	clock := newFakeClock()
	target := newThrottling(clock)
	var observed []int
	c := target.client(t, Options{Observe: func(e Exchange) { observed = append(observed, e.Status) }})
	target.refuse(mainKey.Token, 7*time.Second)

	e := c.Do(t.Context(), keyed(mainKey))
	g.Expect(e.Err).NotTo(HaveOccurred())
	g.Expect(e.Status).To(Equal(http.StatusOK))
	g.Expect(e.Throttled).To(Equal(1))
	g.Expect(clock.total()).To(BeNumerically("~", 7*time.Second, time.Second))
	g.Expect(observed).To(Equal([]int{429, 200}))
	g.Expect(c.Traffic()).To(Equal(Traffic{Requests: 2, Statuses: map[int]int{429: 1, 200: 1}, Throttled: 1}))
}

// Without Retry-After, the waits double up to a bound. They follow from the seed.
func TestBackoffWithoutRetryAfter(t *testing.T) {
	g := NewWithT(t)
	slept := func(seed uint64) []time.Duration {
		clock := newFakeClock()
		target := newThrottling(clock)
		target.header = func(time.Duration) http.Header { return nil }
		target.refuse(mainKey.Token, 50*time.Second)
		g.Expect(target.client(t, Options{Seed: seed}).Do(t.Context(), keyed(mainKey)).Status).To(Equal(http.StatusOK))
		return clock.slept
	}
	waits := slept(1)
	for n, slept := range waits {
		full := min(maxWait, firstWait<<n)
		g.Expect(slept).To(And(BeNumerically(">=", full/2), BeNumerically("<=", full)), "wait %d", n)
	}
	g.Expect(len(waits)).To(BeNumerically(">", 5))
	g.Expect(slept(1)).To(Equal(waits))
	g.Expect(slept(2)).NotTo(Equal(waits))
}

func TestNoRetryReturnsThe429(t *testing.T) {
	g := NewWithT(t)
	clock := newFakeClock()
	target := newThrottling(clock)
	c := target.client(t, Options{})
	target.refuse(mainKey.Token, time.Minute)
	req := keyed(mainKey)
	req.NoRetry = true
	for range 3 { // the gate that the first one closes does not block the others
		e := c.Do(t.Context(), req)
		g.Expect(e.Err).NotTo(HaveOccurred())
		g.Expect(e.Status).To(Equal(http.StatusTooManyRequests))
	}
	g.Expect(target.hits["Bearer "+mainKey.Token]).To(Equal(3))
	g.Expect(clock.slept).To(BeEmpty())
	g.Expect(c.Traffic().Throttled).To(BeZero())
}

func TestThrottledForTooLong(t *testing.T) {
	t.Run("by time", func(t *testing.T) {
		g := NewWithT(t)
		clock := newFakeClock()
		target := newThrottling(clock)
		c := target.client(t, Options{MaxThrottle: time.Minute, Patience: time.Hour})
		target.refuse(mainKey.Token, time.Hour)
		target.header = func(time.Duration) http.Header { return nil }

		e := c.Do(t.Context(), keyed(mainKey))
		g.Expect(e.Err).To(MatchError(ErrThrottled))
		g.Expect(e.Status).To(Equal(http.StatusTooManyRequests))
		g.Expect(clock.total()).To(BeNumerically("<=", time.Minute))
		g.Expect(e.Throttled).To(BeNumerically(">", 0))

		// The operation is given up with this key: nothing is sent, now or later, and nothing waits.
		hits, waited := target.hits["Bearer "+mainKey.Token], clock.total()
		g.Expect(clock.Sleep(t.Context(), time.Hour)).To(Succeed())
		again := c.Do(t.Context(), keyed(mainKey))
		g.Expect(again.Err).To(MatchError(ErrThrottled))
		g.Expect(again.Status).To(BeZero())
		g.Expect(target.hits["Bearer "+mainKey.Token]).To(Equal(hits))
		g.Expect(clock.total()).To(Equal(waited + time.Hour))

		// Other keys and other operations are not affected.
		g.Expect(c.Do(t.Context(), keyed(otherKey)).Status).To(Equal(http.StatusOK))
		g.Expect(c.Do(t.Context(), Request{Operation: "other", Path: "/", Key: mainKey}).Status).To(Equal(http.StatusOK))
	})
	t.Run("by number of answers", func(t *testing.T) {
		g := NewWithT(t)
		target := newThrottling(newFakeClock())
		target.header = func(time.Duration) http.Header { return http.Header{"Retry-After": {"1"}} }
		c := target.client(t, Options{MaxThrottled: 3, MaxThrottle: time.Hour})
		target.refuse(mainKey.Token, time.Hour)
		e := c.Do(t.Context(), keyed(mainKey))
		g.Expect(e.Err).To(MatchError(ErrThrottled))
		g.Expect(e.Throttled).To(Equal(3))
		g.Expect(target.hits["Bearer "+mainKey.Token]).To(Equal(4))
	})
}

// While one request of a key waits, other requests of the key wait too. Requests of other keys
// do not.
func TestOne429HoldsBackTheKey(t *testing.T) {
	g := NewWithT(t)
	clock := newFakeClock()
	target := newThrottling(clock)
	target.refuse(mainKey.Token, 5*time.Second)
	asleep, wake := make(chan struct{}, 2), make(chan struct{})
	c := newClient(t, Options{BaseURL: "http://host", Concurrency: 1, Transport: target, Now: clock.Now,
		Sleep: func(ctx context.Context, d time.Duration) error {
			asleep <- struct{}{}
			<-wake
			return clock.Sleep(ctx, d)
		}})
	var waiting sync.WaitGroup
	waiting.Go(func() { c.Do(t.Context(), keyed(mainKey)) })
	<-asleep
	var held Exchange
	waiting.Go(func() { held = c.Do(t.Context(), keyed(mainKey)) })
	<-asleep
	// The only slot is free: a waiting request holds none.
	g.Expect(c.Do(t.Context(), keyed(otherKey)).Status).To(Equal(http.StatusOK))
	close(wake)
	waiting.Wait()
	g.Expect(held.Status).To(Equal(http.StatusOK))
	g.Expect(held.Throttled).To(BeZero(), "it was held back, not refused")
	g.Expect(target.hits["Bearer "+mainKey.Token]).To(Equal(3))
}

// A shorter wait does not end a pause sooner, nor does a response to a request that was in flight
// when the 429 came. A later one does.
func TestPause(t *testing.T) {
	g := NewWithT(t)
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	at := func(s int) time.Time { return start.Add(time.Duration(s) * time.Second) }
	p, req := newPauses(time.Minute, time.Hour), Request{Operation: "one", Key: mainKey}
	left := func(s int) time.Duration {
		wait, over := p.wait(req.pair(), at(s))
		g.Expect(over).NotTo(HaveOccurred())
		return wait
	}
	for s, wait := range []time.Duration{10 * time.Second, 2 * time.Second} {
		_, over := p.refuse(req, at(s), wait)
		g.Expect(over).NotTo(HaveOccurred())
	}
	g.Expect(left(1)).To(Equal(9 * time.Second))
	p.answered(req.pair(), at(0))
	g.Expect(left(1)).To(Equal(9 * time.Second))
	p.answered(req.pair(), at(2))
	g.Expect(left(2)).To(BeZero())
}

// A key spends its patience once, however many operations refuse it, and an operation once,
// however many keys it refuses. A pair that was answered keeps its own.
func TestPatienceIsSpentOnce(t *testing.T) {
	for name, tc := range map[string]struct {
		refused  []Request // one after another, each until it is given up
		answered bool      // other operations are, meanwhile
		waits    time.Duration
	}{
		"a key by two operations":                   {[]Request{{Operation: "one", Key: mainKey}, {Operation: "two", Key: mainKey}}, true, time.Minute},
		"a key by all operations":                   {[]Request{{Operation: "one", Key: mainKey}, {Operation: "works", Key: mainKey}}, false, time.Minute},
		"two keys by an operation":                  {[]Request{{Operation: "one", Key: mainKey}, {Operation: "one", Key: otherKey}}, true, time.Minute},
		"two keys by two operations":                {[]Request{{Operation: "one", Key: mainKey}, {Operation: "two", Key: otherKey}}, true, 2 * time.Minute},
		"an operation that answered the key before": {[]Request{{Operation: "one", Key: mainKey}, {Operation: "works", Key: mainKey}}, true, 2 * time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			clock := newFakeClock()
			refuses := true
			c := newClient(t, Options{BaseURL: "http://host", Patience: time.Hour, MaxThrottle: time.Minute, Now: clock.Now, Sleep: clock.Sleep,
				Transport: roundTrip(func(*http.Request) (*http.Response, error) {
					if refuses {
						return answer(http.StatusTooManyRequests, http.Header{"Retry-After": {"5"}}), nil
					}
					return answer(http.StatusOK, nil), nil
				})})
			works := func(operation string) {
				refuses = false
				g.Expect(c.Do(t.Context(), Request{Operation: operation, Path: "/", Key: mainKey}).Err).NotTo(HaveOccurred())
				refuses = true
			}
			works("works")
			began := clock.Now()
			for _, req := range tc.refused {
				req.Path = "/"
				g.Expect(c.Do(t.Context(), req).Err).To(MatchError(ErrThrottled))
				if tc.answered {
					works("another")
				}
			}
			g.Expect(clock.Now().Sub(began)).To(BeNumerically("~", tc.waits, 11*time.Second))
		})
	}
}

// A target that answers nothing but 429 is given up as a whole, whatever is requested.
func TestNothingBut429(t *testing.T) {
	for name, tc := range map[string]struct {
		provoked bool
		every    time.Duration // another key gets another response; 0 for never
		over     bool
	}{
		"to all":                     {over: true},
		"but for one response":       {every: 20 * time.Second},
		"as the caller has provoked": {provoked: true},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			clock := newFakeClock()
			target := newThrottling(clock)
			target.header = func(time.Duration) http.Header { return http.Header{"Retry-After": {"5"}} }
			target.refuse(mainKey.Token, time.Hour)
			c := target.client(t, Options{Patience: 50 * time.Second, MaxThrottle: time.Hour})
			began, other := clock.Now(), clock.Now()
			var err error
			for n := 0; err == nil && n < 100; n++ { // whatever the operation
				req := Request{Operation: strconv.Itoa(n), Path: "/", Key: mainKey, Provoked: tc.provoked}
				e, wait, again := c.once(t.Context(), req, 0)
				if err = e.Err; again {
					g.Expect(clock.Sleep(t.Context(), wait)).To(Succeed())
				}
				if tc.every > 0 && clock.Now().Sub(other) >= tc.every {
					other = clock.Now()
					g.Expect(c.Do(t.Context(), keyed(otherKey)).Err).NotTo(HaveOccurred())
				}
			}
			var all *AllThrottled
			g.Expect(errors.As(err, &all)).To(Equal(tc.over), "%v", err)
			if tc.over {
				g.Expect(all.Responses).To(Equal(11))
				g.Expect(clock.Now().Sub(began)).To(BeNumerically("~", 50*time.Second, 5*time.Second))
				hits := target.hits["Bearer "+otherKey.Token]
				g.Expect(c.Do(t.Context(), keyed(otherKey)).Err).To(MatchError(ErrThrottled))
				g.Expect(target.hits["Bearer "+otherKey.Token]).To(Equal(hits), "nothing more is sent")
			}
		})
	}
}

func TestRetryAfter(t *testing.T) {
	now := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	date := func(d time.Duration) string { return now.Add(d).Format(http.TimeFormat) }
	for _, tc := range []struct {
		name, value, date string
		want              time.Duration
		ok                bool
	}{
		{"absent", "", "", 0, false},
		{"seconds", "5", "", 5 * time.Second, true},
		{"spaces", " 5\t", "", 5 * time.Second, true},
		{"zero names no time", "0", "", 0, false},
		{"an hour", "3600", "", time.Hour, true},
		{"more than any integer", "99999999999999999999999999", "", farOff, true},
		{"negative", "-5", "", 0, false},
		{"fraction", "1.5", "", 0, false},
		{"word", "soon", "", 0, false},
		{"date", date(9 * time.Second), "", 9 * time.Second, true},
		{"date in the past", date(-time.Second), "", 0, false},
		{"date far away", date(time.Hour), "", time.Hour, true},
		{"the target's clock is an hour ahead", date(time.Hour + 9*time.Second), date(time.Hour), 9 * time.Second, true},
		{"the target's clock is an hour behind", date(-time.Hour + 9*time.Second), date(-time.Hour), 9 * time.Second, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, ok := retryAfter(http.Header{"Retry-After": {tc.value}, "Date": {tc.date}}, now)
			NewWithT(t).Expect([]any{got, ok}).To(Equal([]any{tc.want, tc.ok}))
		})
	}
}

func FuzzRetryAfter(f *testing.F) {
	for _, value := range []string{"", "0", "1", "30", "00031", "1e9", "-1", "Thu, 01 Jan 2026 00:00:10 GMT", "Thursday, 01-Jan-26 00:00:10 GMT"} {
		f.Add(value, "Thu, 01 Jan 2026 00:00:00 GMT")
	}
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	f.Fuzz(func(t *testing.T, value, date string) {
		d, ok := retryAfter(http.Header{"Retry-After": {value}, "Date": {date}}, now)
		if ok != (d > 0) || d < 0 || d > farOff {
			t.Fatalf("Retry-After %q, Date %q: %v, %v", value, date, d, ok)
		}
	})
}

// A pause is announced once, whoever waits for it; a short one never. What requests do
// adds up to nothing in the end.
func TestPausesAreAnnounced(t *testing.T) {
	g := NewWithT(t)
	clock := newFakeClock()
	target := newThrottling(clock)
	var mu sync.Mutex
	var waits []Wait
	doing, peak := map[Activity]int{}, map[Activity]int{}
	// The pauses may pass, on this clock, before the request of the other key is sent.
	c := target.client(t, Options{Concurrency: 4, RequestsPerSecond: 2, Patience: time.Hour,
		Waits: func(w Wait) {
			mu.Lock()
			defer mu.Unlock()
			waits = append(waits, w)
		},
		Doing: func(a Activity, key string, n int) {
			mu.Lock()
			defer mu.Unlock()
			doing[a] += n
			peak[a] = max(peak[a], doing[a])
		}})
	target.header = func(time.Duration) http.Header { return http.Header{"Retry-After": {"40"}} } // whoever is first
	target.refuse(mainKey.Token, 40*time.Second)
	for _, e := range c.All(t.Context(), []Request{keyed(mainKey), keyed(mainKey), keyed(otherKey)}) {
		g.Expect(e.Err).NotTo(HaveOccurred())
	}
	g.Expect(waits).NotTo(BeEmpty())
	g.Expect(waits[0]).To(Equal(Wait{Key: "main", For: maxWait, RetryAfter: "40"}), "the value as it came, and the pause as it is")
	g.Expect(len(waits)).To(BeNumerically("<=", 4), "not one for each request: %v", waits)

	waits, target.header = nil, func(time.Duration) http.Header { return nil }
	target.refuse(mainKey.Token, 200*time.Millisecond)
	g.Expect(c.Do(t.Context(), keyed(mainKey)).Err).NotTo(HaveOccurred())
	g.Expect(waits).To(BeEmpty())

	g.Expect(doing).To(HaveEach(0))
	g.Expect(peak).To(And(HaveKey(Sending), HaveKey(Throttled), HaveKey(Paced)))
}

func TestWaitSaysWhatItWaitsFor(t *testing.T) {
	g := NewWithT(t)
	g.Expect(Wait{Key: "main", For: 30 * time.Second, RetryAfter: "3600"}.String()).To(Equal(`waiting 30 s: the target answered 429 with Retry-After 3600 to the key "main"`))
	g.Expect(Wait{For: 1540 * time.Millisecond}.String()).To(Equal("waiting 1.5 s: the target answered 429 without Retry-After to requests without a key"))
	g.Expect(len(Wait{RetryAfter: strings.Repeat("9", 5000)}.String())).To(BeNumerically("<", 150), "the target chooses the value")
}
