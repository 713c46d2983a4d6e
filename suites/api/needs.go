package api

import (
	"fmt"
	"net/http"
	"slices"

	"github.com/google/uuid"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/internal/sandbox"
	"outreach.example/conformance/spec"
)

// Need is an input of a target profile without which a spec, or some of its pairs, cannot be
// judged.
type Need struct {
	name  string
	lacks func(given) string             // the missing input in words; "" if the profile has it
	parts func(*profile.Profile) []Need  // of a need that consists of others; nil for a single one
	of    string                         // operation of whose request it is the need; "" for none
	only  []func(spec.Pair) (needs bool) // all must hold; none for all pairs of the spec
}

// given is what a need asks: the profile, and what a spec may take of it.
type given struct {
	*profile.Profile
	share sandbox.Share
}

// Input returns the need for an input of the profile, which the words name.
func Input(words string, has func(*profile.Profile) bool) Need {
	return Need{name: words, lacks: func(g given) string {
		if has(g.Profile) {
			return ""
		}
		return words
	}}
}

// All returns the need for all of the needs, which may depend on the profile.
func All(parts func(*profile.Profile) []Need) Need { return Need{parts: parts} }

// For limits the need to some of the spec's requirements.
func (n Need) For(ids ...spec.ID) Need {
	n.only = append(slices.Clone(n.only), func(p spec.Pair) bool { return slices.Contains(ids, spec.ID(p.Requirement)) })
	return n
}

// On limits the need to some of the spec's operations.
func (n Need) On(operations ...string) Need {
	n.only = append(slices.Clone(n.only), func(p spec.Pair) bool { return slices.Contains(operations, p.Operation) })
	return n
}

// Optional says that no pair needs it: the spec takes it after it has judged them.
func (n Need) Optional() Need { return n.For() }

// Of says that it is all that the spec's requests of the operation need.
func (n Need) Of(operation string) Need {
	n.of = operation
	return n
}

// covers reports whether the spec needs it for the pair.
func (n Need) covers(p spec.Pair) bool {
	return !slices.ContainsFunc(n.only, func(needs func(spec.Pair) bool) bool { return !needs(p) })
}

// missing returns the first missing input in words, or "".
func (n Need) missing(g given) string {
	if n.parts == nil {
		return n.lacks(g)
	}
	for _, part := range n.parts(g.Profile) {
		if words := part.missing(g); words != "" {
			return words
		}
	}
	return ""
}

// single returns the needs of which it consists.
func (n Need) single(p *profile.Profile) (names []string) {
	if n.parts == nil {
		return []string{n.name}
	}
	for _, part := range n.parts(p) {
		names = append(names, part.single(p)...)
	}
	return names
}

// Nothing is a need that every profile satisfies.
var Nothing = All(func(*profile.Profile) []Need { return nil })

// What specs need.
var (
	SecondWorkspace = FullKey(dataset.Second)
	RevokedKey      = Input("a revoked key", func(p *profile.Profile) bool { return len(p.RevokedKeys()) > 0 })
	// LimitedKey is the key that may be driven to its rate limit.
	LimitedKey = Need{name: "the entry rate_limit", lacks: func(g given) string {
		if g.RateLimit == nil {
			return "the entry rate_limit (a key that may be driven to its limit, and a budget of requests)"
		}
		if _, ok := g.LimitedKey(); !ok {
			return fmt.Sprintf("the key %q under keys, which rate_limit names", g.RateLimit.Key)
		}
		return ""
	}}
)

// fullKey names a key of the role that may do everything.
func fullKey(role string) string {
	return fmt.Sprintf("a key of the workspace %q with the scope all:all", role)
}

// FullKey is the need for a key of the role that may do everything.
func FullKey(role string) Need {
	return Input(fullKey(role), func(p *profile.Profile) bool { _, ok := p.FullKey(role); return ok })
}

// KeyFor is the need for a key of the role for requests of the operation.
func KeyFor(role, operation string) Need {
	return Input(fullKey(role), func(p *profile.Profile) bool {
		_, ok := p.KeyFor(role, spec.MustOperation(operation))
		return ok
	})
}

// ScopedKey is the need for a key of the main workspace with only that scope.
func ScopedKey(scope string) Need {
	return Input(fmt.Sprintf("a key of the workspace %q whose only scope is %q", dataset.Main, scope),
		func(p *profile.Profile) bool { _, ok := p.ScopedKey(dataset.Main, scope); return ok })
}

