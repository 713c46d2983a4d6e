package runner

import (
	"context"
	"errors"
	"fmt"
	"time"

	"outreach.example/conformance/internal/client"
	"outreach.example/conformance/internal/outage"
)

// maxTimeouts is after how many timeouts in a row a run gives the target up. Each
// one may take the whole timeout, and its check is lost: a few are enough.
const maxTimeouts = 5

// newOutage returns a detector that ends the run. Anything that comes back, even
// a refused connection, interrupts a series of timeouts.
func newOutage(timeout time.Duration, giveUp context.CancelCauseFunc) *outage.Detector {
	return &outage.Detector{
		Limit:  maxTimeouts,
		Counts: func(err error) bool { return errors.Is(err, client.ErrTimeout) },
		Detail: fmt.Sprintf(" within %s each, so the run ended; see what keeps the server busy, or raise pace.timeout in the profile (--timeout)", timeout),
		GiveUp: giveUp,
	}
}
