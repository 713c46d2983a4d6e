package loadtest

import (
	"context"
	"testing"
	"time"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/loadtest/scenario"
	"outreach.example/conformance/refserver"
	"outreach.example/conformance/reports/load"
	"outreach.example/conformance/target"
)

func embedded(t *testing.T, options refserver.Options) *target.Target {
	t.Helper()
	server, err := target.Embedded(t.Context(), dataset.DefaultOptions(), options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		if err := server.Close(ctx); err != nil {
			t.Errorf("stopping the server: %v", err)
		}
	})
	return server
}

// short makes a built-in scenario quick.
func short(t *testing.T, name string) scenario.Scenario {
	t.Helper()
	for _, s := range scenario.Builtin() {
		if s.Name == name {
			return s
		}
	}
	t.Fatalf("there is no scenario %s", name)
	return scenario.Scenario{}
}

func TestScenariosOnTheReferenceServer(t *testing.T) {
	for _, s := range scenario.Builtin() {
		t.Run(s.Name, func(t *testing.T) {
			o, err := Run(t.Context(), Config{Target: embedded(t, refserver.Options{}), Scenarios: []scenario.Scenario{short(t, s.Name)}, ByName: true,
				Seed: 1, JournalDir: t.TempDir()})
			if err != nil {
				t.Fatal(err)
			}
			r := o.Results
			t.Logf("%s in %.1f s; calibration %+v", r.Verdict, r.Run.Seconds, *r.Calibration)
			for _, s := range r.Scenarios {
				t.Logf("notes %q\ncoverage %+v\nsustained %+v\ndepth %+v\nwalks %+v\ndrift %+v", s.Notes, s.Coverage, s.Sustained, s.Depth, s.Walks, s.Drift)
				if s.Limiter != nil {
					t.Logf("limiter %s", s.Limiter.Summary)
				}
				for _, p := range s.Phases {
					d := p.Response.Accepted
					t.Logf("%s: planned %d sent %d late %d statuses %v failures %v", p.Name, p.Planned, p.Sent, p.Late, p.Statuses, p.Failures)
					if d != nil {
						t.Logf("  %+v", d.Quantiles)
					}
				}
				for _, v := range s.Violations {
					t.Logf("  %s on %s ×%d: %+v", v.Requirement, v.Operation, v.Count, v.Examples[0])
				}
			}
			if r.Verdict != load.Pass {
				t.Errorf("%s: %q", r.Verdict, r.Reasons)
			}
		})
	}
}
