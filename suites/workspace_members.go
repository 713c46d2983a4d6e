package suites

import (
	"slices"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	"github.com/onsi/gomega/types"

	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/internal/oracle"
	"outreach.example/conformance/internal/paging"
	"outreach.example/conformance/spec"
)

// workspaceMembers judges listing the members of a workspace.
func workspaceMembers() {
	Describe(spec.ListMembers, func() {
		documentedShape(readEachWay)

		It("finds a member by the name", Requires(spec.FilterSearchMemberMissing), findsByName)
	})
}

// findsByName searches for members by their names. The specification does not say how the
// parts of a name are matched, so each of some forms may be the one that finds a member.
func findsByName(api *API) {
	list := api.Request()
	members := slices.DeleteFunc(api.ReadAll(list).Rows(), func(m paging.Row) bool { return !m.ByID || len(formsOfName(m.Value)) == 0 })
	if len(members) == 0 {
		api.NotAssessed("a member whose name shows in no other field")
	}
	for _, m := range []paging.Row{members[0], members[len(members)-1]} {
		var walks []Walk
		api.look(func() bool {
			walks = nil
			for _, form := range formsOfName(m.Value) {
				walks = append(walks, api.ReadAll(api.filteredBy(list, map[string]string{profile.ParamSearch: form})))
			}
			return slices.ContainsFunc(walks, func(w Walk) bool { return w.Keys()[m.Key] > 0 })
		})
		api.Expect(walks[0]).To(FindBySomeForm(m.Key, walks, api.maxPages()))
	}
}

// formsOfName returns the forms in which people write the member's name; none if the name is
// not whole, or another field of the member holds a part of it, too.
func formsOfName(member map[string]any) []string {
	name, _ := member["name"].(map[string]any)
	first, last := strings.TrimSpace(oracle.Scalar(name["first"])), strings.TrimSpace(oracle.Scalar(name["last"]))
	if first == "" || last == "" {
		return nil
	}
	for field, value := range member {
		if field != "name" && oracle.ContainsWord(map[string]any{field: value}, first+" "+last) {
			return nil
		}
	}
	return []string{first + " " + last, first, last, last + " " + first, last + ", " + first}
}

// FindBySomeForm matches the first of some searches for one row if any of them shows it.
func FindBySomeForm(key string, searches []Walk, maxPages int) types.GomegaMatcher {
	return onWalk("find the row by some form of the name", func(w Walk) Verdict {
		if slices.ContainsFunc(searches, func(s Walk) bool { return s.Keys()[key] > 0 }) {
			return Verdict{Assessed: 1}
		}
		for _, s := range searches {
			if !s.Complete() {
				return Verdict{Missing: s.unread(maxPages)}
			}
		}
		return Verdict{Assessed: 1, Findings: []Finding{{w.At(0), "/items", "the member " + shorten(key) + ", by some form of the name",
			"no search for a form of the name shows it"}}}
	})
}
