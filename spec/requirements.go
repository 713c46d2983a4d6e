package spec

import "slices"

// Level says how a requirement follows from the specification.
type Level string

// Stated: a sentence or a table row says it. Derived: it follows by necessity
// from what is stated. Requirement.Reasoning says why.
const (
	stated  Level = "stated"
	derived Level = "derived"
)

// Profile is a set of requirements that a run can select.
type Profile string

// The profiles. ProfileFull holds all requirements; no requirement names it.
const (
	ProfileShape     Profile = "shape" // status, content type, schemas: works on a stateless mock
	ProfileRead      Profile = "read"
	ProfileWrite     Profile = "write"
	ProfileScopes    Profile = "scopes"
	ProfileIsolation Profile = "isolation"
	ProfileAdmin     Profile = "admin"
	ProfileBilling   Profile = "billing"
	ProfileRateLimit Profile = "rate-limit"
	ProfileFull      Profile = "full"
)

// Profiles returns every profile, ProfileFull last.
func Profiles() []Profile {
	return []Profile{ProfileShape, ProfileRead, ProfileWrite, ProfileScopes, ProfileIsolation,
		ProfileAdmin, ProfileBilling, ProfileRateLimit, ProfileFull}
}

// Group is a family of requirements, shown as one column of the summary table.
type Group string

// The groups, in summary order.
const (
	GroupShape     Group = "shape"
	GroupErrors    Group = "errors"
	GroupKeys      Group = "keys"
	GroupBilling   Group = "billing"
	GroupPages     Group = "pages"
	GroupFilters   Group = "filters"
	GroupRequests  Group = "requests"
	GroupState     Group = "state"
	GroupIsolation Group = "isolation"
	GroupRate      Group = "rate"
)

// Groups returns the groups in summary order.
func Groups() []Group {
	return []Group{GroupShape, GroupErrors, GroupKeys, GroupBilling, GroupPages, GroupFilters,
		GroupRequests, GroupState, GroupIsolation, GroupRate}
}

// Requirement is one thing that the specification requires of a server.
type Requirement struct {
	ID         string
	Level      Level
	Group      Group
	Profile    Profile
	Statement  string   // what the server must do, in our own words
	Reasoning  string   // for Derived: why it follows from what is stated
	Section    string   // where the specification says so
	Method     string   // how it is tested
	Operations []string // ids of the operations that it applies to
}

// Pair is a requirement on one operation. Each pair gets an outcome of its own.
type Pair struct {
	Requirement string
	Operation   string
}

// catalogue holds every requirement once, in reading order.
var catalogue = join(
	shapeRequirements(),
	errorRequirements(),
	keyRequirements(),
	optionsRequirements(),
	pageRequirements(),
	filterRequirements(),
	requestRequirements(),
	acceptanceRequirements(),
	stateRequirements(),
	eventRequirements(),
	isolationRequirements(),
	rateRequirements(),
)

var byID = func() map[string]Requirement {
	index := make(map[string]Requirement, len(catalogue))
	for _, r := range catalogue {
		index[r.ID] = r
	}
	return index
}()

var pairs = func() map[Pair]bool {
	set := make(map[Pair]bool)
	for _, r := range catalogue {
		for _, op := range r.Operations {
			set[Pair{r.ID, op}] = true
		}
	}
	return set
}()

// Requirements returns the whole catalogue in reading order.
func Requirements() []Requirement { return append([]Requirement(nil), catalogue...) }

// FindRequirement returns the requirement with the given id.
func FindRequirement(id string) (Requirement, bool) {
	r, ok := byID[id]
	return r, ok
}

// Pairs returns every pair of requirement and operation in reading order.
func Pairs() []Pair {
	all := make([]Pair, 0, len(pairs))
	for _, r := range catalogue {
		for _, op := range r.Operations {
			all = append(all, Pair{r.ID, op})
		}
	}
	return all
}

// Has reports whether the requirement of the pair applies to its operation.
func Has(p Pair) bool { return pairs[p] }

func join(tables ...[]Requirement) []Requirement {
	var all []Requirement
	for _, t := range tables {
		all = append(all, t...)
	}
	return all
}

// ops returns the ids of the operations that satisfy the predicate.
func ops(want func(Operation) bool) []string {
	var ids []string
	for _, op := range operations {
		if want(op) {
			ids = append(ids, op.ID)
		}
	}
	return ids
}

func allOps() []string { return ops(func(Operation) bool { return true }) }

// pagedOps returns the ten lists with cursor pagination.
func pagedOps() []string { return ops(func(o Operation) bool { return o.Answer == Page }) }

// listOps returns the paged lists and the one that is a plain array.
func listOps() []string { return ops(func(o Operation) bool { return o.Answer != One }) }

// plainOps returns the lists that are a plain array.
func plainOps() []string { return ops(func(o Operation) bool { return o.Answer == Array }) }

// timedOps returns the lists whose cursor is a timestamp.
func timedOps() []string { return ops(func(o Operation) bool { return o.Cursor == cursorTimestamp }) }

// has reports whether the operation's resource has the field.
func (o Operation) has(field string) bool {
	_, ok := FindField(o.Resource + "." + field)
	return ok
}

// filteredOps returns the lists with at least so many parameters whose filters are wanted.
func filteredOps(parameters int, want func(Filter) bool) []string {
	return ops(func(o Operation) bool {
		keys := map[string]bool{}
		for _, f := range o.Filters {
			if want(f) {
				keys[f.Key] = true
			}
		}
		return len(keys) >= parameters
	})
}

// withFilter returns the lists that have the filter with that word in its requirements.
func withFilter(word string) []string {
	return filteredOps(1, func(f Filter) bool { return f.Word == word })
}

// changedOps returns the paged lists of whose rows one can be created or deleted.
func changedOps(want func(change Operation) bool) []string {
	return ops(func(o Operation) bool {
		return o.Answer == Page && slices.ContainsFunc(operations, func(change Operation) bool {
			return change.Resource == o.Resource && change.Changes() && want(change)
		})
	})
}

// pathIDOps returns the operations that name their resource in the path.
func pathIDOps() []string { return ops(Operation.HasPathID) }

// gettingOps returns the operations that show one row of a list.
func gettingOps() []string {
	return ops(func(o Operation) bool {
		_, listed := o.List()
		return listed && !o.Unsafe() && o.HasPathID()
	})
}

// bodyOps returns the operations that take a JSON request body.
func bodyOps() []string { return ops(func(o Operation) bool { return o.Method == "POST" }) }

// scopedOps returns the operations whose scopes the specification shows.
func scopedOps() []string { return ops(func(o Operation) bool { return o.Scope != (Scope{}) }) }
