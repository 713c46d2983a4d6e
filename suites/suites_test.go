package suites_test

import (
	"context"
	"os"
	"testing"

	"github.com/onsi/ginkgo/v2"
	"github.com/onsi/ginkgo/v2/types"
	"github.com/onsi/gomega"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/fixtures/refserver"
	"outreach.example/conformance/fixtures/target"
	"outreach.example/conformance/internal/client"
	"outreach.example/conformance/internal/judge"
	"outreach.example/conformance/reports"
	"outreach.example/conformance/spec"
	"outreach.example/conformance/suites"
)

// TestConformance judges a target as an ordinary Ginkgo suite, one spec after
// the other: the reference server, or the server at OUTREACH_TARGET, which
// OUTREACH_TARGET_PROFILE describes. Ginkgo's flags filter the specs, whose
// labels are the requirements that they judge:
//
//	go test ./suites -run TestConformance -args -ginkgo.label-filter=PAGE-ORDER
//	ginkgo --label-filter='/^AUTH-/' ./suites
func TestConformance(t *testing.T) {
	subject := subjectOfTest(t)
	env := environment(t, subject)
	suites.Register(t.Context(), env, suites.All())
	ran := 0
	ginkgo.ReportAfterEach(func(r ginkgo.SpecReport) {
		if !r.State.Is(types.SpecStateSkipped | types.SpecStatePending) {
			ran++
		}
	})
	gomega.RegisterFailHandler(ginkgo.Fail)
	ginkgo.RunSpecs(t, "Outreach Campaign Service API v2")

	if suite, _ := ginkgo.GinkgoConfiguration(); suite.DryRun || suite.ParallelTotal > 1 {
		return // nothing has run, or other processes have run the rest
	}
	if ran == 0 {
		t.Fatal("the filters leave no spec to run")
	}
	checks := env.Ledger.Checks()
	if reports.Count(checks).Pass == 0 {
		t.Error("no requirement could be assessed")
	}
	whole := ran == len(suites.All())
	for _, c := range checks {
		switch {
		case c.Outcome == reports.Error || c.Outcome == reports.Fail:
			t.Errorf("%s on %s: %s", c.Requirement, c.Operation, c.Outcome)
		case c.Outcome == reports.NotAssessed && whole && subject.Kind == target.KindEmbedded:
			t.Errorf("%s on %s was not assessed for want of %q", c.Requirement, c.Operation, c.Missing)
		case c.Outcome == reports.NotAssessed && whole:
			t.Logf("%s on %s was not assessed for want of %q", c.Requirement, c.Operation, c.Missing)
		}
	}
	if troubles := env.Ledger.Troubles(); len(troubles) > 0 {
		t.Errorf("troubles: %+v", troubles)
	}
}

// subjectOfTest brings the target up, or finds it.
func subjectOfTest(t *testing.T) *target.Target {
	t.Helper()
	address, file := os.Getenv("OUTREACH_TARGET"), os.Getenv("OUTREACH_TARGET_PROFILE")
	if address == "" && file == "" {
		subject, err := target.Embedded(t.Context(), dataset.DefaultOptions(), refserver.Options{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := subject.Close(context.WithoutCancel(t.Context())); err != nil {
				t.Error(err)
			}
		})
		return subject
	}
	described := profile.Embedded()
	if file != "" {
		loaded, err := profile.Load(file)
		if err != nil {
			t.Fatal(err)
		}
		described = loaded
	}
	subject, err := target.URL(described, address)
	if err != nil {
		t.Fatal(err)
	}
	if err := subject.Reachable(t.Context()); err != nil {
		t.Fatal(err)
	}
	return subject
}

// environment is what the specs need, over a ledger that is open for every pair.
func environment(t *testing.T, subject *target.Target) *suites.Env {
	t.Helper()
	rules, err := judge.NewRules()
	if err != nil {
		t.Fatal(err)
	}
	profile := subject.Profile
	var keys []client.Key
	for _, k := range profile.Keys {
		keys = append(keys, client.Key{Name: k.Name, Token: k.Token})
	}
	api, err := client.New(client.Options{BaseURL: subject.BaseURL, Keys: keys, Concurrency: profile.Pace.Concurrency,
		RequestsPerSecond: profile.Pace.RequestsPerSecond, Timeout: profile.Pace.Timeout})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(api.Close)
	return &suites.Env{Client: api, Profile: profile, Rules: rules, Ledger: judge.NewLedger(spec.Pairs()), Seed: uint64(ginkgo.GinkgoRandomSeed())}
}
