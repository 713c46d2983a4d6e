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
	Breaks spec.Pair // the requirement that must be found broken
	Doc    string    // what the server does wrong, completing "the server …"
	Apply  func(*Target) Middleware
}

// Quirk is legal behaviour that a suite may not expect.
type Quirk struct {
	ID      string // permanent: <family>/<what it does>
	Allowed string // the silence (its id) or the section and words that allow it
	Doc     string // what the server does, completing "the server …"
	Apply   func(*Target) Middleware
	// Touches names what the quirk shapes. Two quirks that touch the same thing
	// cannot be combined.
	Touches []string
	// Unassessed lists what nobody can assess on such a server, since it never
	// shows it: requirements, or “requirement on operation”, as patterns of path.Match.
	Unassessed []string
	// OnWire quirks shape the connection and show only where there is one.
	OnWire bool
}

// Target is what a fault may know of the target that it is laid around.
type Target struct {
	Profile *profile.Profile
	// Seed makes what is drawn repeatable.
	Seed uint64
}

// key returns the token of a key of the role that may do everything; a profile
// without one cannot carry faults that need it.
func (a *Target) key(role string) string {
	key, ok := a.Profile.FullKey(role)
	if !ok {
		panic(fmt.Sprintf("faults: the profile has no all:all key for the workspace %q", role))
	}
	return key.Token
}

// keyOf returns the profile's key that a request carries.
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
	return slices.Concat(
		shapeDefects(),
		errorDefects(),
		keyDefects(),
		billingDefects(),
		pageDefects(),
		filterDefects(),
		requestDefects(),
		stateDefects(),
		eventDefects(),
		isolationDefects(),
		rateDefects(),
	)
}
