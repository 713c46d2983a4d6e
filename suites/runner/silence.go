package runner

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"outreach.example/conformance/internal/client"
	"outreach.example/conformance/suites"
)

// silentFor is after how many requests in a row that had no answer in time a
// run gives the target up. Each may take the whole time-out, and whatever they
// were to judge is lost: a few are enough.
const silentFor = 5

// silence notices a target that has stopped answering.
type silence struct {
	mu      sync.Mutex
	inARow  int
	timeout time.Duration
	giveUp  context.CancelCauseFunc
	said    error // why the target was given up; nil if it was not
}

// hear takes note of what became of a request. Anything that comes back, were
// it a refused connection, ends the silence.
func (s *silence) hear(ex client.Exchange) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case errors.Is(ex.Err, client.ErrCanceled):
		return // by us, not by the target
	case !errors.Is(ex.Err, client.ErrTimeout):
		s.inARow = 0
		return
	}
	if s.inARow++; s.inARow < silentFor || s.said != nil {
		return
	}
	s.said = fmt.Errorf("%w: %d requests in a row had no answer within %s each, so the run was ended; see what keeps the server busy, or raise pace.timeout in the profile (--timeout)",
		suites.ErrStoppedAnswering, silentFor, s.timeout)
	s.giveUp(s.said)
}

// why returns why the target was given up; nil if it was not.
func (s *silence) why() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.said
}
