package runner

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/fixtures/refserver"
	"outreach.example/conformance/fixtures/refserver/limiter"
	"outreach.example/conformance/fixtures/target"
	"outreach.example/conformance/internal/client"
	"outreach.example/conformance/internal/judge"
	"outreach.example/conformance/internal/sandbox"
	"outreach.example/conformance/internal/testbed"
	"outreach.example/conformance/reports"
	"outreach.example/conformance/reports/jsonfile"
	"outreach.example/conformance/spec"
)

var (
	runs = flag.Int("runs", 2, "how many runs TestSteady compares")
	rows = flag.Int("rows", 60, "rows in each list of the embedded target")
)

// start starts a reference server. Servers with as many rows share the data, since to
// generate them takes longer than many a test.
func start(rows int, options refserver.Options) (*target.Target, error) {
	generate, _ := generated.LoadOrStore(rows, sync.OnceValues(func() (*refserver.Loaded, error) {
		data := dataset.DefaultOptions()
		data.Rows = rows
		return refserver.Generate(data)
	}))
	loaded, err := generate.(func() (*refserver.Loaded, error))()
	if err != nil {
		return nil, err
	}
	return target.EmbeddedWith(context.Background(), loaded, options)
}

// generated holds a func() (*refserver.Loaded, error) for each number of rows.
var generated sync.Map

// limitedPer starts a reference server whose limited key may send its requests once per
// period.
func limitedPer(period time.Duration, rows int, options refserver.Options) (*target.Target, error) {
	layer := limiter.Layer{Kind: limiter.FixedWindow, Limit: refserver.LimitedRequests, Per: period}
	options.Limiters = map[string]limiter.Config{dataset.Limited: {Layers: []limiter.Layer{layer}}}
	t, err := start(rows, options)
	if err == nil {
		t.Profile.RateLimit.Requests, t.Profile.RateLimit.Per = refserver.LimitedRequests, period
	}
	return t, err
}

