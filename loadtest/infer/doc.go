// Package infer finds out, from outside, how a server limits the rate of
// requests: which algorithm, limit and window, in how many layers, who shares
// the counter, whether refused requests count, and whether Retry-After and the
// RateLimit headers tell the truth.
//
// The server is taken for a deterministic automaton over its own counter. What
// is seen of it are observations: a request was sent, its answer was received,
// and the decision fell in between. An algorithm is believed only when every
// other one is contradicted by some observation, and a figure is the range of
// values that no observation contradicts. Where that leaves two algorithms, or
// none, the answer is "cannot tell", with the reason.
//
// The package sends nothing and has no clock: both come with the Wire, so that
// the same code runs on virtual time in a simulation and on the wall clock.
// It imports its own sub-packages only.
package infer
