// Package schedule says when each request of a phase is due.
//
// A Schedule is data: segments of constant rate, one after the other. The
// request numbered k is due at the moment at which the segments' rates have
// added up to k, so that requests are spaced evenly, segments join without a
// gap or a double, and nothing drifts: places are computed with integers,
// never added up.
//
// The package is pure: it imports only the standard library, has no clock and
// sends nothing.
package schedule
