// Package threshold parses the bounds that a load run is gated on, such as
// p99<250ms@500/s or errors<0.1%, and holds measured figures against them.
//
// A measured figure is an interval. A bound is met if the whole interval is on
// its right side, missed if the whole interval is on the wrong side, and
// otherwise the run could not tell: a sample that is too small is never a pass,
// nor are zero samples or a figure that was not measured.
//
// The package is pure: it reads no file and has no clock. Of ours, it imports
// package measure only.
package threshold
