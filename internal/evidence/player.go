package evidence

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"outreach.example/conformance/internal/client"
)

// signature tells the requests of a source apart. The program's own version is no part of it.
func signature(source string, r Request) string {
	h := sha256.New()
	fmt.Fprintf(h, "%q %s %s\n", source, r.Method, r.URL)
	for _, p := range r.Headers {
		if p.Name != "User-Agent" {
			fmt.Fprintf(h, "%s: %q\n", p.Name, p.Value)
		}
	}
	if r.PostData != nil {
		_, _ = io.WriteString(h, r.PostData.Text)
	}
	return string(h.Sum(nil))
}

// sending is one request of a client: the 429 that it waited out, and the end.
type sending struct {
	source, about string
	place         int
	exchanges     []client.Exchange
	sent, ended   time.Time
	arrived       bool          // a client has sent it again
	missed        bool          // others have waited for it in vain
	ready         chan struct{} // closed when its response may come
}

// Player answers requests from a recording. A response comes after all that came before it in the
// recorded run, and after all requests that had been sent by then. It is safe for concurrent use.
type Player struct {
	mu       sync.Mutex
	bySent   []*sending
	byEnd    []*sending
	frontier int                   // the first of bySent that is awaited
	head     int                   // the first of byEnd whose response has not come
	late     map[string]bool       // sources that others no longer wait for until they send again
	vain     int                   // number of missed requests that have not arrived since
	moved    time.Time             // when a request or a response came last
	queues   map[string][]*sending // by signature, by place
	clocks   map[string]*clock
	begins   map[string]time.Time // when a source sent its first request

	Run     Run
	Missing []string // requests that the recording does not have

	First, Last time.Time       // when the first request was sent, and the last response had come
	Agents      map[string]bool // User-Agent of the requests
}

// maxBodies bounds the different bodies of a recording, in bytes: they are kept in memory.
const maxBodies = 256 << 20

// Open reads a recording.
func Open(from io.Reader) (*Player, error) {
	p := &Player{queues: map[string][]*sending{}, late: map[string]bool{}, clocks: map[string]*clock{}, begins: map[string]time.Time{}, Agents: map[string]bool{}, moved: time.Now()}
	open, bodies := map[string]*sending{}, map[[sha256.Size]byte][]byte{} // those whose end has not come yet; equal bodies once
	kept := 0
	run, err := read(from, func(e Entry) error {
		ex, err := exchangeOf(e)
		if err != nil {
			return err
		}
		digest := sha256.Sum256(ex.Body)
		if bodies[digest] == nil {
			if kept += len(ex.Body); kept > maxBodies {
				return fmt.Errorf("different bodies have more than %d MiB: %w", maxBodies>>20, ErrTooLarge)
			}
			bodies[digest] = ex.Body
		}
		ex.Body = bodies[digest]
		sig := signature(e.Source, e.Request)
		at := fmt.Sprint(sig, e.Place)
		s := open[at]
		if s == nil {
			s = &sending{source: e.Source, place: e.Place, about: about(e.Source, e.Request), sent: ex.Sent, ready: make(chan struct{})}
			open[at] = s
		}
		s.exchanges = append(s.exchanges, ex)
		s.ended = ex.Sent.Add(ex.Took)
		if !ex.Sent.IsZero() && (p.First.IsZero() || ex.Sent.Before(p.First)) {
			p.First = ex.Sent
		}
		if !ex.Sent.IsZero() && s.ended.After(p.Last) {
			p.Last = s.ended
		}
		if len(p.Agents) < 10 {
			p.Agents[Header(e.Request.Headers).Get("User-Agent")] = true
		}
		if e.Note != nil && e.Note.WaitedOut {
			return nil
		}
		delete(open, at)
		p.byEnd = append(p.byEnd, s)
		p.queues[sig] = append(p.queues[sig], s)
		return nil
	})
	p.Run = run
	p.bySent = slices.Clone(p.byEnd)
	slices.SortStableFunc(p.bySent, func(a, b *sending) int { return a.sent.Compare(b.sent) })
	for _, s := range slices.Backward(p.bySent) {
		if !s.sent.IsZero() {
			p.begins[s.source] = s.sent
		}
	}
	slices.SortStableFunc(p.byEnd, func(a, b *sending) int { return a.ended.Compare(b.ended) })
	for _, q := range p.queues {
		slices.SortStableFunc(q, func(a, b *sending) int { return a.place - b.place })
	}
	return p, err
}

func exchangeOf(e Entry) (client.Exchange, error) {
	body, _, err := e.Response.Content.Body()
	ex := client.Exchange{Status: e.Response.Status, Header: Header(e.Response.Headers), Body: body, Sent: e.Started, Took: time.Duration(e.Time), Proto: e.Response.HTTPVersion}
	if ex.Status == 0 {
		ex.Header = nil
	}
	if n := e.Note; n != nil {
		ex.Truncated, ex.Reused, ex.AfterBody, ex.StaleConnection, ex.Malformed, ex.Throttled = n.Truncated, n.Reused, n.AfterBody, n.Stale, n.Malformed, n.Throttled
		if n.Kind != "" {
			ex.Err = client.Recalled(n.Kind, n.Error)
		}
		if n.Unsent {
			ex.Sent = time.Time{}
		}
	}
	return ex, err
}

