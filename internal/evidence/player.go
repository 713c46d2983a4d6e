package evidence

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/gzip"

	"outreach.example/conformance/internal/client"
	"outreach.example/conformance/internal/har"
)

// packed is a compressed body: those of a run take more memory than the run itself.
type packed []byte

// packer packs equal bodies once, by their digests.
type packer map[[sha256.Size]byte]packed

func (p packer) pack(body []byte) packed {
	if len(body) == 0 {
		return nil
	}
	digest := sha256.Sum256(body)
	if p[digest] == nil {
		var out bytes.Buffer
		w, _ := flate.NewWriter(&out, flate.BestSpeed) // the level is valid
		_, _ = w.Write(body)                           // a buffer takes all
		_ = w.Close()
		p[digest] = bytes.Clone(out.Bytes())
	}
	return p[digest]
}

func (p packed) unpack() []byte {
	if p == nil {
		return nil
	}
	body, _ := io.ReadAll(flate.NewReader(bytes.NewReader(p))) // pack wrote it
	return body
}

// signature tells the requests of a source apart. The program's own version is no part of it.
func signature(source string, r har.Request) string {
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
	source, about  string
	place          int
	exchanges      []client.Exchange // without their bodies
	bodies         []packed
	ended          time.Time
	given, skipped bool
}

// Player answers requests from a recording, in the order in which the responses came. It is
// safe for concurrent use.
type Player struct {
	mu      sync.Mutex
	order   []*sending            // by their end
	queues  map[string][]*sending // by signature, by place
	head    int                   // the first of order that is neither given nor skipped
	turn    chan struct{}         // closed when the head moves
	moved   time.Time             // when the head moved last
	arrived map[string]int        // requests that came, by source
	begin   time.Time
	clocks  map[string]*clock
	decided map[string]map[string][]int // by source and what is decided

	Run     Run
	Missing []string // requests that the recording does not have
}

// Open reads a recording.
func Open(from io.Reader) (*Player, error) {
	zip, err := gzip.NewReader(from)
	if err != nil {
		return nil, fmt.Errorf("not a compressed HTTP archive: %w (run --evidence writes one)", err)
	}
	p := &Player{queues: map[string][]*sending{}, turn: make(chan struct{}), arrived: map[string]int{}, clocks: map[string]*clock{},
		decided: map[string]map[string][]int{}, moved: time.Now()}
	open := map[string]*sending{} // whose end has not come yet
	packs := packer{}
	err = har.Read(io.LimitReader(zip, maxSize), func(e har.Entry) error {
		if len(p.order) >= maxEntries {
			return fmt.Errorf("the archive has more than %d entries", maxEntries)
		}
		ex, err := exchangeOf(e)
		if err != nil {
			return err
		}
		sig := signature(e.Source, e.Request)
		at := fmt.Sprint(sig, e.Place)
		s := open[at]
		if s == nil {
			s = &sending{source: e.Source, place: e.Place, about: e.Source + ": " + e.Request.Method + " " + e.Request.URL}
			open[at] = s
		}
		s.bodies = append(s.bodies, packs.pack(ex.Body))
		ex.Body = nil
		s.exchanges = append(s.exchanges, ex)
		s.ended = ex.Sent.Add(ex.Took)
		if e.Note != nil && e.Note.WaitedOut {
			return nil
		}
		delete(open, at)
		p.order = append(p.order, s)
		p.queues[sig] = append(p.queues[sig], s)
		if first := s.exchanges[0].Sent; !first.IsZero() && (p.begin.IsZero() || first.Before(p.begin)) {
			p.begin = first
		}
		return nil
	}, func(member string, value json.RawMessage) error {
		switch member {
		case aboutRun:
			return json.Unmarshal(value, &p.Run)
		case decisions:
			return json.Unmarshal(value, &p.decided)
		}
		return nil
	})
	slices.SortStableFunc(p.order, func(a, b *sending) int { return a.ended.Compare(b.ended) })
	for _, q := range p.queues {
		slices.SortStableFunc(q, func(a, b *sending) int { return a.place - b.place })
	}
	return p, err
}

func exchangeOf(e har.Entry) (client.Exchange, error) {
	body, _, err := e.Response.Content.Body()
	ex := client.Exchange{Status: e.Response.Status, Header: har.Header(e.Response.Headers), Body: body, Sent: e.Started, Took: time.Duration(e.Time), Proto: e.Response.HTTPVersion}
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

// Bounds of a recording, which anybody may have written.
const (
	maxSize    = 1 << 30 // bytes, uncompressed
	maxEntries = 200_000
)

const (
	// patience is how long responses wait for a request that the recording has and nobody sends.
	patience = 100 * time.Millisecond
	// grace is how long a source has to send its next request before another one gets its response.
	grace = 200 * time.Microsecond
)

// Answer returns the exchanges that the recording has for the request. It is for
// client.Options.Replay.
func (p *Player) Answer(ctx context.Context, req client.Request, wire *http.Request) []client.Exchange {
	source := client.SourceOf(ctx)
	sent := requestOf(wire, req.Body)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.arrived[source]++
	s := p.find(signature(source, sent), req.Place)
	if s == nil {
		about := source + ": " + sent.Method + " " + sent.URL
		p.Missing = append(p.Missing, about)
		return []client.Exchange{{Err: client.Recalled("request", "the recording does not have the request "+about), Sent: p.begin}}
	}
	for p.order[p.head] != s && !s.skipped {
		turn := p.turn
		p.mu.Unlock()
		select {
		case <-turn:
		case <-time.After(patience):
		}
		p.mu.Lock()
		if time.Since(p.moved) > patience {
			p.order[p.head].skipped = true
			p.next()
		}
	}
	s.given = true
	p.clock(source).reach(s.ended)
	before := p.arrived[source]
	go func() {
		for until := time.Now().Add(grace); time.Now().Before(until) && !p.wentOn(source, before); {
			time.Sleep(20 * time.Microsecond)
		}
		p.mu.Lock()
		defer p.mu.Unlock()
		p.next()
	}()
	all := slices.Clone(s.exchanges)
	for i := range all {
		all[i].Body = s.bodies[i].unpack()
	}
	return all
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

func (p *Player) wentOn(source string, before int) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.arrived[source] > before
}

// next moves the head. The caller holds the mutex.
func (p *Player) next() {
	for p.head < len(p.order)-1 && (p.order[p.head].given || p.order[p.head].skipped) {
		p.head++
	}
	p.moved = time.Now()
	close(p.turn)
	p.turn = make(chan struct{})
}

// Left returns the requests of the recording that nobody has sent.
func (p *Player) Left() (left []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, s := range p.order {
		if !s.given && s.source != client.Renewal {
			left = append(left, strings.TrimSpace(s.about))
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
		c = &clock{now: p.begin, decided: p.decided[source]}
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

// Replayed returns true.
func (c *clock) Replayed() bool { return true }

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
