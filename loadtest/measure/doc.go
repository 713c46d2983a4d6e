// Package measure holds what a load run measured. Samples go into a Recorder
// and a Recording comes out. Recordings of the shards of one plan merge into
// the Recording that one process would have made, bucket by bucket.
//
// Three times are kept apart. Response time counts from the moment a request
// was due, so a server that stalls is charged for the requests that had to
// wait. Service time counts from the moment it was sent. Send lag is the
// difference: the generator's own delay. Accepted, limited and failed answers
// have separate histograms. Every quantile comes with the interval that the
// sample supports (see estimate.go).
//
// The package is pure: no clock, no network. It is the only user of
// hdrhistogram-go and imports no other package of this module.
package measure
