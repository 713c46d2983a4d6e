package generate

import "time"

// Silence is a time in which nothing was answered. It begins with the answer
// before it. Times count from the start of the phase.
type Silence struct {
	From, To   time.Duration
	Unanswered int64 // requests that were sent in it and ended without an answer
}

// What is told as a silence: fewer requests, or less time, may be chance.
const (
	handful      = 5
	leastLasting = 100 * time.Millisecond
)

// tells reports whether the silence is worth telling.
func (s Silence) tells() bool { return s.Unanswered >= handful && s.To-s.From >= leastLasting }

// Silences are the times in which a target answered nothing. What is slow is not
// silent: requests count that were sent after an answer, before the next one, and
// never had one themselves.
type Silences struct {
	Ended   int64   // how many an answer has ended
	Longest Silence // of those
	// Last lasts from the last answer to the end of the last request; nil if the
	// target was answering then, or has answered nothing at all.
	Last *Silence
}

// Silences are those that the vigil has seen until now.
func (v *Vigil) Silences() Silences {
	s := v.silences
	if v.heard && v.silent.tells() {
		last := v.silent
		s.Last = &last
	}
	return s
}

// answered ends the silence, if there was one, and begins to wait for the next.
func (v *Vigil) answered(done time.Duration) {
	if v.silent.To = done; v.silent.tells() {
		v.silences.Ended++
		if longest := v.silences.Longest; v.silent.To-v.silent.From > longest.To-longest.From {
			v.silences.Longest = v.silent
		}
	}
	v.heard, v.silent = true, Silence{From: max(v.silent.From, done)}
}

// unansweredSince counts a request that was sent after the last answer.
func (v *Vigil) unansweredSince(sent, done time.Duration) {
	if sent >= v.silent.From {
		v.silent.Unanswered++
		v.silent.To = max(v.silent.To, done)
	}
}
