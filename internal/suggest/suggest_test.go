package suggest

import "testing"

func TestNear(t *testing.T) {
	names := []string{"run", "load", "selftest"}
	for given, want := range map[string]string{
		"run": "run", "ruin": "run", "LOAD": "load", "laod": "load", "sefltest": "selftest",
		"": "", "QUITE-SOME": "",
	} {
		if want != "" {
			want = Hint(want)
		}
		if got := Near(given, names); got != want {
			t.Errorf("Near(%q) = %q, want %q", given, got, want)
		}
	}
	if got := Near("run", nil); got != "" {
		t.Errorf("without names: %q", got)
	}
}
