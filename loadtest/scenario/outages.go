package scenario

import (
	"fmt"

	"outreach.example/conformance/internal/outage"
	"outreach.example/conformance/loadtest/infer"
)

// outages describes when the target answered nothing in a phase. It tells a
// dead target from one that loses a few requests all the time.
func (r *runner) outages(phase string, s outage.Outages) (said []string) {
	if of := r.env.Shard.Of; of > 1 {
		phase = fmt.Sprintf("shard %d: %s", r.env.Shard.Index+1, phase)
	}
	if s.Ended > 0 {
		text := fmt.Sprintf("%s: no answers from %s to %s after its start (%d requests unanswered)",
			phase, infer.InSeconds(s.Longest.From), infer.InSeconds(s.Longest.To), s.Longest.Unanswered)
		if s.Ended > 1 {
			text += fmt.Sprintf("; the longest of %d outages", s.Ended)
		}
		said = append(said, text)
	}
	// An interruption may have cut off answers, so it is no outage.
	if s.Last != nil && r.ctx.Err() == nil {
		said = append(said, fmt.Sprintf("%s: no answers from %s after its start to the end (%d requests unanswered)",
			phase, infer.InSeconds(s.Last.From), s.Last.Unanswered))
	}
	return said
}
