package measure

import (
	"slices"
	"time"
)

// Class says how a request ended.
type Class string

// The classes. Every sample has exactly one.
const (
	Accepted Class = "accepted" // a whole answer with a 2xx status
	Limited  Class = "limited"  // a whole answer with status 429
	Failed   Class = "failed"   // any other answer, part of one, or none
)

var classes = [...]Class{Accepted, Limited, Failed}

// Classes are all classes, in the order in which reports show them.
func Classes() []Class { return slices.Clone(classes[:]) }

// The closed set of reasons why there is no whole answer. A Recorder counts
// any other word as FailureOther.
const (
	FailureTimeout    = "timeout"     // the generator gave up waiting
	FailureRefused    = "refused"     // no connection could be made
	FailureReset      = "reset"       // the connection broke
	FailureTooLong    = "too long"    // the body is larger than is read
	FailureLongHeader = "long header" // what comes before the body is larger than is read
	FailureOther      = "other"
)

// Sample is one request of a phase; times count from the phase's start.
type Sample struct {
	Seq     uint64        // place in the schedule
	Label   string        // what was asked, e.g. "campaigns.list limit=100": the unit of the break-down
	Due     time.Duration // when the schedule wanted it sent
	Sent    time.Duration // when it was sent
	Done    time.Duration // when the last byte of the answer was there, or it was given up
	Status  int           // 0: no answer
	Bytes   int64         // of the answer's body
	Failure string        // why there is no whole answer, one of the Failure words; empty otherwise
}

// Class says how the request ended.
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

// Lag is how much later than due the request was sent: the generator's delay.
func (s Sample) Lag() time.Duration { return s.Sent - s.Due }

// Service is the time from sending to the last byte of the answer.
func (s Sample) Service() time.Duration { return s.Done - s.Sent }

// Response is the time from the moment the request was due to the last byte of
// the answer: what a user of a fixed rate of requests experiences.
func (s Sample) Response() time.Duration { return s.Done - s.Due }
