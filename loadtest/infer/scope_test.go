package infer

import (
	"strings"
	"testing"
)

// A reason shared by several dimensions of a scope is given once.
func TestCaveatsOfAScope(t *testing.T) {
	untold := func(why string) Sharing { return Sharing{Shared: Answer{Why: why}} }
	a := scope(map[Subject]Sharing{OtherKey: untold("too few"), OtherOperation: untold("too few"), OtherMethod: untold("there is none"),
		OtherAddress: {Shared: Answer{Value: Shared}}})
	if want := "per key, operation: too few; per method: there is none"; a.Value != "" || a.Why != want {
		t.Errorf("%+v, want %q", a, want)
	}
	a = scope(map[Subject]Sharing{OtherKey: {Shared: Answer{Value: Shared}}, OtherOperation: {Shared: Answer{Value: Shared}},
		OtherMethod: {Shared: Answer{Value: Shared}}, OtherAddress: {Shared: Answer{Value: Shared}}, OtherWorkspace: untold("it was refused at rest")})
	if want := "per workspace: it was refused at rest"; a.Value != "" || a.Why != want {
		t.Errorf("%+v, want %q", a, want)
	}
}

// A key that is missing is named by its entry of the profile.
func TestWhereTheMissingKeyBelongs(t *testing.T) {
	s := &search{prober: &prober{wire: Wire{}}}
	for subject, entry := range map[Subject]string{
		OtherKey:       "needs a second key of the same workspace (under keys in the profile, with the workspace of rate_limit.key",
		OtherWorkspace: "needs a key of another workspace (under keys in the profile, with the workspace main, second or admin",
	} {
		if why := s.shared(subject, tally{}).Why; !strings.Contains(why, entry) {
			t.Errorf("%s: %q, want %q", subject, why, entry)
		}
	}
}
