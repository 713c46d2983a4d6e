//go:build unix

package swarm

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"outreach.example/conformance/reports/load"
)

// alike compares phases of the same plan. Plan and counts must be equal.
// Percentiles must be equal within the intervals of the two and the send lag.
// On a machine that is too busy to send in time, percentiles are not compared.
func alike(t *testing.T, merged, single load.Results) {
	t.Helper()
	if len(merged.Scenarios) != 1 || len(single.Scenarios) != 1 {
		t.Fatalf("%d and %d scenarios, want one", len(merged.Scenarios), len(single.Scenarios))
	}
	a, b := merged.Scenarios[0].Phases, single.Scenarios[0].Phases
	if len(a) != 2 || len(b) != 2 {
		t.Fatalf("%d and %d phases, want two", len(a), len(b))
	}
	for i := range a {
		if a[i].Name != b[i].Name || a[i].Planned != b[i].Planned || a[i].RatePerSecond != b[i].RatePerSecond || a[i].Seconds != b[i].Seconds {
			t.Errorf("phase %d of the merged run is %q: %d at %v/s for %vs; of the single one %q: %d at %v/s for %vs", i,
				a[i].Name, a[i].Planned, a[i].RatePerSecond, a[i].Seconds, b[i].Name, b[i].Planned, b[i].RatePerSecond, b[i].Seconds)
		}
		if len(a[i].Labels) != len(b[i].Labels) {
			t.Errorf("phase %s: %d labels merged, %d single", a[i].Name, len(a[i].Labels), len(b[i].Labels))
		}
		for k := range min(len(a[i].Labels), len(b[i].Labels)) {
			if x, y := a[i].Labels[k], b[i].Labels[k]; x.Name != y.Name || x.Accepted != y.Accepted {
				t.Errorf("phase %s: merged %d of %s, single %d of %s", a[i].Name, x.Accepted, x.Name, y.Accepted, y.Name)
			}
		}
		if a[i].Response.Accepted == nil || b[i].Response.Accepted == nil {
			t.Fatalf("phase %s has no accepted answers", a[i].Name)
		}
		if late := quantile(a[i].Lag, 0.99) + quantile(b[i].Lag, 0.99); late > tooLate {
			t.Logf("phase %s: the percentiles are not compared: requests went out late by %.2f ms", a[i].Name, late)
			continue
		}
		for k, x := range a[i].Response.Accepted.Quantiles {
			y := b[i].Response.Accepted.Quantiles[k]
			late := quantile(a[i].Lag, x.P) + quantile(b[i].Lag, x.P)
			t.Logf("phase %s p%v: merged %.2f ms (%.2f to %.2f), single %.2f ms (%.2f to %.2f); late by %.2f ms", a[i].Name, 100*x.P, x.ValueMS, x.LowMS, x.HighMS, y.ValueMS, y.LowMS, y.HighMS, late)
			// Near a step of the distribution a percentile is uncertain: its interval counts.
			apart := max(x.LowMS-y.HighMS, y.LowMS-x.HighMS)
			if apart > max(1, 0.02*y.ValueMS)+late {
				t.Errorf("phase %s p%v: their intervals are apart by more than 2 %% and 1 ms", a[i].Name, 100*x.P)
			}
		}
	}
}

func quantile(d *load.Distribution, p float64) float64 {
	for _, q := range d.Quantiles {
		if q.P >= p {
			return q.ValueMS
		}
	}
	return d.MaxMS
}

// merge merges parts; the caller judges the verdict. The first part must
// survive the results written beside it.
func merge(t *testing.T, parts []string) load.Results {
	t.Helper()
	dir := t.TempDir()
	first := filepath.Join(dir, "part.json")
	if err := os.WriteFile(first, []byte(parts[0]), 0o600); err != nil {
		t.Fatal(err)
	}
	r := resultsIn(t, dir, "load", "merge", dir, written(t, "parts.jsonl", strings.Join(parts[1:], "\n")+"\n"))
	if kept, err := os.ReadFile(first); err != nil || string(kept) != parts[0] {
		t.Errorf("the part that was merged beside its results: %v", err)
	}
	return r
}

// written writes a file and returns its path.
func written(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// results runs the program, which must reach a verdict, and returns its
// results.
func results(t *testing.T, args ...string) load.Results {
	t.Helper()
	return resultsIn(t, t.TempDir(), args...)
}

func resultsIn(t *testing.T, dir string, args ...string) load.Results {
	t.Helper()
	c := command(t, append(args, "--output", dir)...)
	out, err := c.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	r, err := load.Read(filepath.Join(dir, "load.json"))
	if err != nil {
		t.Fatalf("%v leaves no results: %v\n%s", args, err, out)
	}
	if code := c.ProcessState.ExitCode(); code != r.ExitCode() {
		t.Errorf("%v exits with %d, its results say %d\n%s", args, code, r.ExitCode(), out)
	}
	return r
}