// living closes a server with the test.
func living(t *testing.T, server *target.Target, err error) *target.Target {
	t.Helper()
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

// embedded starts a reference server that lives as long as the test.
func embedded(t *testing.T) *target.Target {
	t.Helper()
	server, err := start(*rows, refserver.Options{})
	return living(t, server, err)
}

// described returns the server with a profile that the change may touch.
func described(server *target.Target, change func(*profile.Profile)) *target.Target {
	p := *server.Profile
	p.Workspaces, p.Keys = maps.Clone(p.Workspaces), slices.Clone(p.Keys)
	change(&p)
	return &target.Target{BaseURL: server.BaseURL, Kind: server.Kind, TLS: server.TLS, Profile: &p}
}

// rules are compiled once for all tests.
var rules = sync.OnceValues(judge.NewRules)

// judged runs the config, whose results must not contradict themselves.
func judged(t *testing.T, ctx context.Context, config Config) reports.Results {
	t.Helper()
	var err error
	if config.Rules, err = rules(); err != nil {
		t.Fatal(err)
	}
	config.Version, config.Seed = "test", max(config.Seed, 1)
	if config.Target.Profile.VisibleWithin == 0 { // nothing shows late here
		config.Target = described(config.Target, func(p *profile.Profile) { p.VisibleWithin = time.Millisecond })
	}
	results, err := Run(ctx, config)
	if err != nil {
		t.Fatal(err)
	}
	if err := readable(results); err != nil {
		t.Fatal(err)
	}
	if n := results.Traffic.Unjudged; n != 0 && !results.Run.Interrupted {
		t.Errorf("%d responses without a verdict", n)
	}
	return results
}

// readable returns an error if the JSON form of the results breaks their schema.
func readable(r reports.Results) error {
	body, err := jsonfile.Run.Encode(r)
	if err == nil {
		_, err = jsonfile.Run.Parse(body)
	}
	return err
}

// roundTripper is a function that stands in for the network.
type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// CloseIdleConnections lets the server stop at once: it waits for connections
// that carried no request.
func (f roundTripper) CloseIdleConnections() {
	http.DefaultTransport.(*http.Transport).CloseIdleConnections()
}

// always answers every request alike, whatever was asked for.
func always(status int, contentType, body string) roundTripper {
	return func(r *http.Request) (*http.Response, error) {
		header := http.Header{}
		if contentType != "" {
			header.Set("Content-Type", contentType)
		}
		return &http.Response{StatusCode: status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Request: r, Header: header,
			Body: io.NopCloser(strings.NewReader(body)), ContentLength: int64(len(body))}, nil
	}
}

// changing sends requests on and changes the JSON bodies of responses with 200.
func changing(change func(r *http.Request, answer *http.Response, body any) any) roundTripper {
	return func(r *http.Request) (*http.Response, error) {
		answer, err := http.DefaultTransport.RoundTrip(r)
		if err != nil || answer.StatusCode != http.StatusOK {
			return answer, err
		}
		return answer, rewrite(answer, func(body any) any { return change(r, answer, body) })
	}
}

// rewrite changes a JSON body.
func rewrite(answer *http.Response, change func(any) any) error {
	decoder := json.NewDecoder(answer.Body)
	decoder.UseNumber()
	var body any
	if err := decoder.Decode(&body); err != nil {
		return err
	}
	text, err := json.Marshal(change(body))
	if err == nil {
		err = answer.Body.Close()
	}
	answer.Body, answer.ContentLength = io.NopCloser(bytes.NewReader(text)), int64(len(text))
	answer.Header.Del("Content-Length")
	return err
}

// asks reports whether the request is one of the operation.
func asks(r *http.Request, operation string) bool {
	op, _, ok := spec.MatchOperation(r.Method, r.URL.Path)
	return ok && op.ID == operation
}

// tokenOf returns the token of the role's key.
func tokenOf(server *target.Target, role string) string {
	key, _ := server.Profile.FullKey(role)
	return key.Token
}

// of returns the checks with the outcome, as "requirement on operation".
func of(results reports.Results, outcome reports.Outcome) []string {
	names := []string{}
	for _, c := range results.Checks {
		if c.Outcome == outcome {
			names = append(names, c.Requirement+" on "+c.Operation)
		}
	}
	return names
}

// found are the outcomes with all that explains them.
func found(results reports.Results) map[string]string {
	all := map[string]string{"verdict": fmt.Sprint(results.Verdict, results.Reasons), "troubles": fmt.Sprint(results.Troubles)}
	for _, c := range results.Checks {
		text := fmt.Sprint(c.Outcome, c.Missing)
		for _, v := range c.Violations {
			text += fmt.Sprintf("\n  %s: expected %s, got %s (%s)\n  %s", v.Pointer, v.Expected, v.Actual, v.Spec, v.Curl)
		}
		all[c.Requirement+" on "+c.Operation] = text
	}
	// How often something shows depends on how many requests it took to meet a rate limit, and
	// the seconds of Retry-After on how much is left of its period.
	for _, o := range results.Observations {
		if o.OpenPoint == spec.OpenPointRetryAfter {
			o.Value = ""
		}
		all[o.OpenPoint+" on "+o.Operation+" "+o.Value] = "observed"
	}
	return all
}

// tests returns the ids of all tests of the main workspace.
func tests(t *testing.T, server *target.Target) []string {
	t.Helper()
	return testbed.Listed(t, server.BaseURL+spec.MustOperation(spec.ListPlacementTests).Path, tokenOf(server, dataset.Main))
}

// cleanUp puts back what the journals name.
func cleanUp(t *testing.T, server *target.Target, journals string) {
	t.Helper()
	if _, err := sandbox.Cleanup(t.Context(), testbed.Client(t, server), server.Profile, journals, nil); err != nil {
		t.Error(err)
	}
}

// expectHome fails the test if an account is not where the profile says.
func expectHome(t *testing.T, server *target.Target) {
	t.Helper()
	api := testbed.Client(t, server)
	op, home, other := spec.MustOperation(spec.MoveAccounts), server.Profile.Workspaces[dataset.SubA], server.Profile.Workspaces[dataset.SubB]
	for _, email := range home.Accounts {
		body := fmt.Appendf(nil, `{"emails":[%q],"source_workspace_id":%q,"destination_workspace_id":%q}`, email, home.ID, other.ID)
		moved := api.Do(t.Context(), client.Request{Method: op.Method, Path: op.Path, Body: body, Key: client.Key{Name: "admin", Token: tokenOf(server, dataset.Admin)}})
		NewWithT(t).Expect(moved.Status).To(Equal(http.StatusOK), "%s is not in its workspace", email)
	}
}
