package measure

import (
	"fmt"
	"slices"
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
// The latency that users would have seen lies between the service time and the response
// time. So the lower ends of the estimate are without the generator's lag, and those of
// lagged are with it.
func (r Recording) Latency(p float64, label string) (e, lagged Estimate) {
	h := r.Label(label)[Accepted]
	e = h.Quantile(p)
	if p == 1 {
		e.Value, e.Open, e.above, e.aboveAlone = h.Max(), e.AtLeast, 0, 0
		e.Low, e.High, e.Alone.Low, e.Alone.High, e.Alone.Open = e.Value, e.Value, e.Value, e.Value, e.Open
	}
	lagged = e
	if r.Lag.Count() > 0 && e.Samples > 0 {
		e.Low = min(e.Low, r.least(p, label, e.above))
		e.Alone.Low = min(e.Alone.Low, r.least(p, label, e.aboveAlone))
	}
	return e, lagged
}

// least returns the p-quantile's least response time without the generator's lag, if so many
// requests took longer.
//
// A generator that sends late also reads late. So a service time is too long by a lag, too,
// though not by the lag of the same request. If all lags but a few are at most x, then all
// service times but as many are too long by at most x, whatever one has to do with the
// other. Each x gives such a bound; the largest counts. Requests that are not late count as
// sent in time.
func (r Recording) least(p float64, label string, above int64) time.Duration {
	from, times := r.Service[Accepted], time.Duration(1)
	if label != "" { // service times are not kept by label
		from, times = r.Label(label)[Accepted], 2
	}
	if from = from.covered(from.value(p)); from.count == 0 {
		return 0
	}
	var took []time.Duration
	var upTo []int64 // samples
	var all int64
	for value, count := range from.buckets.ForEachBucket {
		all += count
		took, upTo = append(took, max(time.Duration(value), from.min)), append(upTo, all)
	}
	least, few, limit := time.Duration(0), r.Late(), r.LagLimit()
	bound := func(x time.Duration) {
		switch rank := all - above - few; {
		case rank > 0 && rank == all:
			least = max(least, from.max-times*x) // which is exact
		case rank > 0:
			at, _ := slices.BinarySearch(upTo, rank)
			least = max(least, took[at]-times*x)
		}
	}
	bound(0)
	for lag, count := range r.Lag.buckets.ForEachBucket {
		if x := time.Duration(lag); x > limit {
			few -= count
			bound(x)
		}
	}
	return least
}