// patience is how long responses wait for a request that the recording has and nobody sends, while
// nothing else goes on.
const patience = 200 * time.Millisecond

// mostVain is the number of requests from which nobody waits any more: the recording does not fit, and
// waiting for each of its requests could take hours.
const mostVain = 300

// Answer returns the exchanges that the recording has for the request. It is for
// client.Options.Replay.
func (p *Player) Answer(ctx context.Context, req client.Request, wire *http.Request) []client.Exchange {
	source := client.SourceOf(ctx)
	sent := requestOf(wire, req)
	p.mu.Lock()
	defer p.mu.Unlock()
	s := p.find(signature(source, sent), req.Place)
	if s == nil {
		p.Missing = append(p.Missing, about(source, sent))
		return []client.Exchange{{Err: client.Recalled("request", "the recording does not have the request "+about(source, sent)), Sent: p.First}}
	}
	if s.arrived, p.late[source] = true, false; s.missed {
		p.vain--
	}
	p.goOn()
	p.await(ctx, s)
	p.clock(source).reach(s.ended)
	return s.exchanges
}

func about(source string, r Request) string {
	return strings.TrimSpace(source + ": " + r.Method + " " + r.URL)
}

// await waits for the turn of the response. The caller holds the mutex.
func (p *Player) await(ctx context.Context, s *sending) {
	for {
		p.mu.Unlock()
		over := false
		select {
		case <-s.ready:
			over = true
		case <-ctx.Done():
			over = true
		case <-time.After(patience):
		}
		p.mu.Lock()
		if over {
			return
		}
		if p.head < len(p.byEnd) && time.Since(p.moved) >= patience {
			head := p.byEnd[p.head]
			p.miss(head) // the frontier may have passed it while its source was late
			for _, missed := range p.bySent[p.frontier:] {
				if missed.sent.Before(head.ended) {
					p.miss(missed)
				}
			}
			p.goOn()
		}
	}
}

// awaits reports whether others wait for the request. The caller holds the mutex.
func (p *Player) awaits(s *sending) bool {
	return !s.arrived && !p.late[s.source] && p.vain < mostVain
}

// miss ends the wait for the request. The caller holds the mutex.
func (p *Player) miss(s *sending) {
	if p.awaits(s) {
		s.missed, p.late[s.source] = true, true
		p.vain++
	}
}

// goOn lets all responses come that need not wait. The caller holds the mutex.
func (p *Player) goOn() {
	p.moved = time.Now()
	for ; p.head < len(p.byEnd); p.head++ {
		for p.frontier < len(p.bySent) && !p.awaits(p.bySent[p.frontier]) {
			p.frontier++
		}
		first := p.byEnd[p.head]
		if p.frontier < len(p.bySent) && p.bySent[p.frontier].sent.Before(first.ended) || p.awaits(first) {
			return
		}
		close(first.ready)
	}
}

// find takes the sending with the signature and the place, or else the first one with the
// signature; nil if there is none.
func (p *Player) find(sig string, place int) *sending {
	q := p.queues[sig]
	if len(q) == 0 {
		return nil
	}
	i := max(0, slices.IndexFunc(q, func(s *sending) bool { return s.place == place }))
	s := q[i]
	p.queues[sig] = slices.Delete(q, i, i+1)
	return s
}

// Left returns the requests of the recording that nobody has sent.
func (p *Player) Left() (left []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, s := range p.byEnd {
		if !s.arrived {
			left = append(left, s.about)
		}
	}
	return left
}

// Scheduler returns the scheduler of the source. It is for client.WithSchedulers.
func (p *Player) Scheduler(source string) client.Scheduler {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.clock(source)
}

func (p *Player) clock(source string) *clock {
	c := p.clocks[source]
	if c == nil {
		c = &clock{now: p.First, decided: p.Run.Decisions[source]}
		if begins, sends := p.begins[source]; sends {
			c.now = begins // it may set itself a time limit before its first request
		}
		p.clocks[source] = c
	}
	return c
}

// clock is the time as a source saw it: that of its last response, and of what it waited since.
type clock struct {
	mu      sync.Mutex
	now     time.Time
	decided map[string][]int
}

func (c *clock) reach(t time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if t.After(c.now) {
		c.now = t
	}
}

// Now returns the time.
func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// Sleep returns at once.
func (c *clock) Sleep(ctx context.Context, d time.Duration) error {
	c.reach(c.Now().Add(max(0, d)))
	return ctx.Err()
}

// Apart returns a clock for a wait beside others: a wait moves its own clock alone, a response all.
func (c *clock) Apart() client.Scheduler { return &apart{clock: c, now: c.Now()} }

// apart is the clock of a wait beside others of the source.
type apart struct {
	*clock
	now time.Time
}

// Now returns the time.
func (a *apart) Now() time.Time {
	if all := a.clock.Now(); all.After(a.now) {
		a.now = all
	}
	return a.now
}

// Sleep returns at once.
func (a *apart) Sleep(ctx context.Context, d time.Duration) error {
	a.now = a.Now().Add(max(0, d))
	return ctx.Err()
}

// Decide returns the choice of the recorded run.
func (c *clock) Decide(about string, choice int) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	if made := c.decided[about]; len(made) > 0 {
		choice = made[0]
		c.decided[about] = made[1:]
	}
	return choice
}
