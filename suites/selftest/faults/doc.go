// Package faults holds defects, which the suites must catch, and quirks, which
// they must let pass. Each is a middleware that changes requests and responses
// of a conforming target: any such target, not just the reference server.
//
// A Defect breaks one requirement on one operation and nothing else. A Quirk is
// legal: it names the sentence, or the open point of the specification, that
// allows it. Both are deterministic. Most defects are generated from the
// OpenAPI document and the catalogue; the others are hand-written.
//
// The package judges nothing: it must not import suites, judge or reports.
package faults
