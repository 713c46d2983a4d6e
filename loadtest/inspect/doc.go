// Package inspect judges answers while load is on: each goes through the rules
// of a conformance run that hold for a single answer, so that rows of the wrong
// shape, more of them than were asked for, another workspace's data or a misshapen
// 429 under load are violations with the ids of their requirements.
//
// Inspecting must not disturb what is measured. An answer is handed over at once
// (Take), waits in a bounded queue, and is judged by few goroutines within a
// bound on their processor time. A body that came before, to the same question,
// costs a hash and no judgement. What does not fit is left out and counted: the
// Result tells how much of what came was covered.
//
// The package imports client, judge, reports and spec. It sends nothing, and
// must not import the other packages of loadtest.
package inspect
