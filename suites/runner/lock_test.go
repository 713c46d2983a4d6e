package runner

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"slices"
	"testing"

	. "github.com/onsi/gomega"

	"outreach.example/conformance/fixtures"
	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/fixtures/target"
	"outreach.example/conformance/internal/client"
	"outreach.example/conformance/internal/sandbox/owned"
	"outreach.example/conformance/reports"
	"outreach.example/conformance/spec"
	"outreach.example/conformance/suites"
	"outreach.example/conformance/suites/api"
	"outreach.example/conformance/suites/tree"
)

// What another run uses is not assessed and not touched; what nobody else uses is.
func environment(t *testing.T, subject *target.Target) *api.Env {
	t.Helper()
	env, err := NewEnv(Config{Target: subject, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(env.Client.Close)
	return env
}

func TestRowsThatAnotherRunClaims(t *testing.T) {
	subject, err := target.Open(t.Context(), target.Source{Data: dataset.DefaultOptions()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = subject.Close(context.WithoutCancel(t.Context())) })
	const other = "01890000-0000-7000-8000-000000000001"
	var claim = owned.Word(other, 1)
	env := environment(t, subject)
	create := spec.MustOperation(spec.CreatePlacementTest)
	key, _ := subject.Profile.FullKey(dataset.Main)
	body, err := json.Marshal(fixtures.PlacementTest(rand.New(rand.NewPCG(1, 1)), claim))
	if err != nil {
		t.Fatal(err)
	}
	made := env.Client.Do(t.Context(), client.Request{Method: create.Method, Path: create.Path, Body: body, Key: client.Key{Name: key.Name, Token: key.Token}})
	if made.Status != 200 {
		t.Fatal(made)
	}

	shared := []spec.Pair{{Requirement: "ACCOUNTS-MOVED", Operation: spec.MoveAccounts}, {Requirement: "STATE-DELETE-ANSWER", Operation: spec.DeleteSubsequence},
		{Requirement: "SCOPE-EXACT", Operation: spec.DeleteSubsequence}, {Requirement: "RATE-429", Operation: spec.ListLeadLabels}}
	free := []spec.Pair{{Requirement: "STATE-DELETE-ANSWER", Operation: spec.DeletePlacementTest}, {Requirement: "SCOPE-EXACT", Operation: spec.MoveLead}}
	outcomes := func(left ...string) map[spec.Pair]reports.Check {
		env := environment(t, subject)
		env.Left.Runs = left
		outcome, err := suites.Tree.Run(t.Context(), env, tree.Judging(slices.Concat(shared, free)...))
		if err != nil {
			t.Fatal(err)
		}
		ledger, err := outcome.Ledger(spec.Pairs())
		if err != nil {
			t.Fatal(err)
		}
		checks := map[spec.Pair]reports.Check{}
		for _, c := range ledger.Checks() {
			checks[spec.Pair{Requirement: c.Requirement, Operation: c.Operation}] = c
		}
		return checks
	}

	g := NewWithT(t)
	checks := outcomes()
	for _, p := range shared {
		g.Expect(checks[p].Outcome).To(Equal(reports.NotAssessed), "%v", p)
		g.Expect(checks[p].Missing).To(ContainElement(ContainSubstring("it shows the test %s of another run", claim)), "%v", p)
	}
	for _, p := range free {
		g.Expect(checks[p].Outcome).To(Equal(reports.Pass), "%v", p)
	}
	checks = outcomes(other) // the other run was killed
	for _, p := range slices.Concat(shared, free) {
		g.Expect(checks[p].Outcome).To(Equal(reports.Pass), "%v: %v", p, checks[p].Missing)
	}
}
