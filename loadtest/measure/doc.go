// Package measure holds what a load run measured: samples go into a Recorder,
// a Recording comes out of it, and Recordings of the shards of one plan merge
// into the Recording that one process would have made, bucket by bucket.
//
// Three times are kept apart. Response time counts from the moment at which a
// request was due, so that a server that stalls is billed for the requests that
// had to wait; service time counts from the moment at which it was sent; send
// lag is the difference and is the generator's own. Accepted, limited and
// failed answers have histograms of their own. Every quantile comes with the
// interval that the sample supports (estimate.go says how).
//
// The package is pure: no clock, no network. It is the only home of
// hdrhistogram-go and imports no other package of ours.
package measure
