package suites

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"

	. "github.com/onsi/ginkgo/v2"
	"github.com/onsi/gomega"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/internal/client"
	"outreach.example/conformance/internal/paging"
	"outreach.example/conformance/schemas"
	"outreach.example/conformance/spec"

	. "outreach.example/conformance/suites/api"
)

// viewsOfKeys compares what the keys of a workspace see (section Authentication, rule 2).
func viewsOfKeys() {
	for _, op := range spec.ScopeSameRows.Operations() {
		Describe(op.ID, func() {
			It("shows every key of a workspace the same rows", Requires(spec.ScopeSameRows), Needs(anotherKey(op), Cursor(op.ID)), func(api *API) {
				sameRows := api.For(spec.ScopeSameRows)
				for _, verdicts := range Each(api, readsWithFullKeys(api, op), func(r fullRead) []Verdict { return r.compare(api) }) {
					for _, found := range verdicts {
						sameRows.Judge(found)
					}
				}
				if !sameRows.Judged() {
					api.NotAssessed("%s", seenByAnother(op))
				}
			})
		})
	}
}

// fullRead is a read with the full key of a workspace, and its other keys.
type fullRead struct {
	full Call
	keys []client.Key
}

func readsWithFullKeys(api *API, op spec.Operation) (reads []fullRead) {
	for _, role := range readingRoles(api) {
		keys := otherKeys(api.Profile, role, op)
		switch {
		case len(keys) == 0:
		case op.Answer != spec.One:
			reads = append(reads, fullRead{api.As(role, op.ID), keys})
		case role == dataset.Main: // the run creates its tests there
			for _, k := range withMetadataToo(api.Request()) {
				reads = append(reads, fullRead{k, keys})
			}
		}
	}
	return reads
}

// seenByAnother names what shows whether keys see the same rows.
func seenByAnother(op spec.Operation) string {
	return fmt.Sprintf("a row of %s that a key with %q and another key of the same workspace see", op.ID, "all:all")
}

// anotherKey is the need for another key beside the full one of a workspace.
func anotherKey(op spec.Operation) Need {
	return Input(seenByAnother(op), func(p *profile.Profile) bool {
		return slices.ContainsFunc(rolesThatRead(p), func(role string) bool {
			return (op.Answer != spec.One || role == dataset.Main) && len(otherKeys(p, role, op)) > 0
		})
	})
}

// readingRoles is rolesThatRead for a spec, which can do without each of them.
func readingRoles(api *API) []string {
	roles := rolesThatRead(api.Profile)
	for _, role := range roles {
		api.Has(FullKey(role))
	}
	return roles
}

// rolesThatRead returns the roles whose keys read without touching a plan or a limit
// that another check relies on.
func rolesThatRead(p *profile.Profile) []string {
	limit := p.RateLimit
	var roles []string
	for _, role := range slices.Sorted(maps.Keys(p.Workspaces)) {
		limited := role == dataset.Limited || limit != nil && slices.ContainsFunc(p.Keys,
			func(k profile.Key) bool { return k.Name == limit.Key && k.Workspace == role })
		if key, ok := p.FullKey(role); ok && !limited && key.State == profile.KeyActive && role != dataset.Unpaid {
			roles = append(roles, role)
		}
	}
	return roles
}

// otherKeys returns the active keys of the workspace that may make the request, beside
// the full one. A profile may list many keys of one kind, hence the bound.
func otherKeys(p *profile.Profile, role string, op spec.Operation) []client.Key {
	const most = 5
	full, _ := p.FullKey(role)
	alternatives := op.Scope.Alternatives()
	var keys []client.Key
	add := func(key profile.Key) {
		same := key.Name == full.Name || key.Token != "" && key.Token == full.Token
		if !same && len(keys) < most && !slices.Contains(keys, key.ForClient()) {
			keys = append(keys, key.ForClient())
		}
	}
	if role == dataset.Main {
		for _, scope := range alternatives {
			if key, ok := p.ScopedKey(role, scope); ok {
				add(key)
			}
		}
	}
	for _, key := range p.Keys {
		may := slices.ContainsFunc(alternatives, func(scope string) bool { return slices.Contains(key.Scopes, scope) })
		if key.Workspace == role && key.State == profile.KeyActive && may {
			add(key)
		}
	}
	return keys
}

