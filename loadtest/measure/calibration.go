package measure

import (
	"fmt"
	"time"
)

// NearCeiling is the share of a generator's ceiling above which the generator
// affects the figures.
const NearCeiling = 0.8

// Calibration is what a generator could do on its machine, measured with a null
// server there.
type Calibration struct {
	Ceiling float64       // highest requests per second with the null server on the same machine
	Rate    float64       // requests per second at which the rest was measured
	Lag     Estimate      // 99th percentile of the send lag
	CPU     time.Duration // processor time of one request; 0 if the system does not report it
	// Shared is true if the null server ran in this process. CPU then includes its
	// share, and the ceiling is lower.
	Shared bool
	Bytes  int // of a response's body
}

// Limits reports whether the generator affected the figures of the recording, and
// why: the rate was near its ceiling, or it sent late.
func (c Calibration) Limits(r Recording) (bool, string) {
	if near, why := c.Near(r); near {
		return true, why
	}
	return Late(r)
}

// Near reports whether the recording's rate is near the generator's ceiling.
func (c Calibration) Near(r Recording) (bool, string) {
	asked := peak(r)
	if c.Ceiling <= 0 || asked <= NearCeiling*c.Ceiling {
		return false, ""
	}
	of := "" // the size is not known for the ceiling of another process
	if c.Bytes > 0 {
		of = fmt.Sprintf(" (answers of %d bytes)", c.Bytes)
	}
	return true, fmt.Sprintf("%.0f requests/s are near the ceiling of this generator, %.0f/s with a null server%s (stay below %.0f/s, or use more generators)",
		asked, c.Ceiling, of, NearCeiling*c.Ceiling)
}

// Late reports whether the 99th percentile of the send lag is above its
// limit, and describes it.
func Late(r Recording) (bool, string) {
	const shown = 10 * time.Microsecond
	lag, limit := r.Lag.Quantile(0.99).Value, r.LagLimit()
	if r.Sent == 0 || lag <= limit {
		return false, ""
	}
	return true, fmt.Sprintf("1 %% of the requests were sent more than %s after they were due; the limit is %s (use an idle machine, a lower rate, a higher --concurrency, or --lag-limit)",
		lag.Round(shown), limit.Round(shown))
}

// peak returns the highest rate that one second of the recording asked for.
func peak(r Recording) float64 {
	highest := 0.0
	for _, second := range r.Series {
		if length := min(time.Second, r.Duration-time.Duration(second.At)*time.Second); length > 0 {
			highest = max(highest, float64(second.Asked)/length.Seconds())
		}
	}
	return highest
}
