package doctest

import (
	"fmt"
	"strings"
	"testing"

	"outreach.example/conformance/spec"
	"outreach.example/conformance/suites"
)

// figures counts the catalogue.
func figures(*testing.T) string {
	return fmt.Sprintf("The catalogue holds **%d pairs of requirement × operation**: %d requirements on %d operations.\n"+
		"%d specs judge them. The catalogue also lists %d open points, which are never judged.\n",
		len(spec.Pairs()), len(spec.Requirements()), len(spec.Operations()), len(suites.Tree.Specs()), len(spec.OpenPoints()))
}

// about says what the requirements of a set are about.
var about = map[spec.Profile]string{
	spec.ProfileShape:     "status 200, content types, and type, value and presence of every documented field; works on a stateless mock",
	spec.ProfileRead:      "pages, sort order, filters, 404",
	spec.ProfileWrite:     "a read shows what was created, moved or deleted; invalid bodies are not accepted",
	spec.ProfileScopes:    "401, and which keys may make which request",
	spec.ProfileIsolation: "a key never sees or changes rows of another workspace",
	spec.ProfileAdmin:     "moving accounts between workspaces",
	spec.ProfileBilling:   "402",
	spec.ProfileRateLimit: "429, and that service resumes afterwards",
	spec.ProfileFull:      "all of them; the default",
}

// profiles is a table of the requirement sets.
func profiles(t *testing.T) string {
	requirements, pairs := map[spec.Profile]int{}, map[spec.Profile]int{}
	for _, r := range spec.Requirements() {
		for _, p := range []spec.Profile{r.Profile, spec.ProfileFull} {
			requirements[p]++
			pairs[p] += len(r.Operations)
		}
	}
	var table strings.Builder
	table.WriteString("| set | requirements | pairs | about |\n|---|---:|---:|---|\n")
	for _, p := range spec.Profiles() {
		if about[p] == "" {
			t.Fatalf("say in about what the profile %s is about", p)
		}
		fmt.Fprintf(&table, "| `%s` | %d | %d | %s |\n", p, requirements[p], pairs[p], about[p])
	}
	return table.String()
}