// compare judges what each other key sees. A difference counts if it lasts: the specification
// does not say how soon a change shows in another view.
func (r fullRead) compare(api *API) []Verdict {
	var before view
	if r.full.Operation.Answer == spec.One {
		before = see(api, r.full)
	} else {
		before = viewOf(Shared(api, r.full))
	}
	if before.End != paging.Done || len(before.rows) == 0 {
		return nil
	}
	after := sync.OnceValue(func() view { return see(api, r.full) })
	return Each(api, r.keys, func(key client.Key) Verdict {
		seen := see(api, r.full.WithKey(key).MayBeRefused())
		if seen.End != paging.Done { // SCOPE-EXACT and its neighbours judge a refusal
			return Verdict{}
		}
		found := Verdict{Assessed: 1}
		different := differences(before, seen, before, seen)
		if len(different) > 0 && after().End == paging.Done { // the list may have changed meanwhile
			different = differences(before, seen, after(), seen)
		}
		if len(different) > 0 {
			api.Eventually(func() []Finding {
				first, again, last := see(api, r.full), see(api, seen.List), see(api, r.full)
				var now []Finding // a view that ends early shows no difference
				if first.End == paging.Done && again.End == paging.Done && last.End == paging.Done {
					now = differences(first, again, last, seen)
				}
				different, seen = persisting(different, now), again
				return different
			}).Should(gomega.BeEmpty())
		}
		found.Add(different...)
		return found
	})
}

// persisting returns the differences that were found before: other rows change meanwhile.
func persisting(before, now []Finding) []Finding {
	return slices.DeleteFunc(now, func(f Finding) bool {
		return !slices.ContainsFunc(before, func(b Finding) bool { return b.Pointer == f.Pointer && b.Expected == f.Expected })
	})
}

// view is what a key sees: the rows by their keys, without undocumented fields.
type view struct {
	Walk
	rows map[string]map[string]any
}

// see reads a list or a resource. The walk is not Done if it could not be read.
func see(api *API, k Call) view { return viewOf(api.Walk(k, PagesOf(MaxLimit))) }

func viewOf(w Walk) view {
	seen := view{w, map[string]map[string]any{}}
	for _, row := range w.Values() {
		known := spec.Documented(w.List.Operation.Resource, row)
		seen.rows[paging.KeyOf(w.List.Operation.Resource, known)] = known
	}
	return seen
}

// differences returns what a key sees otherwise than the full key does, which reads
// before and after it. A row that comes or goes meanwhile does not count: a missing row
// is in both views of the full key, and an additional row in none of them, but in an
// earlier view of the key.
func differences(before, seen, after, earlier view) []Finding {
	at := seen.Last()
	doubtful := before.IsDoubtful() || seen.IsDoubtful() || after.IsDoubtful()
	var found []Finding
	for _, key := range slices.Sorted(maps.Keys(before.rows)) {
		first, last, shown := before.rows[key], after.rows[key], seen.rows[key]
		switch {
		case last == nil:
		case shown == nil:
			found = append(found, Found(at, "", "the row "+Shorten(key)+", as with the full key", fmt.Sprintf("%d rows without it", len(seen.rows))))
		case !doubtful:
			found = append(found, changedFields(at, key, first, shown, last)...)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(seen.rows)) {
		if before.rows[key] == nil && after.rows[key] == nil && earlier.rows[key] != nil {
			found = append(found, Found(at, "", "no row that the full key does not see", "the row "+Shorten(key)))
		}
	}
	return found
}

// changedFields returns the fields that both views of the full key show alike, and the
// view of another key otherwise or not at all.
func changedFields(at Response, key string, first, shown, again map[string]any) []Finding {
	if schemas.Covers(first, shown) { // almost always, and faster to tell
		return nil
	}
	var found []Finding
	for _, field := range slices.Sorted(maps.Keys(first)) {
		value, got := first[field], shown[field]
		if sameContent(value, again[field]) && !sameContent(value, got) {
			found = append(found, Found(at, "/"+field, ClipJSON(value)+" in the row "+Shorten(key)+", as with the full key", schemas.Member(shown, field, ClipJSON)))
		}
	}
	return found
}

// sameContent reports whether two values are equal, whatever the order of their arrays:
// the specification gives none for tags and the like. A missing value equals null.
func sameContent(a, b any) bool {
	return reflect.DeepEqual(sortedArrays(Normalize(a)), sortedArrays(Normalize(b)))
}

func sortedArrays(value any) any {
	switch value := value.(type) {
	case map[string]any:
		for name, member := range value {
			value[name] = sortedArrays(member)
		}
	case []any:
		for i, item := range value {
			value[i] = sortedArrays(item)
		}
		slices.SortFunc(value, func(a, b any) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
	}
	return value
}