// listedID is the need for an id of the kind that the profile lists in the role's workspace.
func listedID(role, kind string) Need {
	_, entry, what := profile.Workspace{}.Named(kind)
	return Input(lackedEntry(role, entry, what), func(p *profile.Profile) bool {
		ids, _, _ := p.Workspaces[role].Named(kind)
		return len(ids) > 0
	})
}

// lackedEntry names an entry that the profile lacks, and what it holds.
func lackedEntry(role, entry, what string) string {
	return fmt.Sprintf("the entry workspaces.%s.%s (%s)", role, entry, what)
}

// IDIn is the need for an id of that kind, for a request of the operation.
func IDIn(role, operation, kind string) Need {
	if _, entry, _ := (profile.Workspace{}).Named(kind); entry != "" {
		return listedID(role, kind)
	}
	list, _ := spec.MustOperation(operation).List()
	if role == dataset.Unpaid { // its lists are barred
		return Nothing
	}
	return RequestOf(role, list.ID)
}

// Owner is the need for the id of the role's workspace.
func Owner(role string) Need {
	return Input(fmt.Sprintf("the entry workspaces.%s", role), func(p *profile.Profile) bool { return p.Workspaces[role].ID != "" })
}

// Parameter is the need for the name of a query parameter, unless the specification shows it.
func Parameter(operation, meaning string) Need {
	if p := spec.MustOperation(operation).Parameter(meaning); p.Key != "" && !p.NotShown {
		return Nothing
	}
	return Input(fmt.Sprintf("the entry parameters.%s.%s", operation, meaning),
		func(p *profile.Profile) bool { _, ok := p.Parameter(operation, meaning); return ok })
}

// Cursor is the need for the parameter that takes the cursor of the list.
func Cursor(list string) Need {
	if spec.MustOperation(list).Answer != spec.Page {
		return Nothing
	}
	return Parameter(list, profile.ParamStartingAfter)
}

// List is the need for reading the whole list in the role's workspace.
func List(role, list string) Need {
	return All(func(*profile.Profile) []Need { return []Need{KeyFor(role, list), Operation(list), Cursor(list)} })
}

// Implemented is the need for an operation that the profile does not exclude.
func Implemented(operation string) Need {
	return Need{name: "the operation " + operation, lacks: func(g given) string {
		if g.Implements(operation) {
			return ""
		}
		return Excluded(operation)
	}}
}

// Excluded is what is missing if the profile excludes an operation.
func Excluded(operation string) string {
	return fmt.Sprintf("the operation %s, which the target profile excludes", operation)
}

// Operation is the need for an operation that the profile does not exclude, and whose requests
// it permits if they name nothing that exists.
func Operation(operation string) Need { return permission("", operation) }

// permission is Operation for requests that name what the profile lists in the role's
// workspace; "" for nothing.
func permission(role, operation string) Need {
	implemented := Implemented(operation)
	return Need{name: implemented.name, lacks: func(g given) string {
		op := spec.MustOperation(operation)
		if words := implemented.lacks(g); words != "" || !op.Unsafe() {
			return words
		}
		box := sandbox.New(sandbox.Config{Profile: g.Profile})
		own := uuid.NewString()
		box.Adopt(own)
		change := sandbox.Change{Operation: op, Body: map[string]any{}}
		for _, n := range op.Names {
			id := own
			if ids, _, _ := g.Workspaces[role].Named(n.Kind); len(ids) > 0 && !(n.Kind == profile.PlacementTest && role == dataset.Main) {
				id = ids[0]
			}
			if n.In == spec.InPath {
				change.ID = id
			} else {
				change.Body[n.Field] = id
			}
		}
		if operation == spec.MoveAccounts && role != "" {
			if source, destination, lacks := g.Moves(role); lacks == "" {
				change.Body = Move(source, destination)
			}
		}
		return deniedInput(box.Allows(change))
	}}
}

// RequestOf is the need for a valid request of the operation by the role (API.RequestAs).
func RequestOf(role, operation string) Need {
	op := spec.MustOperation(operation)
	return Need{of: operation, parts: func(*profile.Profile) []Need {
		needs := []Need{KeyFor(role, operation)}
		for _, n := range op.Names {
			switch {
			case operation == spec.MoveAccounts:
				needs = append(needs, SubWorkspaces(role))
			case n.Kind == profile.PlacementTest && role == dataset.Main:
				needs = append(needs, RequestOf(role, spec.CreatePlacementTest))
			case n.Kind == profile.Expendable && role == dataset.Main:
				needs = append(needs, Expendable(1))
			default:
				needs = append(needs, IDIn(role, operation, n.Kind))
			}
		}
		needs = append(needs, permission(role, operation))
		if role != AuthorizedRole(op) {
			needs = append(needs, known(op))
		}
		return needs
	}}
}

