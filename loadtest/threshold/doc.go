// Package threshold parses the bounds that gate a load run, such as
// p99<250ms@500/s or errors<0.1%, and compares measured figures with them.
//
// A measured figure is an interval. A bound is met if the whole interval is on
// its right side, and missed if the whole interval is on its wrong side.
// Otherwise the result is inconclusive. A sample that is too small, an empty
// sample or a missing figure never passes.
//
// The package is pure: it reads no file and has no clock. Within this module it
// imports package measure only.
package threshold
