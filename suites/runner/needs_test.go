package runner

import (
	"context"
	"testing"

	"github.com/onsi/gomega"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/fixtures/refserver"
	"outreach.example/conformance/internal/client"
	"outreach.example/conformance/internal/judge"
	"outreach.example/conformance/suites"
	"outreach.example/conformance/suites/selftest/faults"

	. "outreach.example/conformance/suites/api"
)

// Each need that a body takes is declared in its node, or implied by its operation.
func TestNeedsAreDeclared_long(t *testing.T) {
	g := gomega.NewWithT(t)
	options := dataset.DefaultOptions()
	options.Rows = 60
	loaded, err := refserver.Generate(options)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	server, err := loaded.Server(refserver.Options{})
	g.Expect(err).NotTo(gomega.HaveOccurred())
	env := &Env{Profile: profile.FromDataset(loaded.Data()), Seed: 1}
	env.Rules, err = judge.NewRules()
	g.Expect(err).NotTo(gomega.HaveOccurred())
	env.Client, err = client.New(client.Options{BaseURL: "http://subject.invalid", Observe: env.Observe,
		Transport: faults.RoundTripper(faults.Serving(server.Handler()), "")})
	g.Expect(err).NotTo(gomega.HaveOccurred())
	env.Begin()
	for _, s := range suites.Tree.Specs() {
		for _, need := range s.Undeclared(env.Profile, s.Execute(t.Context(), nil, env, Execution{})) {
			t.Errorf("%s (%s) does not declare: %s", s.Name(), s.Location, need)
		}
	}
	env.Sandbox().Close(context.WithoutCancel(t.Context()))
}
