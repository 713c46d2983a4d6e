package runner

import (
	"encoding/json"
	"io"
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
	"outreach.example/conformance/reports/summary"
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
	for _, c := range results.Checks {
		if c.Outcome == reports.Fail {
			g.Expect(c.Requirement).To(HavePrefix("REQUEST-"), "%s on %s: %v", c.Requirement, c.Operation, c.Violations)
		}
	}
	g.Expect(of(results, reports.Fail)).To(HaveLen(25))
	g.Expect(summary.Causes(results.Checks)).To(HaveLen(1))
}

// movingFor serves account moves that the condition holds for as if the admin workspace had
// asked. It may say that it refused them.
func movingFor(admin profile.Key, refuses bool, condition func(*http.Request) bool) http.RoundTripper {
	return roundTripper(func(r *http.Request) (*http.Response, error) {
		if !strings.HasSuffix(r.URL.Path, "/accounts/move") || !condition(r) {
			return http.DefaultTransport.RoundTrip(r)
		}
		asked := r.Clone(r.Context())
		asked.Header.Set("Authorization", "Bearer "+admin.Token)
		answer, err := http.DefaultTransport.RoundTrip(asked)
		if err != nil || !refuses || answer.StatusCode != http.StatusOK {
			return answer, err
		}
		defer func() { _ = answer.Body.Close() }()
		body := `{"statusCode":403,"error":"Forbidden","message":"no"}`
		return &http.Response{StatusCode: http.StatusForbidden, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Request: r,
			Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(strings.NewReader(body)), ContentLength: int64(len(body))}, nil
	})
}

// A move that should have been refused takes its account away from where later moves begin.
// They must not fail because of that.
func TestAcceptedMovesAreOneFailure_long(t *testing.T) {
	t.Parallel()
	server := embedded(t)
	admin, ok := server.Profile.FullKey(dataset.Admin)
	if !ok {
		t.Fatal("no admin key")
	}
	by := func(role string) func(*http.Request) bool {
		key, ok := server.Profile.FullKey(role)
		if !ok {
			t.Fatalf("no key of %s", role)
		}
		return func(r *http.Request) bool { return r.Header.Get("Authorization") == "Bearer "+key.Token }
	}
	plain := func(r *http.Request) bool {
		return by(dataset.SubA)(r) || by(dataset.SubB)(r) || by(dataset.Second)(r)
	}
	for name, test := range map[string]struct {
		condition func(*http.Request) bool
		refuses   bool
		fail      string
	}{
		"the source's key":              {by(dataset.SubA), false, string(spec.AdminKey)},
		"each plain key, but says no":   {plain, true, string(spec.AdminKey)},
		"another admin workspace's key": {by(dataset.OutsiderAdmin), false, string(spec.IsolationAccounts)},
		"no key, but says no":           {func(r *http.Request) bool { return r.Header.Get("Authorization") == "" }, true, "AUTH-"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			results := judged(t, t.Context(), Config{Target: server, JournalDir: t.TempDir(), Transport: movingFor(admin, test.refuses, test.condition),
				Selection: Selection{Operations: []string{spec.MoveAccounts}}})
			g.Expect(results.Troubles).To(BeEmpty())
			failed := of(results, reports.Fail)
			g.Expect(failed).NotTo(BeEmpty())
			g.Expect(failed).To(HaveEach(HavePrefix(test.fail)))
		})
	}
}
