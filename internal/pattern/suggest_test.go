package pattern

import "testing"

func TestNear(t *testing.T) {
	names := []string{"run", "load", "selftest", "--rows"}
	for given, want := range map[string]string{
		"run": "run", "ruin": "run", "LOAD": "load", "laod": "load", "sefltest": "selftest",
		"": "", "QUITE-SOME": "", "--rwos": "--rows", "--nope": "",
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

func TestSeveral(t *testing.T) {
	names := []string{"PAGE-ORDER", "PAGE-WALK-ENDS", "PAGE-WALK-ONCE", "FILTER-WALK", "PAGE-WALK-SEQUENCE", "SORT-ASC"}
	for given, want := range map[string]string{
		"page-walk": "PAGE-WALK-ENDS, PAGE-WALK-ONCE or PAGE-WALK-SEQUENCE",
		"WALK-ONCE": "PAGE-WALK-ONCE",
		"PAGE-ORDR": "PAGE-ORDER",
		"walk":      "PAGE-WALK-ENDS, PAGE-WALK-ONCE or FILTER-WALK",
		"":          "", "QUITE-SOMETHING-ELSE": "",
	} {
		if want != "" {
			want = Hint(want)
		}
		if got := Several(given, names); got != want {
			t.Errorf("Several(%q) = %q, want %q", given, got, want)
		}
	}
}
