// Package truth counts what the reference service really did: how many requests
// it answered, with which status, under which key, and how long each took. Load
// figures are proven against these numbers.
//
// Counting costs two map look-ups, a few atomic additions and two short locks a
// request. The package imports nothing of this module.
package truth

import (
	"cmp"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Request says what was answered, and to whom.
type Request struct {
	Operation string
	Status    int
	Key       string // name of the API key
}

// outcome is what a latency histogram is kept for: fewer than requests, since a
// histogram is large.
type outcome struct {
	operation string
	status    int
}

// table is the counts since one reset.
type table struct {
	since    time.Time
	requests sync.Map // Request → *total
	latency  sync.Map // outcome → *histogram
	arrivals arrivals
}

// total sums up the requests of one kind.
type total struct {
	count, sumNS, maxNS atomic.Int64
}

func (t *total) add(d time.Duration) {
	t.count.Add(1)
	t.sumNS.Add(int64(d))
	raise(&t.maxNS, int64(d))
}

// raise sets the maximum to v if v is larger.
func raise(maximum *atomic.Int64, v int64) {
	for {
		seen := maximum.Load()
		if v <= seen || maximum.CompareAndSwap(seen, v) {
			return
		}
	}
}

// Counters may be used concurrently. Make one with New.
type Counters struct {
	clock       func() time.Time
	current     atomic.Pointer[table]
	connections atomic.Int64
	inFlight    atomic.Int64
}

// New returns counters that have counted nothing.
func New(clock func() time.Time) *Counters {
	c := &Counters{clock: clock}
	c.Reset()
	return c
}

// Reset forgets all requests. Open connections and requests in flight are what
// they are; a request in flight counts when it ends.
func (c *Counters) Reset() { c.current.Store(&table{since: c.clock()}) }

// Connection counts connections that open (+1) and close (-1).
func (c *Counters) Connection(change int64) { c.connections.Add(change) }

// Begin counts a request that came at the given time as in flight until the
// function it returns is called, once, with what became of it and how long it
// took.
func (c *Counters) Begin(at time.Time) (end func(Request, time.Duration)) {
	c.inFlight.Add(1)
	c.current.Load().arrivals.arrived(at)
	return func(r Request, took time.Duration) {
		now := c.current.Load()
		now.arrivals.done(at.Add(took))
		entry[total](&now.requests, r).add(took)
		entry[histogram](&now.latency, outcome{r.Operation, r.Status}).add(took)
		c.inFlight.Add(-1)
	}
}

// entry returns the value of the key, which it makes if there is none.
func entry[V any](m *sync.Map, key any) *V {
	if v, ok := m.Load(key); ok {
		return v.(*V)
	}
	v, _ := m.LoadOrStore(key, new(V))
	return v.(*V)
}

// Report is the counts at one moment, in stable order.
type Report struct {
	Since           time.Time      `json:"since"`
	OpenConnections int64          `json:"open_connections"`
	InFlight        int64          `json:"in_flight"`
	Total           int64          `json:"total"`
	Memory          Memory         `json:"memory"`
	Requests        []RequestCount `json:"requests"`
	Latency         []Latency      `json:"latency"`
	Arrivals        Arrivals       `json:"arrivals"`
}

// RequestCount is how often, and for how long in all, one kind of request was answered.
type RequestCount struct {
	Operation string `json:"operation"`
	Status    int    `json:"status"`
	Key       string `json:"key"`
	Count     int64  `json:"count"`
	SumNS     int64  `json:"sum_ns"`
	MaxNS     int64  `json:"max_ns"`
}

// Latency is the distribution of the time from the arrival of a request's
// header to the end of its handler.
type Latency struct {
	Operation string   `json:"operation"`
	Status    int      `json:"status"`
	Count     int64    `json:"count"`
	Buckets   []Bucket `json:"buckets"` // ascending; only those that hold something
}

// Bucket counts the latencies of at least FromNS and less than ToNS. A bucket is
// at most 1/128 of its lower bound wide, or 1 µs.
type Bucket struct {
	FromNS int64 `json:"from_ns"`
	ToNS   int64 `json:"to_ns"`
	Count  int64 `json:"count"`
}

// Report returns the counts as they are now.
func (c *Counters) Report() Report {
	now := c.current.Load()
	r := Report{
		Since: now.since, OpenConnections: c.connections.Load(), InFlight: c.inFlight.Load(),
		Requests: []RequestCount{}, Latency: []Latency{}, Arrivals: now.arrivals.report(), Memory: readMemory(),
	}
	for k, v := range now.requests.Range {
		request, t := k.(Request), v.(*total)
		count := RequestCount{request.Operation, request.Status, request.Key, t.count.Load(), t.sumNS.Load(), t.maxNS.Load()}
		r.Requests = append(r.Requests, count)
		r.Total += count.Count
	}
	for k, v := range now.latency.Range {
		o, buckets := k.(outcome), v.(*histogram).buckets()
		latency := Latency{Operation: o.operation, Status: o.status, Buckets: buckets}
		for _, b := range buckets {
			latency.Count += b.Count
		}
		r.Latency = append(r.Latency, latency)
	}
	slices.SortFunc(r.Requests, func(a, b RequestCount) int {
		return cmp.Or(cmp.Compare(a.Operation, b.Operation), cmp.Compare(a.Status, b.Status), cmp.Compare(a.Key, b.Key))
	})
	slices.SortFunc(r.Latency, func(a, b Latency) int {
		return cmp.Or(cmp.Compare(a.Operation, b.Operation), cmp.Compare(a.Status, b.Status))
	})
	return r
}
