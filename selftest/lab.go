// Package selftest proves the suites: it runs them against a target that
// conforms, against every quirk, which they must let pass, and against every
// defect, which they must catch for the right reason, and draws the kill matrix:
// for each requirement × operation, the defects that show that its check can fail.
package selftest

import (
	"context"
	"net/http"
	"net/url"

	"outreach.example/conformance/client"
	"outreach.example/conformance/faults"
	"outreach.example/conformance/fixtures"
	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/judge"
	"outreach.example/conformance/refserver"
	"outreach.example/conformance/reports"
	"outreach.example/conformance/spec"
	"outreach.example/conformance/suites"
)

// subject is a conforming target around which one fault is laid.
type subject struct {
	handler faults.Handler
	profile *fixtures.Profile
}

// Source brings up a fresh conforming subject for each case.
type Source func(ctx context.Context) (subject, error)

// Embedded is a source of reference servers in this process, reached without a network.
func Embedded() Source {
	return func(context.Context) (subject, error) {
		data, err := dataset.New(dataset.DefaultOptions())
		if err != nil {
			return subject{}, err
		}
		server, err := refserver.New(data, refserver.Options{})
		if err != nil {
			return subject{}, err
		}
		return subject{faults.Serving(server.Handler()), fixtures.FromDataset(data)}, nil
	}
}

// At is a source that gives a vendor's own conforming server for every case.
func At(profile *fixtures.Profile, base *url.URL, transport http.RoundTripper) Source {
	return func(context.Context) (subject, error) {
		return subject{faults.Forwarding(base, transport), profile}, nil
	}
}

// address stands in requests that never leave the process.
const address = "http://subject.invalid"

// judged is what the suites made of one subject.
type judged struct {
	checks   map[spec.Pair]reports.Check
	troubles []reports.Trouble
}

// examine lays a transform around a fresh subject and judges it by the specs.
func examine(ctx context.Context, source Source, rules *judge.Rules, seed uint64, specs []suites.Spec, lay func(*faults.Around) faults.Transform) (judged, error) {
	s, err := source(ctx)
	if err != nil {
		return judged{}, err
	}
	handler := s.handler
	if lay != nil {
		handler = lay(&faults.Around{Profile: s.profile, Seed: seed})(handler)
	}
	keys := make([]client.Key, 0, len(s.profile.Keys))
	for _, k := range s.profile.Keys {
		keys = append(keys, client.Key{Name: k.Name, Token: k.Token})
	}
	api, err := client.New(client.Options{BaseURL: address, Keys: keys, Seed: seed, Transport: faults.RoundTripper(handler, ""),
		Concurrency: s.profile.Pace.Concurrency, Timeout: s.profile.Pace.Timeout})
	if err != nil {
		return judged{}, err
	}
	defer api.Close()
	ledger := judge.NewLedger(spec.Pairs())
	env := &suites.Env{Client: api, Profile: s.profile, Rules: rules, Ledger: ledger, Seed: seed}
	for _, sp := range specs {
		sp.Judge(ctx, env)
	}
	result := judged{checks: map[spec.Pair]reports.Check{}, troubles: ledger.Troubles()}
	for _, c := range ledger.Checks() {
		result.checks[spec.Pair{Requirement: c.Requirement, Operation: c.Operation}] = c
	}
	return result, nil
}
