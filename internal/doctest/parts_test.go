package doctest

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/fixtures/refserver"
	"outreach.example/conformance/fixtures/target"
	"outreach.example/conformance/loadtest"
	"outreach.example/conformance/loadtest/scenario"
	"outreach.example/conformance/loadtest/verdict"
	"outreach.example/conformance/reports"
	"outreach.example/conformance/reports/view"
	"outreach.example/conformance/spec"
	"outreach.example/conformance/suites"
	"outreach.example/conformance/suites/runner"
)

// figures counts the catalogue.
func figures(*testing.T) string {
	return fmt.Sprintf("The catalogue holds **%d pairs of requirement × operation**: %d requirements on %d operations.\n"+
		"%d specs judge them. The catalogue also lists %d open points, which are never judged.\n",
		len(spec.Pairs()), len(spec.Requirements()), len(spec.Operations()), len(suites.Tree.Specs()), len(spec.OpenPoints()))
}

// about says what the requirements of a set are about.
var about = map[spec.Profile]string{
	spec.ProfileShape:     "status 200, content types, and type, value and presence of every documented field; works on a stateless mock",
	spec.ProfileRead:      "pages, sort order, filters, 404",
	spec.ProfileWrite:     "a read shows what was created, moved or deleted; invalid bodies are not accepted",
	spec.ProfileScopes:    "401, and which keys may make which request",
	spec.ProfileIsolation: "a key never sees or changes rows of another workspace",
	spec.ProfileAdmin:     "moving accounts between workspaces",
	spec.ProfileBilling:   "402",
	spec.ProfileRateLimit: "429, and that service resumes afterwards",
	spec.ProfileFull:      "all of them; the default",
}

// profiles is a table of the requirement sets.
func profiles(t *testing.T) string {
	requirements, pairs := map[spec.Profile]int{}, map[spec.Profile]int{}
	for _, r := range spec.Requirements() {
		for _, p := range []spec.Profile{r.Profile, spec.ProfileFull} {
			requirements[p]++
			pairs[p] += len(r.Operations)
		}
	}
	var table strings.Builder
	table.WriteString("| set | requirements | pairs | about |\n|---|---:|---:|---|\n")
	for _, p := range spec.Profiles() {
		if about[p] == "" {
			t.Fatalf("say in about what the profile %s is about", p)
		}
		fmt.Fprintf(&table, "| `%s` | %d | %d | %s |\n", p, requirements[p], pairs[p], about[p])
	}
	return table.String()
}

// sampleSeed is the seed of the runs that the README shows.
const sampleSeed = 7

// passedRun is what a run on the reference server prints, trimmed: the head,
// the first rows of the first table with its sum, a few observations, the verdict.
func passedRun(t *testing.T) string {
	lines := run(t, runner.Selection{}, nil)
	if lines == nil {
		return ""
	}
	table := find(t, lines, "\noperation ")
	sum := find(t, lines, "\nall ")
	observations := find(t, lines, "\nOBSERVATIONS ")
	shown := slices.Concat(lines[:table+5], []string{"…"}, lines[sum-1:sum+1], []string{"…", ""}, lines[observations:observations+2])
	for _, openPoint := range []string{spec.OpenPointDefaultLimit, spec.OpenPointDirection, spec.OpenPointLastCursor, spec.OpenPointUnknownCursor} {
		shown = append(shown, lines[find(t, lines, "\n  "+openPoint+" ")])
	}
	return fenced(slices.Concat(shown, []string{"  …", ""}, lines[find(t, lines, " passed · "):]))
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
	if count.Fail > 0 != (network != nil) {
		t.Fatalf("not a run to show: %+v, %v", count, results.Reasons)
	}
	if count.NotAssessed+count.Error > 0 {
		return nil // this machine is busy
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

// find returns the first line that holds the text, or begins with it.
func find(t *testing.T, lines []string, text string) int {
	t.Helper()
	i := slices.IndexFunc(lines, func(l string) bool { return strings.HasPrefix("\n"+l, text) || strings.Contains(l, text) })
	if i < 0 {
		t.Fatalf("the output has no line with %q", text)
	}
	return i
}

func fenced(lines []string) string {
	if lines == nil {
		return ""
	}
	return "```text\n" + strings.Join(lines, "\n") + "\n```\n"
}

// loadRun is what a short load run on the reference server prints. How late this
// machine sends is not what it is to show.
func loadRun(t *testing.T) string {
	t.Helper()
	all := scenario.Builtin()
	mixed := all[slices.IndexFunc(all, func(s scenario.Scenario) bool { return s.Name == "mixed" })]
	mixed.Duration = 5 * time.Second
	config := loadtest.Config{Target: reference(t), Scenarios: []scenario.Scenario{mixed}, ByName: true,
		Selection: "--scenario mixed --duration 5s", Seed: sampleSeed, Version: "(devel)", Terms: verdict.Terms{LagLimit: time.Minute}}
	outcome, err := loadtest.Run(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	if outcome.Results.Verdict == reports.Inconclusive {
		return "" // this machine is busy
	}
	outcome.Results.Scenarios[0].Notes = nil
	var summary bytes.Buffer
	if err := view.Formats["console"].Load(&summary, outcome.Results, view.Options{ReportPath: "load-results/load.html", ResultsPath: "load-results/load.json"}); err != nil {
		t.Fatal(err)
	}
	return fenced(strings.Split(strings.TrimSpace(summary.String()), "\n"))
}
