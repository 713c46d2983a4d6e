package suites

import (
	"slices"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	"github.com/onsi/gomega"

	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/internal/oracle"
	"outreach.example/conformance/internal/paging"
	"outreach.example/conformance/spec"

	. "outreach.example/conformance/suites/api"
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
		var found []Walk
		api.Eventually(func() bool {
			found = Each(api, formsOfName(m.Value), func(form string) Walk {
				return api.Read(FilteredBy(api, list, map[string]string{profile.ParamSearch: form}))
			})
			return slices.ContainsFunc(found, func(w Walk) bool { return w.Keys()[m.Key] > 0 })
		}).Should(gomega.BeTrue())
		api.For(spec.FilterSearchMemberMissing).Judge(foundBySomeForm(m.Key, found))
	}
}

// foundBySomeForm judges that one of the searches shows the member.
func foundBySomeForm(key string, searches []Walk) Verdict {
	found := Verdict{Assessed: 1}
	if !slices.ContainsFunc(searches, func(w Walk) bool { return w.Keys()[key] > 0 }) {
		found.Add(Found(searches[0].At(0), "/items", "the member "+Shorten(key)+", by some form of the name", "no search for a form of the name shows it"))
	}
	return found
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
	others := paging.Row{Value: member}.Text("name")
	parts := slices.DeleteFunc([]string{first, last}, func(part string) bool { return oracle.ContainsWord(others, part) })
	if len(parts) == 0 {
		return nil
	}
	return append(parts, first+" "+last, last+" "+first, last+", "+first)
}
