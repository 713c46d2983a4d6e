package measure

import (
	"fmt"
	"time"

	"outreach.example/conformance/internal/printable"
)

// lagLimit returns the send lag above which a request is late: 1 ms, or 5 % of
// the median response time of the accepted requests if that is more. The p99 of
// the lag of a good run stays below it.
func (r Recording) lagLimit() time.Duration {
	const least, share = time.Millisecond, 20
	return max(least, r.Response[Accepted].value(0.5)/share)
}

// Late returns how many requests were sent more than lagLimit after they were
// due.
func (r Recording) Late() int64 { return r.Lag.above(r.lagLimit()) }

// SentLate describes the send lag if its 99th percentile is above the limit; it is empty
// otherwise.
func (r Recording) SentLate() string {
	lag, limit := r.Lag.Value(0.99), r.lagLimit()
	if lag <= limit {
		return ""
	}
	return fmt.Sprintf("1 %% of the requests were sent %s or more after they were due; the limit is %s (use an idle machine, a lower rate, or a higher --concurrency)",
		printable.Milliseconds(lag), printable.Milliseconds(limit))
}

// WithoutLag returns the recording as if all requests had gone out in time: its response
// times are then the target's alone.
func (r Recording) WithoutLag() Recording {
	r.Lag, r.Service = Histogram{}, r.Response
	return r
}

// mostDisplaced is the share of the requests that may go out in another second than
// planned. Beyond it, the target got another load.
const mostDisplaced = 0.05

// OtherLoad describes how the requests that were sent differ from the requested load: the
// share that went out in another second than planned, which is the excess of the seconds in
// which more was sent than was due. Within a second the generator's pace spreads overdue
// requests. It is empty if the share is small.
func (r Recording) OtherLoad() string {
	var excess int64
	for i, s := range r.Seconds {
		due := int64(0)
		if i < len(r.asked) {
			due = r.asked[i]
		}
		excess += max(s.Sent-due, 0)
	}
	share := float64(excess) / float64(r.Planned())
	if r.ClosedLoop() || share <= mostDisplaced {
		return ""
	}
	return fmt.Sprintf("%.0f %% of the requests went out in another second than planned; the limit is %.0f %% (use an idle machine, a lower rate, a higher --concurrency, a longer --warmup for a cold target, or --lag-limit)",
		100*share, 100*mostDisplaced)
}
