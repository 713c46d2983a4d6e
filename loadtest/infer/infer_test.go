package infer

import (
	"context"
	"errors"
	"math/rand/v2"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"outreach.example/conformance/fixtures/refserver/limiter"
	"outreach.example/conformance/loadtest/infer/family"
	"outreach.example/conformance/reports/load"
)

func run(t *testing.T, w *world, o Options, subjects ...Subject) load.Limiter {
	t.Helper()
	r, err := Run(context.Background(), w.wire(subjects...), o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestNoLimit(t *testing.T) {
	r := run(t, newWorld(1, limiter.Config{}, time.Millisecond), Options{MaxRequests: 600}, Others()...)
	if r.Verdict.Value != NoLimit || len(r.Layers) != 0 || r.Beyond == nil || r.Beyond.Burst < 250 {
		t.Errorf("verdict %+v, layers %v, beyond %+v", r.Verdict, r.Layers, r.Beyond)
	} else if !regexp.MustCompile(`^a burst of \d+ and [\d.,]+ requests/s for [\d.]+ s were accepted; a higher or slower limit would need more probing`).MatchString(r.Beyond.Why) {
		t.Errorf("what passed: %q", r.Beyond.Why)
	}
	if r.RetryAfter.Present.Value != "" || r.Scope.Value != "" || r.Recovery.Known {
		t.Errorf("something is said of a limiter that was not seen: %+v", r)
	}
}

// TestConcurrencyLimit: requests are refused only for being many at once.
func TestConcurrencyLimit(t *testing.T) {
	w := newWorld(1, limiter.Config{}, 2*time.Millisecond)
	w.jitter = 0.05
	var leaves []time.Time // of those that are being served
	w.decide = func(at time.Time, _ Subject) (bool, time.Duration) {
		busy := leaves[:0]
		for _, l := range leaves {
			if l.After(at) {
				busy = append(busy, l)
			}
		}
		leaves = busy
		if len(leaves) >= 20 {
			return false, 0
		}
		leaves = append(leaves, at.Add(time.Millisecond))
		return true, 0
	}
	r := run(t, w, Options{})
	if r.Verdict.Value != ConcurrencyLimited || r.Concurrency == nil || r.Concurrency.Low > 20 || r.Concurrency.High < 20 {
		t.Errorf("verdict %+v, concurrency %+v", r.Verdict, r.Concurrency)
	}
}

// TestQueue: excess requests are served one after the other.
func TestQueue(t *testing.T) {
	w := newWorld(1, limiter.Config{}, time.Millisecond)
	wire := w.wire()
	wire.Send = func(ctx context.Context, subjects []Subject) []Observation {
		seen := w.send(ctx, subjects)
		for i := range seen {
			seen[i].Received = seen[i].Received.Add(time.Duration(i) * 2 * time.Millisecond)
			if seen[i].Received.After(w.now) {
				w.now = seen[i].Received
			}
		}
		return seen
	}
	r, err := Run(context.Background(), wire, Options{MaxRequests: 1000})
	if err != nil || r.Verdict.Value != Queued || !strings.Contains(r.Verdict.Why, "/s: a queueing limiter") {
		t.Errorf("verdict %+v (%v)", r.Verdict, err)
	}
}

// TestWhatCannotBeExplainedIsNotGuessed: traffic of others, chance and nodes
// that count apart lead to no statement that is false.
func TestWhatCannotBeExplainedIsNotGuessed(t *testing.T) {
	for name, change := range map[string]func(w *world){
		"random shedding": func(w *world) {
			random := rand.New(rand.NewPCG(w.random.Uint64(), 1))
			w.decide = func(time.Time, Subject) (bool, time.Duration) { return random.Float64() < 0.7, 0 }
		},
		"three nodes that count apart": func(w *world) {
			var nodes []*limiter.Limiter
			for range 3 {
				nodes = append(nodes, limiter.New(w.config))
			}
			random := rand.New(rand.NewPCG(w.random.Uint64(), 2))
			w.decide = func(at time.Time, _ Subject) (bool, time.Duration) { return allow(nodes[random.IntN(3)], at) }
		},
		"others on the key": func(w *world) {
			l := limiter.New(w.config)
			random := rand.New(rand.NewPCG(w.random.Uint64(), 3))
			next := w.now
			w.decide = func(at time.Time, _ Subject) (bool, time.Duration) {
				for ; next.Before(at); next = next.Add(time.Duration(random.ExpFloat64() * 2e8)) {
					l.Decide(next)
				}
				return allow(l, at)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			told := 0
			for seed := range uint64(6) {
				w := newWorld(seed, mustParse(t, "fixed-window:20/1s"), time.Millisecond)
				change(w)
				r := run(t, w, Options{MaxTime: 30 * time.Second, Seed: seed})
				if len(r.Layers) > 0 && r.Layers[0].Kind.Value != "" && r.Layers[0].Kind.Value != string(family.Aligned) {
					told++
					t.Logf("seed %d: called a %s of %g in %g s", seed, r.Layers[0].Kind.Value, r.Layers[0].Limit.Value, r.Layers[0].Window.Value)
				}
			}
			if told > 0 {
				t.Errorf("%d of 6 were called something that they are not", told)
			}
		})
	}
}

func TestMissingSubjectsAreNamed(t *testing.T) {
	r := run(t, newWorld(2, mustParse(t, "fixed-window:10/1s"), time.Millisecond), Options{}, OtherWorkspace)
	for _, s := range r.Sharing {
		if s.Subject != string(OtherWorkspace) && (s.Shared.Value != "" || !strings.Contains(s.Shared.Why, needs[Subject(s.Subject)])) {
			t.Errorf("%s: %+v", s.Subject, s.Shared)
		}
		if s.Subject == string(OtherWorkspace) && s.Shared.Value != Separate {
			t.Errorf("%s: %+v", s.Subject, s.Shared)
		}
	}
	if r.Scope.Value != "" || len(r.Scope.OneOf) != 2 {
		t.Errorf("scope %+v, want workspace or key", r.Scope)
	}
}

func TestCancelEndsAtOnce(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	w := newWorld(2, mustParse(t, "fixed-window:10/1s"), time.Millisecond)
	o := Options{Log: func(step string) {
		if step == "recovery without requests" {
			cancel()
		}
	}}
	r, err := Run(ctx, w.wire(), o)
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("error %v", err)
	}
	for _, p := range r.Probes {
		if p.Phase == "recovery without requests" {
			t.Fatal("a request was sent after the end")
		}
	}
	if r.Verdict.Value != RateLimited || r.Total.Requests == 0 || r.Layers[0].Kind.Value != "" {
		t.Errorf("what was known is lost or more is claimed: %+v", r)
	}
}

// allow returns the parts of a limiter's decision that the tests need.
func allow(l *limiter.Limiter, at time.Time) (ok bool, retryAfter time.Duration) {
	d := l.Decide(at)
	return d.OK, d.RetryAfter
}

// world is a server with a limiter, and the network to it, on virtual time.
type world struct {
	now     time.Time
	random  *rand.Rand
	trip    time.Duration // round trip; each one varies
	jitter  float64       // by so much of it, upward
	outlier float64       // the share of round trips that take ten times as long
	config  limiter.Config
	members map[string]*limiter.Limiter
	decide  func(at time.Time, s Subject) (bool, time.Duration) // replaces config
	sent    atomic.Int64
}

func newWorld(seed uint64, config limiter.Config, trip time.Duration) *world {
	random := rand.New(rand.NewPCG(seed, 7))
	start := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(random.Int64N(int64(time.Hour))))
	return &world{now: start, random: random, trip: trip, jitter: 0.3, config: config, members: map[string]*limiter.Limiter{}}
}

