package generate

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	vegeta "github.com/tsenart/vegeta/v12/lib"

	"outreach.example/conformance/loadtest/measure"
	"outreach.example/conformance/loadtest/schedule"
)

var (
	_ vegeta.Pacer    = schedule.Schedule{}
	_ vegeta.Pacer    = (*pacer)(nil)
	_ vegeta.Targeter = (*attack)(nil).Target
)

// Vegeta's workers may overtake each other between the number of a hit and the call
// of the targeter. Each result must still be about the request that was sent under
// its number, and be due when its number is.
func TestOvertakingWorkers(t *testing.T) {
	g := NewWithT(t)
	p := Phase{Schedule: schedule.Constant(10, time.Second).Shard(1, 2), Mix: func(place uint64) Request {
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

func newAttack(p Phase, fail func(error)) *attack {
	g := &Generator{opts: Options{BaseURL: "http://target.example", Timeout: time.Minute, MaxBody: 1000, Transport: &network{}}}
	return &attack{Phase: p, g: g, start: time.Now(), fail: fail, requests: context.Background(), recorder: measure.NewRecorder("", time.Time{}, p.Schedule), monitor: g.OutageMonitor()}
}
