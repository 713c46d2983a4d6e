// Package faults holds defects, which the suites must catch, and quirks, which
// they must accept. Each is a middleware that changes requests and responses
// of a conforming target: any such target, not just the reference server.
//
// A Defect breaks one requirement on one operation and nothing else. A Quirk is
// legal: it names the sentence, or the open point of the specification, that
// allows it. Both are deterministic. Most defects are generated from the
// OpenAPI document and the catalogue; the others are hand-written.
//
// The package judges nothing: it must not import suites, judge or reports.
package faults

import (
	"fmt"
	"slices"

	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/spec"
)

// Defect breaks one requirement on one operation.
type Defect struct {
	ID     string    // permanent: <operation>/<what it does>
	Breaks spec.Pair // the pair that a suite must find broken
	Doc    string    // completes "the server …"
	Apply  func(*Target) Middleware
}

// Quirk is legal behaviour that a suite must accept.
type Quirk struct {
	ID      string // permanent: <family>/<what it does>
	Allowed string // the open point (its id) or the sentence that allows it
	Doc     string // completes "the server …"
	Apply   func(*Target) Middleware
	// Touches names what the quirk changes. Two quirks that touch the same
	// thing cannot be combined.
	Touches []string
	// Unassessed lists what cannot be assessed on such a server, because it
	// never occurs: requirements, or “requirement on operation”, as patterns of
	// path.Match.
	Unassessed []string
	// OnWire marks quirks that change the connection and need a real one.
	OnWire bool
}

// Target is what a fault may know about the target it is applied to.
type Target struct {
	Profile *profile.Profile
	// Seed makes random choices repeatable.
	Seed uint64
}

// key returns the token of the role's all:all key. It panics if the profile has
// none.
func (a *Target) key(role string) string {
	key, ok := a.Profile.FullKey(role)
	if !ok {
		panic(fmt.Sprintf("faults: the profile has no all:all key for the workspace %q", role))
	}
	return key.Token
}

// keyOf returns the profile's key in a request.
func (a *Target) keyOf(r Request) (profile.Key, bool) {
	token := r.token()
	i := slices.IndexFunc(a.Profile.Keys, func(k profile.Key) bool { return k.Token == token && token != "" })
	if i < 0 {
		return profile.Key{}, false
	}
	return a.Profile.Keys[i], true
}

// Defects returns every defect, in the order of the catalogue's groups.
func Defects() []Defect {
	all := slices.Concat(
		servedDefects(),
		statusDefects(),
		shapeDefects(),
		echoDefects(),
		errorDefects(),
		keyDefects(),
		billingDefects(),
		optionalPartDefects(),
		pageDefects(),
		filterDefects(),
		queryDefects(),
		requestDefects(),
		stateDefects(),
		documentDefects(),
		eventDefects(),
		isolationDefects(),
		effectDefects(),
		optionsDefects(),
		rateDefects(),
	)
	return append(all, lateDefects(all)...)
}
