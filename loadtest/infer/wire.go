package infer

import (
	"context"
	"net/http"
	"time"
)

// Subject is one kind of request that the Wire can send. Main is probed. Each
// of the others differs from it in one respect and shows whether the limiter
// counts by that respect.
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

// Others returns every subject but Main, in the order of reports.
func Others() []Subject {
	return []Subject{OtherKey, OtherWorkspace, OtherOperation, OtherMethod, OtherAddress}
}

// Shot is a request to send.
type Shot struct {
	Subject Subject
	At      time.Time // when to send it; immediately if that has passed
}

// Observation is the result of a Shot.
type Observation struct {
	Subject  Subject
	Sent     time.Time   // not after the request left
	Received time.Time   // not before the answer's header or the failure arrived
	Status   int         // 0: no answer
	Header   http.Header // of the answer; names in canonical form
	Failure  string      // why there is no answer; else empty
}

// Wire connects the inference to the world. Now, Sleep and the times of
// observations must use one clock.
type Wire struct {
	// Send sends each request at its time, without waiting for the answers to
	// the others, and returns one observation per shot, in the same order. It
	// must not retry or delay requests (no pacing; one connection per request
	// in flight). When the context ends it returns soon and marks missing
	// answers as failed.
	Send func(ctx context.Context, shots []Shot) []Observation
	Now  func() time.Time
	// Sleep returns after d, or with the context's error as soon as it ends.
	Sleep func(ctx context.Context, d time.Duration) error
	// Subjects are the subjects that Send supports besides Main.
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
