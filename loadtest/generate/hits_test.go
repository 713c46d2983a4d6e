package generate

import (
	"net/http"
	"strconv"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	vegeta "github.com/tsenart/vegeta/v12/lib"

	"outreach.example/conformance/loadtest/schedule"
)

var (
	_ vegeta.Pacer    = schedule.Schedule{}
	_ vegeta.Pacer    = (*pacer)(nil)
	_ vegeta.Targeter = (*hits)(nil).Target
)

// Vegeta's workers may overtake each other between the number of a hit and the call
// of the targeter. Each result must still be about the request that was sent under
// its number, and be due when its number is.
func TestOvertakingWorkers(t *testing.T) {
	g := NewWithT(t)
	p := Phase{Schedule: schedule.Constant(10, time.Second).Shard(1, 2), Mix: func(place uint64) Request {
		return Request{Label: strconv.FormatUint(place, 10), Path: "/"}
	}}
	h := newHits(p, "http://target.example", func(err error) { t.Error(err) })
	header := func(seq string) http.Header {
		var target vegeta.Target
		g.Expect(h.Target(&target)).To(Succeed())
		target.Header.Set(seqHeader, seq)
		return target.Header
	}
	first, second := header("1"), header("0") // the worker with number 1 calls first
	for _, sent := range []http.Header{second, first} {
		_, err := h.send(sent)
		g.Expect(err).NotTo(HaveOccurred())
	}
	one, zero := h.record(&vegeta.Result{Seq: 1}), h.record(&vegeta.Result{Seq: 0})
	g.Expect(one.Label).To(Equal("1"), "the shard's first place")
	g.Expect(one.Seq).To(BeEquivalentTo(3))
	g.Expect(one.Due).To(Equal(300 * time.Millisecond))
	g.Expect(zero.Label).To(Equal("3"))
	g.Expect(zero.Seq).To(BeEquivalentTo(1))
	g.Expect(zero.Due).To(Equal(100 * time.Millisecond))
	g.Expect(h.filled).To(BeEmpty())
	g.Expect(h.sent).To(BeEmpty())
}

// A request that Vegeta did not send ends the phase.
func TestResultsWithoutARequest(t *testing.T) {
	g := NewWithT(t)
	var failed error
	h := newHits(Phase{}, "", func(err error) { failed = err })
	g.Expect(h.record(&vegeta.Result{Error: "no such method"})).To(BeNil())
	g.Expect(failed).To(MatchError(ContainSubstring("no such method")))
	_, err := h.send(http.Header{})
	g.Expect(err).To(MatchError(ContainSubstring("without a number")))
	_, err = h.send(http.Header{seqHeader: {"0"}, placeHeader: {"0"}})
	g.Expect(err).To(MatchError(ContainSubstring("no target was filled")))
}
