package runner_test

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/fixtures/refserver"
	"outreach.example/conformance/fixtures/target"
	"outreach.example/conformance/reports"
	"outreach.example/conformance/spec"
	"outreach.example/conformance/suites/runner"
)

// unknownQuery, readOnlySent and oddQuery are what specs send where the specification is
// open. The reference server accepts them.
var (
	unknownQuery = exception{OpenPoint: spec.OpenPointUnknownQuery, Repair: func(x exchange) exchange {
		x.Request = x.Request.Clone(context.Background())
		query := x.Request.URL.Query()
		query.Del("conformance_unknown")
		x.Request.URL.RawQuery = query.Encode()
		return x
	}}
	readOnlySent = exception{OpenPoint: spec.OpenPointReadOnlySent, Repair: func(x exchange) exchange {
		var body map[string]any
		if x.Request.Method != http.MethodPost || json.Unmarshal(x.RequestBody, &body) != nil {
			return x
		}
		for _, field := range spec.CreateReadOnly {
			delete(body, field)
		}
		x.RequestBody, _ = json.Marshal(body) // it was decoded from JSON
		return x
	}}
	oddQuery = exception{OpenPoint: "odd values of query parameters", Repair: func(x exchange) exchange {
		query := x.Request.URL.Query()
		for name, values := range query {
			repeated := len(values) == 2 && values[0] == values[1]
			if !repeated && !slices.Contains([]string{"", " ", "\x00", "TRUE", "1", "yes"}, values[0]) {
				continue
			}
			if repeated {
				query.Set(name, values[0])
			} else {
				query.Del(name)
			}
			x.Request = x.Request.Clone(context.Background())
			x.Request.URL.RawQuery = query.Encode()
			return x // a request has one odd value
		}
		return x
	}}
)

// recorded runs the suites against a reference server and records the exchanges.
// The damage stands between the recorder and the server.
func recorded(t *testing.T, config runner.Config, damage ...func(http.Handler) http.Handler) (*recorder, reports.Results) {
	t.Helper()
	recorder := &recorder{Document: documentOf(t), Exceptions: []exception{unknownQuery, readOnlySent, oddQuery}}
	data := dataset.DefaultOptions()
	data.Rows = 60
	around := append([]func(http.Handler) http.Handler{recorder.Middleware}, damage...)
	var err error
	config.Target, err = target.Embedded(t.Context(), data, refserver.Options{Middleware: around})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := config.Target.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	config.Seed, config.Version = 1, "test"
	results, err := runner.Run(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	return recorder, results
}

// A run that conforms sends valid requests where it means to, and the reference
// server answers with valid responses.
func TestRunFollowsTheDocument_long(t *testing.T) {
	recorder, results := recorded(t, runner.Config{})
	if results.Verdict != reports.Passed {
		t.Errorf("verdict %s: %v", results.Verdict, results.Reasons)
	}
	for i, problem := range recorder.Problems() {
		if i == 10 {
			t.Fatalf("and %d more", len(recorder.Problems())-i)
		}
		t.Error(problem)
	}
	for _, op := range spec.Operations() {
		if recorder.Answered(op.ID, http.StatusOK) == 0 {
			t.Errorf("%s: no request got 200", op.ID)
		}
	}
	for _, status := range []int{http.StatusUnauthorized, http.StatusNotFound, http.StatusBadRequest} {
		if recorder.Answered(spec.GetPlacementTest, status) == 0 {
			t.Errorf("%s: no request got %d", spec.GetPlacementTest, status)
		}
	}
	for _, e := range recorder.Exceptions {
		if recorder.Excepted(e) == 0 {
			t.Errorf("%s: no request needs the exception", e.OpenPoint)
		}
	}
}

var leadLists = runner.Selection{Operations: []string{spec.ListLeadLists}, Requirements: []string{"BODY-TYPE"}}

func TestDamagedResponsesAreFound(t *testing.T) {
	recorder, _ := recorded(t, runner.Config{Selection: leadLists}, func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			next.ServeHTTP(renaming{w}, r)
		})
	})
	if problems := recorder.Problems(); len(problems) == 0 || !strings.Contains(problems[0], "response: ") {
		t.Errorf("problems %q", problems)
	}
}

// renaming renames a field of every response.
type renaming struct{ http.ResponseWriter }

func (w renaming) Write(body []byte) (int, error) {
	damaged := bytes.ReplaceAll(body, []byte(`"workspace_id"`), []byte(`"workspace_ID"`))
	damaged = bytes.ReplaceAll(damaged, []byte(`"organization_id"`), []byte(`"organization_ID"`))
	_, err := w.ResponseWriter.Write(damaged)
	return len(body), err
}

func TestDamagedRequestsAreFound(t *testing.T) {
	misspelt := roundTripper(func(r *http.Request) (*http.Response, error) {
		r = r.Clone(r.Context())
		r.URL.RawQuery = strings.ReplaceAll(r.URL.RawQuery, "limit=", "limti=")
		return http.DefaultTransport.RoundTrip(r)
	})
	recorder, _ := recorded(t, runner.Config{Selection: leadLists, Transport: misspelt})
	if problems := recorder.Problems(); len(problems) == 0 || !strings.Contains(problems[0], `unknown query parameter "limti"`) {
		t.Errorf("problems %q", problems)
	}
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
