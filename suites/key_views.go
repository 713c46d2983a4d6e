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
	"github.com/onsi/gomega/types"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/internal/client"
	"outreach.example/conformance/internal/paging"
	"outreach.example/conformance/schemas"
	"outreach.example/conformance/spec"

	. "outreach.example/conformance/suites/api"

	. "outreach.example/conformance/suites/match"
)

// viewsOfKeys compares what the keys of a workspace see (section Authentication, rule 2).
func viewsOfKeys() {
	for _, op := range spec.ScopeSameRows.Operations() {
		Describe(op.ID, func() {
			It("shows every key of a workspace the same rows", Requires(spec.ScopeSameRows), Needs(anotherKey(op), Cursor(op.ID)), func(api *API) {
				var all []*keyViews
				var work []func()
				for _, role := range readingRoles(api) {
					keys := otherKeys(api.Profile, role, op)
					if op.Answer == spec.One && role != dataset.Main || len(keys) == 0 {
						continue // the run creates its tests in the main workspace
					}
					full := api.As(role, op.ID)
					if op.Answer == spec.One {
						full = api.Request()
					}
					for _, k := range withMetadataToo(full) {
						v := &keyViews{full: k, others: make([]view, len(keys))}
						all, work = append(all, v), append(work, func() { v.read(api, keys) })
					}
				}
				api.Together(work...)
				compared := 0
				for _, v := range all {
					compared += v.compare(api)
				}
				if compared == 0 {
					api.NotAssessed("%s", seenByAnother(op))
				}
			})
		})
	}
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

// keyViews are what the full key sees, and then the others.
type keyViews struct {
	full   Call
	before view
	others []view
}

func (v *keyViews) read(api *API, keys []client.Key) {
	v.before = see(api, v.full)
	var work []func()
	for i, key := range keys {
		work = append(work, func() { v.others[i] = see(api, v.full.WithKey(key).MayBeRefused()) })
	}
	api.Together(work...)
}

// compare reads with the full key again if the views differ. It returns how many keys were
// compared. A difference counts if it lasts: the specification does not say how soon a change
// shows in another view.
func (v *keyViews) compare(api *API) (compared int) {
	full, before, seen := v.full, v.before, v.others
	if before.End != paging.Done || len(before.Rows()) == 0 {
		return 0
	}
	after := sync.OnceValue(func() view { return see(api, full) })
	found := make([][]Finding, len(seen))
	differ := map[int]view{}
	for i := range seen {
		if seen[i].End != paging.Done { // SCOPE-EXACT and its neighbours judge a refusal
			continue
		}
		compared++
		found[i] = differences(before, seen[i], before, seen[i])
		if len(found[i]) > 0 && after().End == paging.Done {
			found[i] = differences(before, seen[i], after(), seen[i])
		}
		if len(found[i]) > 0 {
			differ[i] = seen[i]
		}
	}
	if len(differ) > 0 {
		api.Eventually(func() bool { return v.lookAgain(api, found, differ) }).Should(gomega.BeTrue())
	}
	for i := range seen {
		if seen[i].End == paging.Done {
			api.Expect(seen[i].Walk).To(ShowWhatTheFullKeySees(found[i]))
		}
	}
	return compared
}

// lookAgain keeps the differences that the views that differed before still show. It
// reports whether there are none.
func (v *keyViews) lookAgain(api *API, found [][]Finding, differ map[int]view) (none bool) {
	first, again := see(api, v.full), make([]view, len(v.others))
	var work []func()
	for i := range differ {
		work = append(work, func() { again[i] = see(api, v.others[i].List) })
	}
	api.Together(work...)
	last := see(api, v.full)
	for i, earlier := range differ {
		var now []Finding // a view that ends early shows no difference
		if first.End == paging.Done && again[i].End == paging.Done && last.End == paging.Done {
			now = differences(first, again[i], last, earlier)
		}
		if found[i] = persisting(found[i], now); len(found[i]) == 0 {
			delete(differ, i)
		} else {
			differ[i] = again[i]
		}
	}
	return len(differ) == 0
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
func see(api *API, k Call) view {
	w := api.Walk(k, PagesOf(MaxLimit))
	seen := view{w, map[string]map[string]any{}}
	for _, row := range w.Values() {
		known := spec.Documented(k.Operation.Resource, row)
		seen.rows[paging.KeyOf(k.Operation.Resource, known)] = known
	}
	return seen
}

// differences returns what a key sees otherwise than the full key does, which reads
// before and after it. A row that comes or goes meanwhile does not count: a missing row
// is in both views of the full key, and an additional row in none of them, but in an
// earlier view of the key.
func differences(before, seen, after, earlier view) []Finding {
	first, here, last, known := before.rows, seen.rows, after.rows, earlier.rows
	at := seen.Last()
	var found []Finding
	for _, key := range slices.Sorted(maps.Keys(first)) {
		again, stays := last[key]
		shown, ok := here[key]
		switch {
		case !stays:
		case !ok:
			found = append(found, Found(at, "", "the row "+Shorten(key)+", as with the full key", fmt.Sprintf("%d rows without it", len(here))))
		default:
			if !before.IsDoubtful() && !seen.IsDoubtful() && !after.IsDoubtful() {
				found = append(found, changedFields(at, key, first[key], shown, again)...)
			}
		}
	}
	for _, key := range slices.Sorted(maps.Keys(here)) {
		if first[key] == nil && last[key] == nil && known[key] != nil {
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

// ShowWhatTheFullKeySees matches a walk in which nothing differs from the full key's.
func ShowWhatTheFullKeySees(differences []Finding) types.GomegaMatcher {
	return FoundNothing[Walk]("show what the full key sees", differences)
}
