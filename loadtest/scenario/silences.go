package scenario

import (
	"fmt"

	"outreach.example/conformance/loadtest/generate"
	"outreach.example/conformance/loadtest/infer"
)

// fellSilent says when the target answered nothing in a phase. How requests
// failed that it sent meanwhile is counted; this tells one that has died
// from one that loses a few all the time.
func (r *runner) fellSilent(phase string, s generate.Silences) (said []string) {
	if of := r.env.Shard.Of; of > 1 {
		phase = fmt.Sprintf("shard %d: %s", r.env.Shard.Index+1, phase)
	}
	if s.Ended > 0 {
		text := fmt.Sprintf("%s: nothing was answered from %s to %s after its start: %d requests sent in that time had no answer",
			phase, infer.InSeconds(s.Longest.From), infer.InSeconds(s.Longest.To), s.Longest.Unanswered)
		if s.Ended > 1 {
			text += fmt.Sprintf("; that was the longest of %d such times", s.Ended)
		}
		said = append(said, text)
	}
	// What an interruption cut off might have been answered.
	if s.Last != nil && r.ctx.Err() == nil {
		said = append(said, fmt.Sprintf("%s: nothing was answered any more from %s after its start: the %d requests sent since had no answer",
			phase, infer.InSeconds(s.Last.From), s.Last.Unanswered))
	}
	return said
}
