package api

import (
	"maps"
	"slices"

	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/internal/judge"
	"outreach.example/conformance/internal/sandbox"
	"outreach.example/conformance/spec"
)

// Take ends the spec if the profile lacks the need.
func (api *API) Take(n Need) {
	api.taken(n, false)
	if words := n.missing(api.given()); words != "" {
		api.NotAssessed("%s", words)
	}
}

// Has reports whether the profile has what the spec can do without. The spec may take it then.
func (api *API) Has(n Need) bool {
	api.taken(n, true)
	return n.missing(api.given()) == ""
}

func (api *API) given() given { return given{api.Profile, api.share(api.Spec)} }

// taken notes what the spec takes; optional is what it can do without.
func (api *API) taken(n Need, optional bool) {
	api.mu.Lock()
	defer api.mu.Unlock()
	for _, name := range n.single(api.Profile) {
		api.took[name] = api.took[name] || optional
	}
}

// Undeclared returns the needs that a body of the spec took and that the spec does not declare.
func (s Spec) Undeclared(p *profile.Profile, r Result) []string {
	declared := map[string]bool{}
	for _, n := range s.needs() {
		for _, name := range n.single(p.Unminted()) {
			declared[name] = true
		}
	}
	return slices.DeleteFunc(slices.Sorted(maps.Keys(r.needs)), func(name string) bool { return r.needs[name] || declared[name] })
}

// needs returns what the spec declares, and what its operation implies: a valid request, unless
// the spec declares what its requests of the operation need.
func (s Spec) needs() []Need {
	if slices.ContainsFunc(s.Needs, func(n Need) bool { return n.of == s.Operation }) {
		return s.Needs
	}
	return append(slices.Clone(s.Needs), RequestOf(AuthorizedRole(spec.MustOperation(s.Operation)), s.Operation))
}

// Lacks returns what the profile lacks for each pair of the spec that cannot be judged, in words.
// share is what the spec may take of the expendable subsequences. No key is minted: a profile
// that mints has every key.
func (s Spec) Lacks(p *profile.Profile, share sandbox.Share) map[spec.Pair]string {
	lacks, g := map[spec.Pair]string{}, given{p.Unminted(), share}
	for _, n := range s.needs() {
		words := n.missing(g)
		for _, pair := range s.Pairs {
			if words != "" && lacks[pair] == "" && n.covers(pair) {
				lacks[pair] = judge.Short(words)
			}
		}
	}
	return lacks
}
