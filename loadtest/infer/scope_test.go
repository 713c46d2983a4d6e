package infer

import "testing"

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
