package runner_test

import (
	"net/http"
	"sync"
	"testing"

	. "github.com/onsi/gomega"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/fixtures/refserver"
	"outreach.example/conformance/fixtures/target"
	"outreach.example/conformance/internal/judge"
	"outreach.example/conformance/internal/pattern"
	"outreach.example/conformance/reports"
	"outreach.example/conformance/spec"
	"outreach.example/conformance/suites/runner"
)

// partial is a reference server that serves only the operations of the patterns. The
// function returns the other operations that were requested.
func partial(t *testing.T, serves ...string) (on *target.Target, others func() []string) {
	t.Helper()
	return lacking(t, http.NotFound, serves...)
}

// lacking is partial, with the answer to requests for the other operations.
func lacking(t *testing.T, answer http.HandlerFunc, serves ...string) (on *target.Target, others func() []string) {
	t.Helper()
	var mu sync.Mutex
	requested := map[string]bool{}
	absent := func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			op, _, ok := spec.MatchOperation(r.Method, r.URL.Path)
			if !ok || pattern.Fits(serves, op.ID) {
				next.ServeHTTP(w, r)
				return
			}
			mu.Lock()
			requested[op.ID] = true
			mu.Unlock()
			answer(w, r)
		})
	}
	data := dataset.DefaultOptions()
	data.Rows = 40
	on, err := target.Embedded(t.Context(), data, refserver.Options{Middleware: []func(http.Handler) http.Handler{absent}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := on.Close(t.Context()); err != nil {
			t.Log(err) // the test's context has ended
		}
	})
	return on, func() []string {
		mu.Lock()
		defer mu.Unlock()
		var ids []string
		for id := range requested {
			ids = append(ids, id)
		}
		return ids
	}
}

// A run judges what the profile lists, and sends nothing to other operations.
func TestRunObeysTheOperationsOfTheProfile_long(t *testing.T) {
	for name, serves := range map[string][]string{
		"lists":              {"webhook-events.list", "phone-numbers.list"},
		"without a deletion": {"inbox-placement-tests.*", "!inbox-placement-tests.delete", "accounts.move"},
		"without leads":      {"!lead*"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			on, others := partial(t, serves...)
			on.Profile.Operations = serves
			results, err := runner.Run(t.Context(), runner.Config{Target: on, Seed: 1})
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(others()).To(BeEmpty(), "requests to excluded operations")
			g.Expect(results.Verdict).To(Equal(reports.Passed), "%v", results.Reasons)
			g.Expect(results.Troubles).To(BeEmpty())
			g.Expect(results.Run.Operations).To(Equal(serves))
			g.Expect(results.Observations).NotTo(BeEmpty())
			for _, c := range results.Checks {
				g.Expect(pattern.Fits(serves, c.Operation)).To(BeTrue(), "%s", c.Operation)
			}
		})
	}
}

// A check that looks for a value in the rows of another operation names the entry of
// the profile that holds such values, if that operation is not implemented.
func TestValueOfAnExcludedList_long(t *testing.T) {
	g := NewWithT(t)
	on, _ := partial(t, "!"+spec.ListTagMappings)
	on.Profile.Operations = []string{"!" + spec.ListTagMappings}
	selection := runner.Selection{Operations: []string{spec.CreatePlacementTest}}
	results, err := runner.Run(t.Context(), runner.Config{Target: on, Seed: 1, Selection: selection})
	g.Expect(err).NotTo(HaveOccurred())
	var missing []string
	for _, c := range results.Checks {
		if c.Outcome == reports.NotAssessed {
			missing = append(missing, c.Missing...)
		}
	}
	g.Expect(missing).To(ContainElement(ContainSubstring("workspaces.main.tags")))
	g.Expect(missing).NotTo(ContainElement(ContainSubstring("the operation " + spec.ListTagMappings)))
}

// A missing operation is one failure, and what needs it is not assessed. Other operations
// depend most on these. The self-test takes away each of the 18.
func TestMissingOperationIsOneFailure_long(t *testing.T) {
	rules, err := judge.NewRules()
	if err != nil {
		t.Fatal(err)
	}
	for operation, answer := range map[string]http.HandlerFunc{
		spec.ListPlacementTests:  http.NotFound,
		spec.CreatePlacementTest: func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusMethodNotAllowed) },
		spec.MoveAccounts:        func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNotImplemented) },
	} {
		t.Run(operation, func(t *testing.T) {
			g := NewWithT(t)
			on, _ := lacking(t, answer, "!"+operation)
			results, err := runner.Run(t.Context(), runner.Config{Target: on, Seed: 1, Rules: rules})
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(results.Verdict).To(Equal(reports.Failed))
			g.Expect(results.Troubles).To(BeEmpty())
			for _, c := range results.Checks {
				switch {
				case c.Operation == operation && c.Requirement == "SERVED":
					g.Expect(c.Outcome).To(Equal(reports.Fail))
				case c.Operation == operation:
					g.Expect(c.Outcome).To(Equal(reports.NotAssessed), c.Requirement)
					g.Expect(c.Missing).To(ContainElement(ContainSubstring("the operation "+operation)), c.Requirement)
				default:
					g.Expect(c.Outcome).To(BeElementOf(reports.Pass, reports.NotAssessed), "%s on %s", c.Requirement, c.Operation)
				}
			}
		})
	}
}
