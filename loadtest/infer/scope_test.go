package infer

import (
	"outreach.example/conformance/reports/load"
	"strings"
	"testing"
)

// A reason shared by several dimensions of a scope is given once.
func TestCaveatsOfAScope(t *testing.T) {
	untold := func(why string) load.Answer { return load.Answer{Why: why} }
	shared := load.Answer{Value: Shared}
	a := scope(map[Subject]load.Answer{OtherKey: untold("too few"), OtherOperation: untold("too few"), OtherMethod: untold("there is none"),
		OtherAddress: shared}, []Subject{OtherKey, OtherOperation, OtherAddress})
	if want := "per key, operation: too few; per method: there is none"; a.Value != "" || a.Why != want {
		t.Errorf("%+v, want %q", a, want)
	}
	a = scope(map[Subject]load.Answer{OtherKey: shared, OtherOperation: shared, OtherMethod: shared, OtherAddress: shared,
		OtherWorkspace: untold("it was refused at rest")}, Others())
	if want := "per workspace: it was refused at rest"; a.Value != "" || a.Why != want {
		t.Errorf("%+v, want %q", a, want)
	}
}

// A key that is missing is named by its entry of the profile.
func TestWhereTheMissingKeyBelongs(t *testing.T) {
	p := &prober{}
	for subject, entry := range map[Subject]string{
		OtherKey:       "needs a second key of the same workspace (under keys in the profile, with the workspace of rate_limit.key",
		OtherWorkspace: "needs a key of another workspace (under keys in the profile, with the workspace main, second or admin",
	} {
		if why := p.shared(subject).Why; !strings.Contains(why, entry) {
			t.Errorf("%s: %q, want %q", subject, why, entry)
		}
	}
}
