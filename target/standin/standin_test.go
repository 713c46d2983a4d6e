package standin_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"outreach.example/conformance/fixtures"
	"outreach.example/conformance/harness"
	"outreach.example/conformance/reports"
	"outreach.example/conformance/schemas"
	"outreach.example/conformance/spec"
	"outreach.example/conformance/target"
	"outreach.example/conformance/target/standin"
)

func TestExamplesHaveTheDocumentedShape(t *testing.T) {
	transport, err := standin.Transport()
	if err != nil {
		t.Fatal(err)
	}
	validator, err := schemas.New()
	if err != nil {
		t.Fatal(err)
	}
	for _, op := range spec.Operations() {
		address := "http://standin" + strings.ReplaceAll(op.Path, "{id}", "x")
		request, err := http.NewRequestWithContext(t.Context(), op.Method, address, strings.NewReader("{}"))
		if err != nil {
			t.Fatal(err)
		}
		answer, err := transport.RoundTrip(request)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(answer.Body)
		if err != nil || answer.StatusCode != http.StatusOK {
			t.Errorf("%s: %d, %v", op.ID, answer.StatusCode, err)
		}
		if judged := validator.Answer(op, body); judged.Err != nil || len(judged.Findings) > 0 {
			t.Errorf("%s: %v %v in %s", op.ID, judged.Err, judged.Findings, body)
		}
	}
}

// mock serves over the network what the stand-in says, changed.
func mock(t *testing.T, change func(path string, body map[string]any)) *target.Target {
	t.Helper()
	server, err := standin.New()
	if err != nil {
		t.Fatal(err)
	}
	listening := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		recorder := httptest.NewRecorder()
		server.ServeHTTP(recorder, r)
		var body map[string]any
		if json.Unmarshal(recorder.Body.Bytes(), &body) == nil {
			change(r.URL.Path, body)
			changed, _ := json.Marshal(body)
			recorder.Body.Reset()
			recorder.Body.Write(changed)
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(recorder.Code)
		_, _ = w.Write(recorder.Body.Bytes())
	}))
	t.Cleanup(listening.Close)
	on, err := target.URL(fixtures.Mock(), listening.URL)
	if err != nil {
		t.Fatal(err)
	}
	return on
}

func shape(t *testing.T, on *target.Target) reports.Results {
	t.Helper()
	results, err := harness.Run(t.Context(), harness.Config{Target: on, Seed: 1, Selection: harness.Selection{Profiles: []spec.Profile{spec.ProfileShape}}})
	if err != nil {
		t.Fatal(err)
	}
	return results
}

// A stateless mock conforms in the profile shape: what its examples do not show
// is not assessed, and nothing else is left out.
func TestStatelessMockConformsInShape(t *testing.T) {
	for name, change := range map[string]func(string, map[string]any){
		"one page": func(string, map[string]any) {},
		"the same page for ever": func(_ string, body map[string]any) {
			if _, ok := body["items"]; ok {
				body["next_starting_after"] = "01890a5d-ac96-774b-bcce-b302099a0500"
			}
		},
		"optional fields missing": func(path string, body map[string]any) {
			if path == "/api/v2/leads/subsequence/move" {
				delete(body, "company_domain")
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			results := shape(t, mock(t, change))
			g.Expect(results.Verdict).To(Equal(reports.Conforms), "%v %v", results.Reasons, results.Troubles)
			passed := map[string]int{}
			for _, c := range results.Checks {
				switch c.Outcome {
				case reports.Pass:
					passed[c.Operation]++
				case reports.NotAssessed:
					g.Expect(c.Missing).To(HaveEach(Or(HavePrefix("an answer that shows it: "), Equal("no answer put it to the test"))), "%s on %s", c.Requirement, c.Operation)
				}
			}
			for _, op := range spec.Operations() {
				g.Expect(passed).To(HaveKey(op.ID))
			}
			if name == "optional fields missing" {
				g.Expect(outcome(results, "SHAPE-LEAD-COMPANY_DOMAIN-TYPE")).To(Equal(reports.NotAssessed))
			}
		})
	}
}

func TestMockWithAWrongExampleFails(t *testing.T) {
	g := NewWithT(t)
	results := shape(t, mock(t, func(path string, body map[string]any) {
		if path == "/api/v2/leads/subsequence/move" {
			body["email"] = 7
		}
	}))
	g.Expect(results.Verdict).To(Equal(reports.DoesNotConform))
	g.Expect(outcome(results, "SHAPE-LEAD-EMAIL-TYPE")).To(Equal(reports.Fail))
}

func outcome(results reports.Results, requirement string) reports.Outcome {
	for _, c := range results.Checks {
		if c.Requirement == requirement {
			return c.Outcome
		}
	}
	return ""
}