func (w *world) wire(subjects ...Subject) Wire {
	return Wire{Send: w.send, Now: func() time.Time { return w.now }, Subjects: subjects,
		Sleep: func(ctx context.Context, d time.Duration) error {
			w.now = w.now.Add(d)
			return ctx.Err()
		}}
}

// send decides on the shots in the order of their arrival.
func (w *world) send(_ context.Context, subjects []Subject) []Observation {
	type flight struct {
		index   int
		arrives time.Time
	}
	seen := make([]Observation, len(subjects))
	flights := make([]flight, len(subjects))
	for i, subject := range subjects {
		seen[i] = Observation{Subject: subject, Sent: w.now}
		flights[i] = flight{i, w.now.Add(w.leg())}
	}
	for len(flights) > 0 {
		next := 0
		for i := range flights {
			if flights[i].arrives.Before(flights[next].arrives) {
				next = i
			}
		}
		f := flights[next]
		flights = append(flights[:next], flights[next+1:]...)
		o := &seen[f.index]
		w.answer(o, f.arrives)
		o.Received = f.arrives.Add(w.leg())
		if o.Received.After(w.now) {
			w.now = o.Received
		}
	}
	w.sent.Add(int64(len(subjects)))
	return seen
}

func (w *world) leg() time.Duration {
	leg := float64(w.trip) / 2 * (1 + w.jitter*w.random.Float64())
	if w.random.Float64() < w.outlier {
		leg *= 10
	}
	return time.Duration(leg)
}

