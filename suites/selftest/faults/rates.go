package faults

import (
	"net/http"
	"slices"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/spec"
)

// rateDefects answer with a status other than 429 beyond the rate limit, keep refusing after
// its period, or carry out later what the limit refused.
func rateDefects() []Defect {
	beyond := status(429)
	everyOther := func(x *exchange) bool { return beyond(x) && x.memory.count("beyond")%2 == 1 }
	tenfold := func(x *exchange) bool {
		promise := x.Profile.RateLimit
		return beyond(x) && promise != nil && x.memory.count("beyond") <= 9*promise.Requests
	}
	note := func(x *exchange) { x.memory.put("beyond "+x.token(), x.Request) }
	wasBeyond := func(x *exchange) bool { return x.memory.has("beyond " + x.token()) }
	catchUp := func(x *exchange) {
		if refused, ok := x.memory.take("beyond " + x.token()); ok {
			_, _ = x.ask(refused.(Request))
			x.again() // list again
		}
	}
	// A suite waits long before it gives up on 429, so one operation stands for all.
	forEver := defect(spec.RateResumes, spec.ListPlacementTests, "answers 429 forever to a key that exceeded its limit once",
		when(wasBeyond, then(refuse(429), header("Retry-After", "1"))), on(anyOperation, beyond, note))
	forEver.Long = true
	defects := slices.Concat([]Defect{forEver},
		onEach(spec.RateResumes, "answers 403 forever to a key that exceeded its limit once",
			when(wasBeyond, refuse(403)), on(anyOperation, beyond, note)),
		onEach(spec.RateNoEffect, "answers 429 beyond the rate limit, and carries out the request later",
			when(beyond, note), on(anyOperation, all(paged, served), catchUp)),
		onEach(spec.Rate429, "answers 403 beyond the rate limit", when(beyond, refuse(403))))
	for _, op := range spec.Operations() {
		if op.ID != spec.MoveAccounts && op.Method != http.MethodDelete { // a suite has too few of these to exceed the limit with them alone
			defects = append(defects,
				defect(spec.Rate429, op.ID, "keeps serving beyond the rate limit", when(beyond, standIn(dataset.Main))),
				defect(spec.Rate429, op.ID, "serves ten times its stated rate limit", when(tenfold, standIn(dataset.Main))))
		}
		if !op.Unsafe() {
			defects = append(defects, defect(spec.Rate429, op.ID, "answers every other request beyond the rate limit with 403", when(everyOther, refuse(403))))
		}
	}
	return defects
}
