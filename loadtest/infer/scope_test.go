package infer

import "testing"

// What keeps from telling several dimensions of a scope is said once.
func TestCaveatsOfAScope(t *testing.T) {
	untold := func(why string) Sharing { return Sharing{Shared: Answer{Why: why}} }
	a := scope(map[Subject]Sharing{OtherKey: untold("too few"), OtherOperation: untold("too few"), OtherMethod: untold("there is none"),
		OtherAddress: {Shared: Answer{Value: Shared}}})
	if want := "cannot tell all of it; by key, operation: too few; by method: there is none"; a.Value != "" || a.Why != want {
		t.Errorf("%+v, want %q", a, want)
	}
}
