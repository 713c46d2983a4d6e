// Package prepare prepares a target for load, and decides what each request of a
// scenario asks. It tries the keys, looks for another run there,
// finds out which rows exist, and creates those that a phase will delete. Missing rows
// remove operations from a scenario and never change its verdict.
//
// It sends at the profile's pace, through package client alone. It must not import the
// suites, the reference server or package verdict.
package prepare

import (
	"time"

	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/internal/client"
	"outreach.example/conformance/internal/judge"
	"outreach.example/conformance/internal/sandbox"

	"outreach.example/conformance/loadtest/measure"
)

// Env is what a run knows of its target, and what it may do there.
type Env struct {
	Profile *profile.Profile
	BaseURL string
	Rules   *judge.Rules
	// Client prepares what load needs and inspects what it left. It waits after a
	// 429 and keeps the profile's pace.
	Client *client.Client

	Journal *sandbox.Journal // records changes; nil for none
	Ended   []string         // ids of killed runs that left a journal
	Run     string           // id of the run, in the names of what is created
	Seed    uint64

	// Budget bounds the number of requests of the run. Clients ask it before each
	// request.
	Budget *Budget

	// Shard is the part of every phase that this process sends; the zero value is the
	// whole. Start is when the first phase begins; the zero value is now.
	Shard measure.Shard
	Start time.Time

	rows   *rows          // of the run; nil without Ready
	tests  *sandbox.Tests // of the main workspace; nil before the first is created
	before *int64         // requests sent before Ready, until a scenario counts them
}

// Part returns the part of a phase that this process sends.
func (e *Env) Part(whole measure.Schedule) measure.Schedule {
	if e.Shard.Of > 1 {
		return whole.Shard(e.Shard.Index, e.Shard.Of)
	}
	return whole
}

// SentBefore returns the number of requests before a scenario that begins. For the
// first scenario, it is the number before the preparation.
func (e *Env) SentBefore() int64 {
	if before := e.before; before != nil {
		e.before = nil
		return *before
	}
	return e.Budget.Sent()
}
