// Package inspect judges responses during a load. Each response goes through the
// rules of a conformance run that apply to a single response. Rows of the wrong shape,
// too many rows, data of another workspace or a malformed 429 are violations with
// the ids of their requirements.
//
// Inspection must not disturb the measurement. Take queues a response and returns at
// once. A few goroutines judge the queue within a bound on their processor time. A
// body that came before, in response to the same question, costs a hash and no
// judgement. Responses that do not fit are skipped and counted, so the Result states
// the coverage.
//
// The package imports client, judge, reports and spec. It sends nothing. It must not
// import the other packages of loadtest.
package inspect
