package scenario

import (
	"fmt"
	"time"

	"outreach.example/conformance/loadtest/infer"
)

// ThrottledError is that of a key which the target answered with nothing but 429,
// before the load, for as long as anybody waits: nothing could be measured.
type ThrottledError struct {
	key, operation string
	waited         time.Duration
}

func (e *ThrottledError) Error() string {
	return fmt.Sprintf("nothing was loaded: the target answered %s with nothing but 429 for %s (%s was asked). "+
		"Wait until its limit allows requests again, raise it, or load with a key that is not limited", e.key, infer.InSeconds(e.waited), e.operation)
}

// tellOfWaiting says, once for each key, that it is answered 429 and will be
// waited for, which may take minutes in which nothing else happens.
func (p *preparation) tellOfWaiting(name string) {
	if p.waited[name] {
		return
	}
	p.waited[name] = true
	key, _ := p.env.Profile.FullKey(name)
	patience, answers := p.env.Client.Patience()
	p.tell(fmt.Sprintf("the target answers %s with 429: before the load it is waited for, for %s or %d more such answers at most",
		key.Described(), infer.InSeconds(patience), answers))
}
