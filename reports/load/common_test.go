package load_test

import (
	"reflect"
	"testing"

	"outreach.example/conformance/reports/internal/sample"
	"outreach.example/conformance/reports/load"
)

// Common removes a reason that many answers share. Other reasons and known answers stay.
func TestTheCommonReasonOfALimiter(t *testing.T) {
	const busy = "the key was in use"
	cannot, found := load.Answer{Why: busy}, load.Answer{Value: "always", Why: busy}
	l := load.Limiter{
		Verdict: cannot, Scope: cannot, Layers: []load.Layer{{Kind: cannot, Limit: load.Finding{Low: 5, Why: busy}, Window: load.Finding{Why: "no whole window was seen"}}},
		RetryAfter: load.RetryAfter{Present: found}, Sharing: []load.Sharing{{Subject: "other-key", Shared: cannot}},
	}
	why, rest := l.Common()
	want := load.Limiter{Layers: []load.Layer{{Limit: load.Finding{Low: 5}, Window: load.Finding{Why: "no whole window was seen"}}},
		RetryAfter: load.RetryAfter{Present: found}, Sharing: []load.Sharing{{Subject: "other-key"}}}
	if why != busy || !reflect.DeepEqual(rest, want) {
		t.Errorf("%q, %+v", why, rest)
	}
	if l.Layers[0].Kind.Why != busy || l.Sharing[0].Shared.Why != busy {
		t.Error("the results themselves were changed")
	}
	few := load.Limiter{Scope: cannot, Recovery: load.Finding{Why: busy}}
	if why, rest := few.Common(); why != "" || rest.Scope.Why != busy || rest.Recovery.Why != busy {
		t.Errorf("two are few: %q, %+v", why, rest)
	}
	r := sample.FullLoad()
	full := *r.Scenarios[len(r.Scenarios)-1].Limiter
	if why, rest := full.Common(); why != "" || !reflect.DeepEqual(rest, full) {
		t.Errorf("%q is said once of a limiter that was found out", why)
	}
}
