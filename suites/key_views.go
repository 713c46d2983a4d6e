package suites

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	"github.com/onsi/gomega"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/internal/client"
	"outreach.example/conformance/internal/oracle"
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

// view is what another key sees, and how it differs from what the full key sees.
type view struct {
	seen      Walk
	different []Finding
}

// compare judges what each other key sees. A difference counts if it lasts: the specification
// does not say how soon a change shows in another view. Only walks with different keys go on at
// the same time: a replay could not tell others apart.
func (r fullRead) compare(api *API) []Verdict {
	see := func(k Call) Walk { return api.Walk(k, PagesOf(spec.MaxLimit)) } // it is not Done if it could not be read
	first := see
	if r.full.Operation.Answer != spec.One {
		first = func(k Call) Walk { return Shared(api, k) }
	}
	before := first(r.full)
	if before.End != paging.Done || len(before.Rows()) == 0 {
		return nil
	}
	views := Each(api, r.keys, func(key client.Key) view { return view{seen: see(r.full.WithKey(key).MayBeRefused())} })
	views = slices.DeleteFunc(views, func(v view) bool { return v.seen.End != paging.Done }) // SCOPE-EXACT and its neighbours judge a refusal
	if differ(views, before, before) {
		if after := see(r.full); after.End != paging.Done || differ(views, before, after) { // the list may have changed meanwhile
			api.Eventually(func() bool { return r.stillDiffer(api, views, see) }).Should(gomega.BeFalse())
		}
	}
	verdicts := make([]Verdict, len(views))
	for i, v := range views {
		verdicts[i] = Verdict{Assessed: 1}
		verdicts[i].Add(v.different...)
	}
	return verdicts
}

// differ looks for differences from what the full key sees before and after, and reports whether
// there are any.
func differ(views []view, before, after Walk) bool {
	some := false
	for i, v := range views {
		views[i].different = differences(before, v.seen, after, v.seen)
		some = some || len(views[i].different) > 0
	}
	return some
}

// stillDiffer looks again with the keys that saw differences, and reports whether some of these last.
func (r fullRead) stillDiffer(api *API, views []view, see func(Call) Walk) bool {
	first := see(r.full)
	again := Each(api, views, func(v view) Walk {
		if len(v.different) == 0 {
			return v.seen
		}
		return see(v.seen.List)
	})
	last := see(r.full)
	some := false
	for i, v := range views {
		var now []Finding // a view that ends early shows no difference
		if first.End == paging.Done && again[i].End == paging.Done && last.End == paging.Done {
			now = differences(first, again[i], last, v.seen)
		}
		views[i] = view{again[i], persisting(v.different, now)}
		some = some || len(views[i].different) > 0
	}
	return some
}

// persisting returns the differences that were found before: other rows change meanwhile.
func persisting(before, now []Finding) []Finding {
	return slices.DeleteFunc(now, func(f Finding) bool {
		return !slices.ContainsFunc(before, func(b Finding) bool { return path.Base(b.Pointer) == path.Base(f.Pointer) && b.Expected == f.Expected })
	})
}

// differences returns what a key sees otherwise than the full key does, which reads
// before and after it. A row that comes or goes meanwhile does not count: a missing row
// is in both views of the full key, and an additional row in none of them, but in an
// earlier view of the key.
func differences(before, seen, after, earlier Walk) (found []Finding) {
	a := Asked{Walk: seen}
	for _, m := range a.Compare(oracle.List{Operation: seen.List.Operation, Rows: alike(before, after)}).Mismatches {
		changed := strings.HasPrefix(m.Expected, "absent") // a field that the full key does not show alike
		if m.Missing != "" || m.Requirement == spec.ListSameValues && !changed && !before.IsDoubtful() && !after.IsDoubtful() {
			found = append(found, a.Finding(m))
		}
	}
	full, later, known := before.Keys(), after.Keys(), earlier.Keys()
	for _, key := range slices.Sorted(maps.Keys(seen.Keys())) {
		if full[key] == 0 && later[key] == 0 && known[key] > 0 {
			found = append(found, Found(seen.Last(), "", "no row that the full key does not see", "the row "+Shorten(key)))
		}
	}
	return found
}

// alike returns the rows that both walks show, with the fields that they show alike: each
// request may change the others.
func alike(before, after Walk) (rows []paging.Row) {
	later := after.ByKey()
	for _, row := range before.Rows() {
		if last := later[row.Key]; last != nil {
			row.Value = maps.Clone(row.Value)
			maps.DeleteFunc(row.Value, func(field string, value any) bool { return !schemas.Agree(value, last[field]) })
			rows = append(rows, row)
		}
	}
	return rows
}
