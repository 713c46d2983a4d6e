package loadtest

import (
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/fixtures/target"
	"outreach.example/conformance/internal/client"
	"outreach.example/conformance/loadtest/generate"
	"outreach.example/conformance/loadtest/prepare"
	"outreach.example/conformance/loadtest/schedule"
)

// Walks and probes keep to the profile's rate for load, not to its pace for
// conformance runs.
func TestBareClientsGoNoFasterThanLoadMay(t *testing.T) {
	server := httptest.NewServer(http.NotFoundHandler())
	defer server.Close()
	for name, tc := range map[string]struct {
		load    *profile.LoadUse
		bounded bool
	}{
		"not bounded":    {nil, false},
		"budget alone":   {&profile.LoadUse{Budget: 50}, false},
		"by the profile": {&profile.LoadUse{MaxRate: 10}, true},
	} {
		t.Run(name, func(t *testing.T) {
			p := profile.Embedded()
			p.BaseURL, p.Load = server.URL, tc.load
			p.Pace.RequestsPerSecond = 1
			env, err := environment(t.Context(), Config{Target: &target.Target{BaseURL: server.URL, Profile: p}}, prepare.NewBudget(0), false)
			if err != nil {
				t.Fatal(err)
			}
			api, err := env.Bare(1, "127.0.0.1")
			if err != nil {
				t.Fatal(err)
			}
			defer api.Close()
			began := time.Now()
			for range 4 {
				if ex := api.Do(t.Context(), client.Request{Operation: "lead-lists.list", Method: http.MethodGet, Path: "/lead-lists", NoRetry: true}); ex.Status != http.StatusNotFound {
					t.Fatalf("%+v", ex)
				}
			}
			if took := time.Since(began); tc.bounded != (took > 250*time.Millisecond) {
				t.Errorf("4 requests took %s", took)
			}
		})
	}
}

// The generator and the client send the User-Agent of the profile.
func TestUserAgentOfTheProfile(t *testing.T) {
	var named, all atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		all.Add(1)
		if r.UserAgent() == "staging-test/1" {
			named.Add(1)
		}
	}))
	defer server.Close()
	p := profile.Embedded()
	p.BaseURL, p.UserAgent = server.URL, "staging-test/1"
	env, err := environment(t.Context(), Config{Target: &target.Target{BaseURL: server.URL, Profile: p}}, prepare.NewBudget(0), false)
	if err != nil {
		t.Fatal(err)
	}
	defer env.Client.Close()
	defer env.Generator.Close()
	env.Client.Do(t.Context(), client.Request{Operation: "lead-lists.list", Method: http.MethodGet, Path: "/lead-lists", NoRetry: true})
	phase := generate.Phase{Schedule: schedule.Constant(100, 50*time.Millisecond), LateTolerance: time.Minute, Mix: func(uint64) generate.Request { return generate.Request{Path: "/"} }}
	if _, _, err := env.Generator.Run(t.Context(), phase); err != nil {
		t.Fatal(err)
	}
	if all.Load() != 6 || named.Load() != 6 {
		t.Errorf("%d of %d requests named the profile's agent, want 6 of 6", named.Load(), all.Load())
	}
}
