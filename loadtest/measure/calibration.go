package measure

import (
	"fmt"
	"time"
)

// nearCeiling is the share of a generator's ceiling above which the generator
// affects the figures.
const nearCeiling = 0.8

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

// Near describes how near the recording's rate is to the generator's ceiling; empty if it
// is not.
func (c Calibration) Near(r Recording) string {
	asked := 0.0
	for _, g := range r.Plan.Segments {
		asked = max(asked, g.Rate/float64(max(r.Plan.Of, 1)))
	}
	if c.Ceiling <= 0 || asked <= nearCeiling*c.Ceiling {
		return ""
	}
	of := "" // the size is not known for the ceiling of another process
	if c.Bytes > 0 {
		of = fmt.Sprintf(" (responses of %d bytes)", c.Bytes)
	}
	return fmt.Sprintf("%.0f requests/s are near the ceiling of this generator, %.0f/s with a null server%s (stay below %.0f/s, or use more generators)",
		asked, c.Ceiling, of, nearCeiling*c.Ceiling)
}
