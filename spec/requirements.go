package spec

// Level tells how a requirement follows from the specification.
type Level string

// Stated: a sentence or a table row says it. Derived: it follows by necessity
// from what is stated; the entry gives its reasoning.
const (
	Stated  Level = "stated"
	Derived Level = "derived"
)

// Profile is a set of requirements that a run can be asked for.
type Profile string

// The profiles. Full is all of them and is no requirement's own.
const (
	ProfileShape     Profile = "shape" // works on a stateless mock: status, content type, schemas
	ProfileRead      Profile = "read"
	ProfileWrite     Profile = "write"
	ProfileScopes    Profile = "scopes"
	ProfileIsolation Profile = "isolation"
	ProfileAdmin     Profile = "admin"
	ProfileBilling   Profile = "billing"
	ProfileRateLimit Profile = "rate-limit"
	ProfileFull      Profile = "full"
)

// Requirement is one thing that the specification demands of a server.
type Requirement struct {
	ID         string
	Level      Level
	Group      string  // column of the summary table, e.g. "pages"
	Profile    Profile // the profile that it belongs to
	Statement  string  // in our own words; what must hold
	Reasoning  string  // for Derived: why it follows
	Section    string  // where the specification says so
	Method     string  // how it is checked, for `explain`
	Operations []string
}
