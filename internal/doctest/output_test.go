package doctest

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/fixtures/refserver"
	"outreach.example/conformance/fixtures/target"
	"outreach.example/conformance/reports"
	"outreach.example/conformance/reports/view"
	"outreach.example/conformance/spec"
	"outreach.example/conformance/suites/runner"
)

// sampleSeed is the seed of the runs that the README shows.
const sampleSeed = 7

// passedRun is what a run on the reference server prints, trimmed: the head,
// the first rows of the first table with its sum, a few observations, the verdict.
func passedRun(t *testing.T) string {
	lines := run(t, runner.Selection{}, nil)
	if lines == nil {
		return ""
	}
	table := find(t, lines, "operation ")
	sum := find(t, lines, "all ")
	observations := find(t, lines, "OBSERVATIONS ")
	shown := slices.Concat(lines[:table+5], []string{"…"}, lines[sum-1:sum+1], []string{"…", ""}, lines[observations:observations+2])
	for _, openPoint := range []string{spec.OpenPointDefaultLimit, spec.OpenPointDirection, spec.OpenPointLastCursor, spec.OpenPointUnknownCursor} {
		shown = append(shown, lines[find(t, lines, "  "+openPoint+" ")])
	}
	end := slices.IndexFunc(lines, func(l string) bool { return strings.Contains(l, " passed · ") })
	if end < 0 {
		t.Fatalf("the output does not count what passed: %q", lines)
	}
	return fenced(slices.Concat(shown, []string{"  …", ""}, lines[end:]))
}

// failedRun is what a run prints about a server that ignores sort_order.
func failedRun(t *testing.T) string {
	unsorted := transport(func(r *http.Request) (*http.Response, error) {
		query := r.URL.Query()
		query.Del("sort_order")
		damaged := r.Clone(r.Context())
		damaged.URL.RawQuery = query.Encode()
		return http.DefaultTransport.RoundTrip(damaged)
	})
	lines := run(t, runner.Selection{Requirements: []string{"SORT-*"}}, unsorted)
	if lines == nil {
		return ""
	}
	return fenced(lines)
}

type transport func(*http.Request) (*http.Response, error)

func (f transport) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// run judges the reference server and returns the lines of the summary, or none if
// this machine was too busy to assess everything.
func run(t *testing.T, selection runner.Selection, network http.RoundTripper) []string {
	t.Helper()
	results, err := runner.Run(t.Context(), runner.Config{Target: reference(t), Selection: selection, Seed: sampleSeed, Version: "(devel)", Transport: network})
	if err != nil {
		t.Fatal(err)
	}
	count := reports.Count(results.Checks)
	left := incomplete(results)
	others := slices.DeleteFunc(slices.Clone(left), func(line string) bool {
		return strings.HasPrefix(line, "RATE-") || strings.HasPrefix(line, "ERROR-429-") // a limit that a busy machine did not exceed
	})
	if len(others) > 0 || (count.Fail > 0) != (network != nil) {
		t.Fatalf("not a run to show: %+v, %v, %v", count, results.Reasons, left)
	}
	if len(left) > 0 {
		unshowable(t, "not a run to show: %+v, %v, %v", count, results.Reasons, left)
		return nil
	}
	var summary bytes.Buffer
	if err := view.Formats["console"].Run(&summary, results, view.Options{ResultsPath: "conformance-results/results.json", ExitCode: results.ExitCode()}); err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSpace(summary.String()), "\n")
}

// reference is a reference server for the rest of the test.
func reference(t *testing.T) *target.Target {
	t.Helper()
	server, err := target.Embedded(t.Context(), dataset.DefaultOptions(), refserver.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	return server
}

// find returns the first line that begins like that.
func find(t *testing.T, lines []string, beginning string) int {
	t.Helper()
	i := slices.IndexFunc(lines, func(l string) bool { return strings.HasPrefix(l, beginning) })
	if i < 0 {
		t.Fatalf("the output has no line that begins with %q", beginning)
	}
	return i
}

func fenced(lines []string) string {
	return "```text\n" + strings.Join(lines, "\n") + "\n```\n"
}

// incomplete lists what was not assessed or ended in trouble, and why.
func incomplete(results reports.Results) []string {
	var lines []string
	for _, c := range results.Checks {
		if c.Outcome == reports.NotAssessed || c.Outcome == reports.Error {
			lines = append(lines, fmt.Sprintf("%s on %s: %s %v", c.Requirement, c.Operation, c.Outcome, c.Missing))
		}
	}
	return lines
}
