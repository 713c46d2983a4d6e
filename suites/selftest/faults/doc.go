// Package faults holds defects, which the suites must catch, and quirks, which
// they must let pass. Each is a transformation of requests and responses laid
// around a target that conforms: any such target, not just our own.
//
// A Defect breaks one requirement on one operation and leaves the rest alone. A
// Quirk is legal: it names the sentence, or the silence, that allows it. Both are
// deterministic. Most defects are generated from the OpenAPI document and the
// catalogue; the others are written by hand, one place for each requirement.
//
// The package judges nothing: it must not import suites, judge or reports.
package faults
