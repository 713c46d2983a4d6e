package runner

import (
	"cmp"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/fixtures/refserver"
	"outreach.example/conformance/fixtures/refserver/limiter"
	"outreach.example/conformance/fixtures/refserver/shape"
	"outreach.example/conformance/internal/client"
	"outreach.example/conformance/internal/judge"
	"outreach.example/conformance/internal/sandbox"
	"outreach.example/conformance/loadtest/generate"
	"outreach.example/conformance/loadtest/prepare"
	"outreach.example/conformance/loadtest/scenario"
	"outreach.example/conformance/loadtest/verdict"
	"outreach.example/conformance/reports/load"
	"outreach.example/conformance/spec"
	"outreach.example/conformance/suites/selftest/faults"
)

// middleware is laid around the API of a reference server.
type middleware = func(http.Handler) http.Handler

// instead does something else with the requests that match.
func instead(match func(*http.Request) bool, do http.HandlerFunc) middleware {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if match(r) {
				do(w, r)
				return
			}
			next.ServeHTTP(w, r)
		})
	}
}

// rules and data take long to make and do not change.
var (
	rules = sync.OnceValues(judge.NewRules)
	data  = sync.OnceValues(func() (*refserver.Loaded, error) { return refserver.Generate(dataset.DefaultOptions()) })
)

// world returns the environment of a run on a reference server with faults around it.
// It needs no network. In a bubble of package synctest its time is fake, so figures
// do not depend on the machine.
func world(t *testing.T, around ...middleware) *Env {
	t.Helper()
	return worldOf(t, refserver.Options{Middleware: around})
}

func worldOf(t *testing.T, options refserver.Options) *Env {
	t.Helper()
	return envOf(t, inMemory, serving(t, options), generate.Options{})
}

// serving returns a transport that leads to a reference server.
func serving(t *testing.T, options refserver.Options) http.RoundTripper {
	t.Helper()
	loaded, err := data()
	if err != nil {
		t.Fatal(err)
	}
	service, err := loaded.Server(options)
	if err != nil {
		t.Fatal(err)
	}
	return inProcess{service.Handler()}
}

// envOf returns the environment of a run on the target at the address. The client and
// the generator use the transport; nil means the network.
func envOf(t *testing.T, base string, network http.RoundTripper, options generate.Options) *Env {
	t.Helper()
	profile := profile.Embedded()
	profile.BaseURL = base
	rules, err := rules()
	if err != nil {
		t.Fatal(err)
	}
	env := &Env{}
	allow := func() error { return env.Budget.One() }
	bare := func(concurrency int, _ string) (*client.Client, error) {
		options := client.Options{BaseURL: base, Transport: network, Allow: allow, Concurrency: concurrency, MaxThrottle: 10 * time.Second, MaxThrottled: 5}
		for _, k := range profile.Keys {
			options.Keys = append(options.Keys, client.Key{Name: k.Name, Token: k.Token})
		}
		return client.New(options)
	}
	api, err := bare(8, "")
	if err != nil {
		t.Fatal(err)
	}
	options.BaseURL, options.Transport, options.Sleep = base, network, time.Sleep
	generator, err := generate.New(options)
	if err != nil {
		t.Fatal(err)
	}
	book, err := sandbox.StartJournal(t.TempDir(), sandbox.NewRun(), base)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		generator.Close()
		api.Close()
		if err := book.Finish(); err != nil {
			t.Error(err)
		}
	})
	env.Env = prepare.Env{Profile: profile, BaseURL: base, Rules: rules, Client: api, Journal: book, Run: sandbox.NewRun().ID, Seed: 1, Budget: prepare.NewBudget(0)}
	env.Terms.LagLimit, env.Bare, env.Generator = time.Hour, bare, generator
	env.Say, env.Watch, env.Live = func(string) {}, func(string, string) {}, func(generate.Live) {}
	return env
}

// builtinScenario returns a built-in scenario with a change.
func builtinScenario(t *testing.T, name string, change func(*scenario.Scenario)) scenario.Scenario {
	t.Helper()
	all := scenario.Builtin()
	i := slices.IndexFunc(all, func(s scenario.Scenario) bool { return s.Name == name })
	if i < 0 {
		t.Fatalf("there is no scenario %s", name)
	}
	change(&all[i])
	if err := all[i].Check(); err != nil {
		t.Fatal(err)
	}
	return all[i]
}

// shaped makes the server slow or faulty in a known way.
func shaped(t *testing.T, text string) middleware {
	t.Helper()
	config, err := shape.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	s, err := shape.New(config, 1)
	if err != nil {
		t.Fatal(err)
	}
	return s.Middleware
}

// with applies a transformation around the API.
func with(transform faults.Middleware) middleware {
	return func(next http.Handler) http.Handler { return faults.Listening(transform(faults.Serving(next))) }
}

// defect applies one of the defects of the self-test.
func defect(t *testing.T, id string) middleware {
	t.Helper()
	all := faults.Defects()
	i := slices.IndexFunc(all, func(d faults.Defect) bool { return d.ID == id })
	if i < 0 {
		t.Fatalf("there is no defect %s", id)
	}
	return with(all[i].Apply(&faults.Target{Profile: profile.Embedded(), Seed: 1}))
}

// limitedBy returns the environment on a reference server that limits the role
// limited.
func limitedBy(t *testing.T, text string, around ...middleware) *Env {
	t.Helper()
	config, err := limiter.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return worldOf(t, refserver.Options{Limiters: map[string]limiter.Config{dataset.Limited: config}, Middleware: around})
}

// violated reports whether a violation of the requirement was found on the operation,
// with evidence.
func violated(o verdict.Outcome, p spec.Pair) bool {
	return slices.ContainsFunc(o.Violations, func(v load.Violation) bool {
		return v.Requirement == p.Requirement && v.Operation == p.Operation && v.Count > 0 && len(v.Examples) > 0
	})
}

// embedded is the profile of the reference server.
var embedded = sync.OnceValue(profile.Embedded)

// inMemory is the address of servers in this process.
const inMemory = "http://target.example"

// inProcess is a transport that calls a handler. Every request takes a millisecond. Without
// that, a loop that sends as fast as the server answers would never let fake time pass.
type inProcess struct{ http.Handler }

func (h inProcess) RoundTrip(r *http.Request) (response *http.Response, err error) {
	time.Sleep(time.Millisecond)
	defer func() {
		if recover() != nil { // http.ErrAbortHandler
			err = io.ErrUnexpectedEOF
		}
		err = cmp.Or(r.Context().Err(), err)
	}()
	if r.Body == nil {
		r.Body = http.NoBody
	}
	served := r.Clone(r.Context()) // which the handler may change
	answer := httptest.NewRecorder()
	h.ServeHTTP(answer, served)
	response = answer.Result()
	response.Request, response.ContentLength = r, int64(answer.Body.Len())
	return response, nil
}

// inFakeTime returns a parallel test that runs in a bubble of package synctest.
func inFakeTime(test func(t *testing.T)) func(t *testing.T) {
	return func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, test)
	}
}
