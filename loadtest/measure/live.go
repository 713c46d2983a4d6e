package measure

import "time"

// Live holds the figures of a live view. They are cheap enough to read many
// times a second.
type Live struct {
	Planned int64
	Sent    int64
	Count   map[Class]int64
	Lag     time.Duration // 99th percentile of the send lag
	Last    Second        // the last whole second, without answers that are still pending
}

// Live returns the figures after the phase has run for the given time.
func (r *Recorder) Live(ran time.Duration) Live {
	var n [3]int64
	for i := range n {
		n[i] = r.response[i].Count()
	}
	l := Live{Planned: r.plan.Planned, Sent: r.sent, Count: counts(n)}
	if r.sent > 0 {
		l.Lag = r.lag.value(0.99)
	}
	if last := int(ran/time.Second) - 1; last >= 0 {
		l.Last = r.second(last)
	}
	return l
}
