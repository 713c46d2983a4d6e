package scenario

import (
	"fmt"
	"time"

	"outreach.example/conformance/loadtest/infer"
)

// ThrottledError means that the target answered a key only with 429 before the
// load, for as long as the run waits. Nothing was measured.
type ThrottledError struct {
	key, operation string
	waited         time.Duration
}

func (e *ThrottledError) Error() string {
	return fmt.Sprintf("nothing was loaded: the target answered %s only with 429 for %s (%s). "+
		"Wait until the limit resets, raise it, or use an unlimited key", e.key, infer.InSeconds(e.waited), e.operation)
}

// tellOfWaiting announces, once per key, that the run waits because of 429
// answers, which may take minutes.
func (p *preparation) tellOfWaiting(name string) {
	if p.waited[name] {
		return
	}
	p.waited[name] = true
	key, _ := p.env.Profile.FullKey(name)
	patience, answers := p.env.Client.ThrottleLimits()
	p.tell(fmt.Sprintf("the target answers %s with 429; waiting for at most %s or %d more such answers",
		key.Label(), infer.InSeconds(patience), answers))
}
