package runner

import (
	"testing"

	. "github.com/onsi/gomega"

	"outreach.example/conformance/spec"
)

func TestEverythingIsSelectedUnlessFiltered(t *testing.T) {
	g := NewWithT(t)
	for _, s := range []Selection{{}, {Profiles: []spec.Profile{spec.ProfileFull}}, {Profiles: []spec.Profile{spec.ProfileShape, spec.ProfileFull}}} {
		pairs, err := s.Pairs()
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(pairs).To(Equal(spec.Pairs()))
		g.Expect(s.everything()).To(BeTrue())
		g.Expect(s.profileName()).To(Equal("full"))
		g.Expect(s.String()).To(BeEmpty())
	}
}

func TestPatterns(t *testing.T) {
	for _, tc := range []struct {
		name         string
		selection    Selection
		flags        string
		operations   []string
		requirements []string
	}{
		{"patterns", Selection{Operations: []string{"subsequences.*"}, Requirements: []string{"AUTH-KEY-*"}},
			"--operation subsequences.* --requirement AUTH-KEY-*",
			[]string{spec.ListSubsequences, spec.DeleteSubsequence}, []string{"AUTH-KEY-REVOKED", "AUTH-KEY-UNKNOWN"}},
		{"an exclusion", Selection{Operations: []string{"lead-*.list", "!lead-labels.*"}, Requirements: []string{"PAGE-ORDER"}},
			"--operation lead-*.list --operation !lead-labels.* --requirement PAGE-ORDER", []string{spec.ListLeadLists}, []string{"PAGE-ORDER"}},
		{"what the target implements", Selection{Operations: []string{"lead-*.list"}, Requirements: []string{"PAGE-ORDER"}, Implemented: []string{"!lead-labels.*"}},
			"--operation lead-*.list --requirement PAGE-ORDER", []string{spec.ListLeadLists}, []string{"PAGE-ORDER"}},
		{"a profile and a group", Selection{Profiles: []spec.Profile{spec.ProfileBilling}, Groups: []string{"bill*"}, Operations: []string{spec.ListPhoneNumbers}},
			"--operation phone-numbers.list --group bill*", []string{spec.ListPhoneNumbers}, []string{"BILLING-402"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			g := NewWithT(t)
			g.Expect(tc.selection.String()).To(Equal(tc.flags))
			g.Expect(tc.selection.everything()).To(BeFalse())
			pairs, err := tc.selection.Pairs()
			g.Expect(err).NotTo(HaveOccurred())
			operations, requirements := map[string]bool{}, map[string]bool{}
			for _, p := range pairs {
				operations[p.Operation], requirements[p.Requirement] = true, true
			}
			for _, op := range tc.operations {
				g.Expect(operations).To(HaveKey(op))
			}
			g.Expect(operations).To(HaveLen(len(tc.operations)))
			for _, r := range tc.requirements {
				g.Expect(requirements).To(HaveKey(r))
			}
			g.Expect(requirements).To(HaveLen(len(tc.requirements)))
		})
	}
}

func TestUnknownNames(t *testing.T) {
	for _, tc := range []struct {
		name      string
		selection Selection
		want      []string
	}{
		{"profile", Selection{Profiles: []spec.Profile{"shap"}}, []string{`"shap"`, "did you mean shape?"}},
		{"requirement", Selection{Requirements: []string{"PAGE-ORDR"}}, []string{`"PAGE-ORDR"`, "did you mean PAGE-ORDER?"}},
		{"group", Selection{Groups: []string{"page"}}, []string{`"page"`, "did you mean pages?"}},
		{"the beginning of several", Selection{Requirements: []string{"page"}}, []string{`"page"`, "did you mean PAGE*?", "`outreach-conformance requirements` lists them"}},
		{"a group like no other", Selection{Groups: []string{"foo"}}, []string{`"foo"; known: shape, errors, `}},
		{"one of two", Selection{Requirements: []string{"PAGE-*", "SORTING-UPWARDS-AND-DOWN"}}, []string{"SORTING-UPWARDS-AND-DOWN"}},
		{"not a pattern", Selection{Operations: []string{"[a"}}, []string{`"[a" is not a pattern`}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			g := NewWithT(t)
			pairs, err := tc.selection.Pairs()
			g.Expect(pairs).To(BeEmpty())
			for _, want := range tc.want {
				g.Expect(err).To(MatchError(ContainSubstring(want)))
			}
			g.Expect(err).NotTo(MatchError(ErrNothingSelected))
		})
	}
}

func TestKnownNamesThatLeaveNothing(t *testing.T) {
	g := NewWithT(t)
	_, err := Selection{Profiles: []spec.Profile{spec.ProfileShape}, Groups: []string{"billing"}}.Pairs()
	g.Expect(err).To(MatchError(ErrNothingSelected))
	g.Expect(err).To(MatchError(ContainSubstring("--profile shape --group billing")))
	_, err = Selection{Operations: []string{spec.MoveLead}, Implemented: []string{"!leads.*"}}.Pairs()
	g.Expect(err).To(MatchError(ErrNothingSelected))
	g.Expect(err).To(MatchError(ContainSubstring("--operation leads.move; operations in the target profile: !leads.*")))
}
