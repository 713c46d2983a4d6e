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
	// Adds is the 99th percentile of the null server's service time: what this machine
	// and the generator add to that of another server.
	Adds time.Duration
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
	return r.SentLate()
}

// Near reports whether the recording's rate is near the generator's ceiling.
func (c Calibration) Near(r Recording) (bool, string) {
	asked := peak(r)
	if c.Ceiling <= 0 || asked <= NearCeiling*c.Ceiling {
		return false, ""
	}
	of := "" // the size is not known for the ceiling of another process
	if c.Bytes > 0 {
		of = fmt.Sprintf(" (responses of %d bytes)", c.Bytes)
	}
	return true, fmt.Sprintf("%.0f requests/s are near the ceiling of this generator, %.0f/s with a null server%s (stay below %.0f/s, or use more generators)",
		asked, c.Ceiling, of, NearCeiling*c.Ceiling)
}

// peak returns the highest rate that one second of the recording asked for.
func peak(r Recording) float64 {
	highest := 0.0
	for i, asked := range r.Asked {
		if length := min(time.Second, r.Duration-time.Duration(i)*time.Second); length > 0 {
			highest = max(highest, float64(asked)/length.Seconds())
		}
	}
	return highest
}
