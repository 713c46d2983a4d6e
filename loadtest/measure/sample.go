package measure

import "time"

// Class is how a request ended.
type Class string

// The classes. Every sample has exactly one.
const (
	Accepted Class = "accepted" // a whole answer with a 2xx status
	Limited  Class = "limited"  // a whole answer with status 429
	Failed   Class = "failed"   // any other answer, part of one, or none
)

var classes = [...]Class{Accepted, Limited, Failed}

// The reasons for a missing or incomplete answer. A Recorder counts any other
// word as FailureOther.
const (
	FailureTimeout    = "timeout"     // the generator gave up waiting
	FailureRefused    = "refused"     // no connection could be made
	FailureReset      = "reset"       // the connection broke
	FailureTooLong    = "too long"    // the body exceeds the limit
	FailureLongHeader = "long header" // the header exceeds the limit
	FailureOther      = "other"
)

func failureWord(w string) string {
	switch w {
	case FailureTimeout, FailureRefused, FailureReset, FailureTooLong, FailureLongHeader:
		return w
	default:
		return FailureOther
	}
}

// Sample is one request of a phase. Times count from the phase's start.
type Sample struct {
	Seq     uint64        // place in the schedule
	Label   string        // kind of request, e.g. "campaigns.list limit=100": the unit of the breakdown
	Due     time.Duration // when the schedule wanted it sent
	Sent    time.Duration // when it was sent
	Done    time.Duration // when the last byte arrived or the request failed
	Status  int           // 0: no answer
	Bytes   int64         // of the answer's body
	Failure string        // one of the Failure words; empty for a whole answer
}

// Class returns how the request ended.
func (s Sample) Class() Class {
	switch {
	case s.Failure != "":
		return Failed
	case s.Status >= 200 && s.Status <= 299:
		return Accepted
	case s.Status == 429:
		return Limited
	default:
		return Failed
	}
}

// Response returns the time from the moment the request was due to the last
// byte of the answer: what a user experiences at a fixed rate.
func (s Sample) Response() time.Duration { return s.Done - s.Due }

// Shard is one part of a plan that several processes share. The zero value is
// the whole plan.
type Shard struct {
	Index int // from 0
	Of    int // number of shards; 0 means the whole plan
}
