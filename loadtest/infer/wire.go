package infer

import (
	"context"
	"net/http"
	"time"
)

// Subject names one kind of request that the Wire can send. Main is what is
// probed; each of the others differs from it in one respect, so that it tells
// whether the limiter counts by that respect.
type Subject string

// The subjects.
const (
	Main           Subject = "main"            // key A, a cheap read
	OtherKey       Subject = "other-key"       // another key of the same workspace
	OtherWorkspace Subject = "other-workspace" // a key of another workspace
	OtherOperation Subject = "other-operation" // key A, another operation
	OtherMethod    Subject = "other-method"    // key A, another method
	OtherAddress   Subject = "other-address"   // key A, from another local address
)

// Others lists every subject but Main, in the order in which they are reported.
func Others() []Subject {
	return []Subject{OtherKey, OtherWorkspace, OtherOperation, OtherMethod, OtherAddress}
}

// Shot is a request to send.
type Shot struct {
	Subject Subject
	At      time.Time // when to send it; at once if that is over
}

// Observation is what became of a Shot.
type Observation struct {
	Subject  Subject
	Sent     time.Time   // not after the request left
	Received time.Time   // not before the answer's header, or the failure, was there
	Status   int         // 0: no answer
	Header   http.Header // of the answer; names in canonical form
	Failure  string      // why there is no answer, in a few words; empty otherwise
}

// Wire is all that the inference has to do with the world. Now, Sleep and the
// times of observations must be of one clock.
type Wire struct {
	// Send sends each request at its time, without waiting for the answers of
	// the others, and returns when all are answered: one observation for each
	// shot, in the same order. It must not retry and must not hold requests
	// back (no pacing; a connection for each request in flight). When the context
	// ends it returns soon, with what is missing marked as failed.
	Send func(ctx context.Context, shots []Shot) []Observation
	Now  func() time.Time
	// Sleep returns after d, or with the context's error as soon as it ends.
	Sleep func(ctx context.Context, d time.Duration) error
	// Subjects are those that Send understands beside Main.
	Subjects []Subject
}

func (w Wire) has(s Subject) bool {
	for _, known := range w.Subjects {
		if known == s {
			return true
		}
	}
	return false
}
