package runner

import (
	"encoding/json"
	"net/http"
	"strings"
	"sync"
	"testing"

	. "github.com/onsi/gomega"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/fixtures/refserver"
	"outreach.example/conformance/fixtures/target"
	"outreach.example/conformance/reports"
	"outreach.example/conformance/spec"
	"outreach.example/conformance/suites/selftest/faults"
)

// unvalidated is a server that creates a test from any JSON object and shows each
// member as it came.
func unvalidated(next faults.Handler) faults.Handler {
	var mu sync.Mutex
	came := map[string]map[string]any{} // id of a test → members that replace those of the server
	show := func(operation string, answer faults.Response) faults.Response {
		var body any
		if json.Unmarshal(answer.Body, &body) != nil {
			return answer
		}
		for _, row := range spec.MustOperation(operation).Rows(body) {
			id, _ := row["id"].(string)
			for name, value := range came[id] {
				row[name] = value
			}
		}
		answer.Body, _ = json.Marshal(body)
		return answer
	}
	return func(r faults.Request) (faults.Response, error) {
		answer, err := next(r)
		mu.Lock()
		defer mu.Unlock()
		if err != nil || !strings.HasPrefix(r.Operation, "inbox-placement-tests.") {
			return answer, err
		}
		var given map[string]any
		if r.Operation == spec.CreatePlacementTest && answer.Status == http.StatusBadRequest && json.Unmarshal(r.Body, &given) == nil {
			name, isText := given["name"].(string) // which the list searches
			if !isText {
				name = "a"
			}
			valid := r
			valid.Body, _ = json.Marshal(map[string]any{"name": name, "type": 1, "sending_method": 2,
				"email_subject": "s", "email_body": "b", "emails": []string{"a@example.com"}})
			if answer, err = next(valid); err != nil || answer.Status != http.StatusOK {
				return answer, err
			}
			var row map[string]any
			if err := json.Unmarshal(answer.Body, &row); err != nil {
				return answer, err
			}
			delete(given, "run_immediately") // no part of a test
			delete(given, "status")          // the list filters by the status that the server keeps
			came[row["id"].(string)] = given
		}
		if answer.Status != http.StatusOK {
			return answer, nil
		}
		return show(r.Operation, answer), nil
	}
}

// What a server shows of a request that it should have refused is counted with that
// failure only.
func TestAcceptedRequestsAreOneFailureEach_long(t *testing.T) {
	g := NewWithT(t)
	data, err := dataset.New(dataset.DefaultOptions())
	g.Expect(err).NotTo(HaveOccurred())
	server, err := refserver.New(data, refserver.Options{})
	g.Expect(err).NotTo(HaveOccurred())
	on := &target.Target{BaseURL: "http://subject.invalid", Kind: target.KindURL, Profile: profile.FromDataset(data)}
	results := judged(t, t.Context(), Config{Target: on, Transport: faults.RoundTripper(unvalidated(faults.Serving(server.Handler())), "")})
	g.Expect(results.Verdict).To(Equal(reports.Failed))
	consequences := 0
	for _, c := range results.Checks {
		if c.Outcome == reports.Fail {
			g.Expect(c.Requirement).To(HavePrefix("REQUEST-"), "%s on %s: %v", c.Requirement, c.Operation, c.Violations)
			consequences += len(c.Consequences)
		}
	}
	g.Expect(of(results, reports.Fail)).To(HaveLen(25))
	g.Expect(consequences).To(BeNumerically(">", 20), "what the accepted requests made the server show")
	g.Expect(reports.Causes(results.Checks)).To(HaveLen(1))
}
