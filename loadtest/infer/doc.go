// Package infer infers from outside how a server limits the rate of requests:
// the algorithm, limit and window, the number of layers, who shares the
// counter, whether refused requests count, and whether Retry-After and the
// RateLimit headers are true.
//
// It treats the limiter as a deterministic automaton with its own counter. An
// observation is a request with the time it was sent and the time its answer
// was received; the decision fell in between. An algorithm is accepted only if
// some observation rules out every other one. A figure is the range of values
// that no observation rules out. If two algorithms remain, or none, the answer
// is unknown and comes with the reason.
//
// The package sends nothing and has no clock: both come with the Wire, so the
// same code runs on virtual time in a simulation and on the wall clock. It
// imports only its own sub-packages.
package infer
