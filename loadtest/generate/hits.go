package generate

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"

	vegeta "github.com/tsenart/vegeta/v12/lib"

	"outreach.example/conformance/loadtest/measure"
	"outreach.example/conformance/loadtest/schedule"
)

// The headers that Vegeta and hits.Target add to a request. The observer reads
// them and does not send them.
const (
	seqHeader    = "X-Vegeta-Seq"
	attackHeader = "X-Vegeta-Attack"
	placeHeader  = "X-Conformance-Place"
)

// hit is one request, from Vegeta's call of the targeter to Vegeta's result.
type hit struct {
	request Request
	measure.Sample
	attempts
	header http.Header // of the response; nil if there was none
}

// hits connects what the targeter filled with Vegeta's results.
//
// A result carries Vegeta's number of the hit. The targeter does not learn that
// number: a worker takes it first and calls the targeter later, so workers may
// overtake each other in between. The targeter therefore counts its own calls and
// writes its number, the place, into a header. The observer finds both numbers on
// the same request. From then on the hit is filed under Vegeta's number.
type hits struct {
	mix      Mix
	schedule schedule.Schedule
	base     string
	fail     func(error) // ends the phase
	calls    atomic.Uint64

	mu     sync.Mutex
	filled map[string]*hit // by place, until the observer sees the request
	sent   map[uint64]*hit // by Vegeta's number, until the result is recorded
}

func newHits(p Phase, base string, fail func(error)) *hits {
	return &hits{mix: p.Mix, schedule: p.Schedule, base: base, fail: fail, filled: map[string]*hit{}, sent: map[uint64]*hit{}}
}

// Target is the phase's vegeta.Targeter: it fills in the next request of the mix.
func (h *hits) Target(t *vegeta.Target) error {
	place := h.schedule.Seq(h.calls.Add(1) - 1)
	request := h.mix(place)
	if err := request.fill(t, h.base); err != nil {
		h.fail(err)
		return err
	}
	number := strconv.FormatUint(place, 10)
	t.Header[placeHeader] = []string{number}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.filled[number] = &hit{request: request}
	return nil
}

// send returns the hit of a request that is about to be sent, and files it
// under Vegeta's number.
func (h *hits) send(header http.Header) (*hit, error) {
	place := header.Get(placeHeader)
	seq, err := strconv.ParseUint(header.Get(seqHeader), 10, 64)
	if err != nil {
		return nil, fmt.Errorf("generate: Vegeta sent a request without a number: %w", err)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	found := h.filled[place]
	if found == nil {
		return nil, fmt.Errorf("generate: no target was filled for place %q", place)
	}
	delete(h.filled, place)
	h.sent[seq] = found
	return found, nil
}

// record returns the hit that the result is about, with the place in the
// schedule and the due time that belong to Vegeta's number. It returns nil and
// ends the phase if Vegeta did not send the request.
func (h *hits) record(r *vegeta.Result) *hit {
	h.mu.Lock()
	found := h.sent[r.Seq]
	delete(h.sent, r.Seq)
	h.mu.Unlock()
	if found == nil {
		h.fail(errors.New("generate: a request could not be sent: " + r.Error))
		return nil
	}
	found.Seq, found.Due, found.Label = h.schedule.Seq(r.Seq), h.schedule.Due(r.Seq), found.request.Label
	return found
}