func (w *world) answer(o *Observation, at time.Time) {
	o.Status, o.Header = http.StatusOK, http.Header{}
	if w.decide != nil {
		if ok, _ := w.decide(at, o.Subject); !ok {
			o.Status = http.StatusTooManyRequests
		}
		return
	}
	member, ok := w.members[w.member(o.Subject)]
	if !ok {
		member = limiter.New(w.config)
		w.members[w.member(o.Subject)] = member
	}
	d := member.Decide(at)
	if !d.OK {
		o.Status = http.StatusTooManyRequests
		if !w.config.NoRetryAfter {
			o.Header.Set("Retry-After", seconds(d.RetryAfter))
		}
	}
	if w.config.Headers {
		o.Header.Set("Ratelimit-Limit", strconv.Itoa(d.Limit))
		o.Header.Set("Ratelimit-Remaining", strconv.Itoa(d.Remaining))
		o.Header.Set("Ratelimit-Reset", seconds(d.Reset))
	}
}

func seconds(d time.Duration) string {
	return strconv.Itoa(int((d + time.Second - 1) / time.Second))
}

// member returns whose counter a subject uses in the world's scope.
func (w *world) member(s Subject) string {
	if s == OtherWorkspace {
		return "other"
	}
	separate := map[limiter.Scope][]Subject{
		limiter.PerKey: {OtherKey}, limiter.PerAddress: {OtherAddress}, limiter.PerOperation: {OtherOperation, OtherMethod},
	}
	for _, own := range separate[w.config.Scope] {
		if s == own {
			return string(s)
		}
	}
	return ""
}

// promising returns the result of probing a limiter whose refusals all carry
// the same Retry-After; an empty text keeps the real one.
func promising(t *testing.T, config, says string, o Options) load.Limiter {
	t.Helper()
	w := newWorld(2, mustParse(t, config), time.Millisecond)
	wire := w.wire(Others()...)
	wire.Send = func(ctx context.Context, subjects []Subject) []Observation {
		seen := w.send(ctx, subjects)
		for _, o := range seen {
			if says != "" && o.Header.Get("Retry-After") != "" {
				o.Header.Set("Retry-After", says)
			}
		}
		return seen
	}
	r, err := Run(context.Background(), wire, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestRetryAfterVerdict checks the verdict and the reason, which gives the
// promise and the outcome.
func TestRetryAfterVerdict(t *testing.T) {
	for name, tc := range map[string]struct {
		config, says string
		want, why    string
	}{
		"bucket in debt":            {"token-bucket:20/4s,count-refused", "", Honest, "a request was served"},
		"window":                    {"fixed-window:20/1s", "", Honest, "a request was served"},
		"a day":                     {"fixed-window:20/1s", "86400", TooLong, "it says 86,400 s, but a request was served after "},
		"a far date":                {"fixed-window:20/1s", "Wed, 21 Oct 2037 07:28:00 GMT", TooLong, "it says 367"},
		"nothing":                   {"fixed-window:20/1s", "0", TooShort, "it says 0 s, but requests were refused for another 0.9"},
		"a second, counting":        {"sliding-log:10/5s,count-refused", "1", "sometimes too short", "it says 1 s, but requests were refused for another "},
		"no Retry-After whatsoever": {"fixed-window:20/1s,no-retry-after", "", "", "no Retry-After was sent"},
		"what cannot be read":       {"fixed-window:20/1s", "abc", "", "its values cannot be parsed"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := promising(t, tc.config, tc.says, Options{MaxTime: 5 * time.Minute}).RetryAfter.Verdict
			if got.Value != tc.want || !strings.Contains(got.Why, tc.why) {
				t.Errorf("%+v, want %q: %s", got, tc.want, tc.why)
			}
		})
	}
}