// known is the need for what shows that the target serves the operation: most servers answer 404
// to an unknown id, too.
func known(op spec.Operation) Need {
	role := AuthorizedRole(op)
	return All(func(p *profile.Profile) []Need {
		needs := []Need{EmptyRequest(op.ID)}
		_, asksForPermission := p.ScopedKey(dataset.Main, "")
		switch {
		case !op.HasPathID() || op.Method == http.MethodPost || asksForPermission:
			return needs
		case op.ID == spec.DeleteSubsequence:
			return append(needs, Input(toDelete, func(p *profile.Profile) bool { return len(p.Workspaces[role].ExpendableSubsequences) > 0 }))
		}
		return append(needs, RequestOf(role, op.ID))
	})
}

// toDelete is what is missing if nothing shows whether subsequences can be deleted.
var toDelete = lackedEntry(dataset.Main, "expendable_subsequences", "a subsequence that may be deleted")

// EmptyRequest is the need for a request that can change nothing.
func EmptyRequest(operation string) Need {
	return Need{of: operation, parts: func(*profile.Profile) []Need {
		return []Need{KeyFor(AuthorizedRole(spec.MustOperation(operation)), operation), Operation(operation)}
	}}
}

// HarmlessRequestOf is RequestOf for a request that names nothing that exists
// (API.HarmlessRequestAs).
func HarmlessRequestOf(role, operation string) Need {
	if len(spec.MustOperation(operation).Names) == 0 {
		return RequestOf(role, operation)
	}
	return Need{of: operation, parts: func(*profile.Profile) []Need {
		return []Need{KeyFor(role, operation), known(spec.MustOperation(operation))}
	}}
}

// HarmlessRequest is the need of a spec whose requests of the operation name nothing that
// exists (API.HarmlessRequest).
func HarmlessRequest(operation string) Need {
	return HarmlessRequestOf(AuthorizedRole(spec.MustOperation(operation)), operation)
}

// ForeignRequest is the need for a request of the operation that names another workspace's
// resource.
func ForeignRequest(operation string) Need {
	op := spec.MustOperation(operation)
	return Need{of: operation, parts: func(*profile.Profile) []Need {
		needs := []Need{KeyFor(dataset.Main, operation)}
		for _, n := range op.Names {
			role := dataset.Main
			if n == op.Subject() {
				role = dataset.Second
			}
			needs = append(needs, IDIn(role, operation, n.Kind))
		}
		return append(needs, permission(dataset.Second, operation), known(op))
	}}
}

// LimitedRequest is the need for a request of the operation by the key that may be driven to
// its rate limit. What deletes names nothing that exists.
func LimitedRequest(operation string) Need {
	return Need{of: operation, parts: func(p *profile.Profile) []Need {
		request := RequestOf
		if spec.MustOperation(operation).Method == http.MethodDelete {
			request = HarmlessRequestOf
		}
		key, _ := p.LimitedKey()
		return []Need{LimitedKey, request(key.Workspace, operation)}
	}}
}

// Expendable is the need for n subsequences of the main workspace that the run may delete.
func Expendable(n int) Need {
	left := Need{name: "expendable subsequences", lacks: func(g given) string {
		if listed := len(g.Workspaces[dataset.Main].ExpendableSubsequences); listed >= max(g.share.From+n, n) {
			return ""
		}
		return sandbox.LacksSubsequence(dataset.Main)
	}}
	return All(func(p *profile.Profile) []Need {
		if len(p.Workspaces[dataset.Main].ExpendableSubsequences) == 0 || p.Stateless {
			return []Need{left}
		}
		return []Need{List(dataset.Main, spec.ListSubsequences), left}
	})
}

// SubWorkspaces is the need for two workspaces of the role's admin workspace, one with accounts.
func SubWorkspaces(role string) Need {
	return Need{name: "the workspaces whose admin is " + role, lacks: func(g given) string {
		_, _, lacks := g.Moves(role)
		return lacks
	}}
}

// Value is the need for a value of an optional field of a creation. Values that the target may
// show are not needed.
func Value(field string) Need {
	return Input(LackedValue(field), func(p *profile.Profile) bool {
		return field != "campaign_id" || len(p.Workspaces[dataset.Main].Campaigns) > 0
	})
}
