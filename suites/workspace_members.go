package suites

import (
	"maps"
	"slices"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	"github.com/onsi/gomega"
	"github.com/onsi/gomega/types"

	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/internal/oracle"
	"outreach.example/conformance/internal/paging"
	"outreach.example/conformance/spec"

	. "outreach.example/conformance/suites/api"

	. "outreach.example/conformance/suites/match"
)

// workspaceMembers judges listing the members of a workspace.
func workspaceMembers() {
	Describe(spec.ListMembers, func() {
		It("finds a member by the name", Requires(spec.FilterSearchMemberMissing), Needs(Parameter(spec.ListMembers, profile.ParamSearch)), findsByName)
	})
}

// findsByName searches for members by their names. The specification does not say how the
// parts of a name are matched, so each of some forms may be the one that finds a member.
func findsByName(api *API) {
	list := api.Request()
	members := slices.DeleteFunc(Shared(api, list).Rows(), func(m paging.Row) bool { return !m.ByID || len(formsOfName(m.Value)) == 0 })
	if len(members) == 0 {
		api.NotAssessed("a member whose name shows in no other field")
	}
	for _, m := range []paging.Row{members[0], members[len(members)-1]} {
		var found searches
		api.Eventually(func() bool {
			found = nil
			for _, form := range formsOfName(m.Value) {
				found = append(found, api.Read(FilteredBy(api, list, map[string]string{profile.ParamSearch: form})))
			}
			return found.show(m.Key)
		}).Should(gomega.BeTrue())
		api.Expect(found).To(FindBySomeForm(m.Key, api.MostPages()))
	}
}

// formsOfName returns the forms in which people write the member's name. A part that another
// field holds, too, is not searched for by itself: the email would do. There are none if the
// name is not whole, or other fields hold both of its parts.
func formsOfName(member map[string]any) []string {
	name, _ := member["name"].(map[string]any)
	first, last := strings.TrimSpace(oracle.Scalar(name["first"])), strings.TrimSpace(oracle.Scalar(name["last"]))
	if first == "" || last == "" {
		return nil
	}
	others := maps.Clone(member)
	delete(others, "name")
	parts := slices.DeleteFunc([]string{first, last}, func(part string) bool { return oracle.ContainsWord(paging.Row{Value: others}, part) })
	if len(parts) == 0 {
		return nil
	}
	return append(parts, first+" "+last, last+" "+first, last+", "+first)
}

// searches are walks of a list that is searched by one form of a name each.
type searches []Walk

func (s searches) show(key string) bool {
	return slices.ContainsFunc(s, func(w Walk) bool { return w.Keys()[key] > 0 })
}

// FindBySomeForm matches searches if any of them shows the row.
func FindBySomeForm(key string, maxPages int) types.GomegaMatcher {
	return &Expectation[searches]{Words: "find the row by some form of the name", Judge: func(all searches) Verdict {
		if all.show(key) {
			return Verdict{Assessed: 1}
		}
		for _, w := range all {
			if !w.Complete() {
				return Verdict{Missing: w.Unread(maxPages)}
			}
		}
		return Verdict{Assessed: 1, Findings: []Finding{Found(all[0].At(0), "/items", "the member "+Shorten(key)+", by some form of the name",
			"no search for a form of the name shows it")}}
	}}
}
