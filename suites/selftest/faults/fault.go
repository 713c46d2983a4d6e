// Package faults holds defects, which the suites must catch, and quirks, which
// they must accept. Each is a middleware that changes requests and responses
// of a conforming target: any such target, not just the reference server.
//
// A Defect breaks one requirement on one operation and nothing else. A Quirk is
// legal: it names the sentence, or the open point of the specification, that
// allows it. Both are deterministic.
//
// A fault consists of rules: on an occasion (occasions.go) a verb (verbs.go)
// changes the exchange (exchange.go). lists.go reads the lists of the target, and
// pager.go serves them. wire.go, rewriting.go, values.go and standin.go are helpers.
// The other files are tables of what real servers get wrong (defects) or do
// differently (quirks). Many rows come from the OpenAPI document and the catalogue.
//
// The package judges nothing: it must not import suites, judge or reports.
package faults

import (
	"maps"
	"slices"
	"strings"

	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/spec"
)

// Defect breaks one requirement on one operation.
type Defect struct {
	ID     string    // <operation>/<what it does>
	Breaks spec.Pair // the pair that a suite must find broken
	Doc    string    // completes "the server …"
	Apply  func(*Target) Middleware
	// Long says that a run takes a minute to see the defect. A self-test tries it first, so
	// that its end does not wait for it.
	Long bool
}

// Quirk is legal behaviour that a suite must accept.
type Quirk struct {
	ID      string // <family>/<what it does>
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

// Defects returns every defect, in the order of the catalogue's groups.
func Defects() []Defect {
	return slices.Concat(
		statusDefects(),
		shapeDefects(),
		errorDefects(),
		keyDefects(),
		scopeDefects(),
		pageDefects(),
		filterDefects(),
		queryDefects(),
		requestDefects(),
		creationDefects(),
		deletionDefects(),
		moveDefects(),
		eventDefects(),
		isolationDefects(),
		optionsDefects(),
		rateDefects(),
	)
}

// Quirks returns every quirk, the outermost first: bytes, refusals, values,
// writes, then rows. Applied in this order they do not interfere.
func Quirks() []Quirk {
	return slices.Concat(
		wireQuirks(),
		throttleQuirks(),
		refusalQuirks(),
		fieldQuirks(),
		valueQuirks(),
		precedenceQuirks(),
		writeQuirks(),
		lateQuirks(),
		queryQuirks(),
		pageQuirks(),
		searchQuirks(),
	)
}

// defect is a row of the tables of defects. Its words complete "the server …" and make its
// id. A rule that names no operation is for the operation that the defect breaks.
func defect(requirement spec.ID, operation, words string, rules ...rule) Defect {
	rules = slices.Clone(rules)
	for i := range rules {
		switch rules[i].operation {
		case "":
			rules[i].operation = operation
		case itsList:
			rules[i].operation = listOf(operation)
		}
	}
	return Defect{ID: operation + "/" + slug(words), Breaks: requirement.On(operation), Doc: words, Apply: apply(rules...)}
}

// mistakes are what servers get wrong, by the requirement that they break.
type mistakes map[spec.ID][]mistake

// mistake is a row of a table of defects.
type mistake struct {
	words string
	when  occasion
	do    verb
}

// on returns a defect for each mistake and each operation of its requirement. The rule is for
// requests of the operation, "" for that of the defect. The rules beside do not show by
// themselves.
func (m mistakes) on(operation string, beside ...rule) []Defect {
	var defects []Defect
	for _, breaks := range slices.Sorted(maps.Keys(m)) {
		for _, one := range m[breaks] {
			defects = append(defects, onEach(breaks, one.words, append(beside, on(operation, one.when, one.do))...)...)
		}
	}
	return defects
}

// onEach returns a defect for each operation that the catalogue binds to the requirement.
func onEach(requirement spec.ID, words string, rules ...rule) []Defect {
	var defects []Defect
	for _, op := range requirement.Operations() {
		defects = append(defects, defect(requirement, op.ID, words, rules...))
	}
	return defects
}

// slug turns words into a part of an id.
func slug(words string) string {
	return strings.Trim(strings.Join(strings.FieldsFunc(strings.ToLower(words), func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9')
	}), "-"), "-")
}

// key returns the token of the role's all:all key. It panics if the profile has
// none.
func (a *Target) key(role string) string {
	key, ok := a.Profile.FullKey(role)
	if !ok {
		panic("faults: the profile has no all:all key for the workspace " + role)
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

// mustParameter returns the target's name of a query parameter, by its key. It panics if the
// profile does not name it.
func (a *Target) mustParameter(operation, key string) string {
	name, ok := a.Profile.Parameter(operation, key)
	if !ok {
		panic("faults: the profile does not name the parameter " + key + " of " + operation)
	}
	return name
}
