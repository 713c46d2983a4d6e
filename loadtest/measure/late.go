package measure

import (
	"fmt"
	"time"

	"outreach.example/conformance/internal/printable"
)

// mostDisplaced is the share of the requests that may go out in another second than
// planned. Beyond it, the target got another load.
const mostDisplaced = 0.05

// Displaced returns the share of the requests that went out in another second than
// planned: the excess of the seconds in which more was sent than was due. Within a second
// the generator's pace spreads overdue requests.
func (r Recording) Displaced() float64 {
	var excess, asked int64
	for i := range max(len(r.Asked), len(r.SentIn)) {
		excess += max(nth(r.SentIn, i)-nth(r.Asked, i), 0)
		asked += nth(r.Asked, i)
	}
	if r.ClosedLoop || asked == 0 {
		return 0
	}
	return float64(excess) / float64(asked)
}

// OtherLoad describes how the requests that were sent differ from the requested load;
// empty if they do not, or hardly.
func (r Recording) OtherLoad() string {
	share := r.Displaced()
	if share <= mostDisplaced {
		return ""
	}
	return fmt.Sprintf("%.0f %% of the requests went out in another second than planned; the limit is %.0f %% (use an idle machine, a lower rate, a higher --concurrency, a longer --warmup for a cold target, or --lag-limit)",
		100*share, 100*mostDisplaced)
}

// SentLate reports whether the 99th percentile of the send lag is above its limit, and
// describes it.
func (r Recording) SentLate() (bool, string) {
	lag, limit := r.Lag.Value(0.99), r.LagLimit()
	if r.Sent == 0 || lag <= limit {
		return false, ""
	}
	return true, fmt.Sprintf("1 %% of the requests were sent %s or more after they were due; the limit is %s (use an idle machine, a lower rate, or a higher --concurrency)",
		printable.Milliseconds(lag), printable.Milliseconds(limit))
}

// WithoutLag returns the recording as if all requests had gone out in time: its response
// times are then the target's alone.
func (r Recording) WithoutLag() Recording {
	r.Lag = Histogram{}
	return r
}

// Latency estimates the p-quantile of the response times of the accepted requests, or of
// those with the label.
//
// If requests went out late, the latency that users would have seen lies between the
// service time and the response time: the lower end of the estimate allows for that. adds
// is what the generator adds to a service time. A generator that sends late also reads
// late, so it adds at least the lag.
func (r Recording) Latency(p float64, label string, adds time.Duration) Estimate {
	e := r.Label(label)[Accepted].Quantile(p)
	if late, _ := r.SentLate(); late && e.Samples > 0 {
		e.Low = min(e.Low, r.least(p, label, adds))
	}
	return e
}

// Slowest returns the longest response time of the accepted requests, or of those with
// the label, and the least that it may have been without the lag.
func (r Recording) Slowest(label string, adds time.Duration) (longest, least time.Duration) {
	longest = r.Label(label)[Accepted].Max()
	least = longest
	sent := r.Service[Accepted].Max()
	if label != "" {
		sent = longest - r.Lag.Max()
	}
	if late, _ := r.SentLate(); late {
		least = max(0, min(longest, sent-max(adds, r.Lag.Max())))
	}
	return longest, least
}

// least bounds the p-quantile of the latency from below. Whatever two quantities are, if
// one exceeds x only in a share e of the cases, then the p-quantile of their difference
// is at least the (p-e)-quantile of the other less x.
func (r Recording) least(p float64, label string, adds time.Duration) time.Duration {
	e := min((1-p)/10, 0.001)
	lag := r.Lag.Value(1 - e)
	from := r.Service[Accepted]
	added := max(adds, lag)
	if label != "" { // service times are not kept by label
		from = r.Label(label)[Accepted]
		added += lag
	}
	return max(0, from.Quantile(p-e).Low-added)
}
