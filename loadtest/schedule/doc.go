// Package schedule says when each request of a phase is due.
//
// A Schedule is data: segments of constant rate, one after the other. Request k is
// due when the rates of the segments have added up to k. So requests are evenly
// spaced, segments join without a gap or a double request, and nothing drifts:
// due times are computed with integers and never added up. Pace and Rate make a
// Schedule a vegeta.Pacer.
//
// The package is pure: it imports only the standard library, has no clock and
// sends nothing.
package schedule
