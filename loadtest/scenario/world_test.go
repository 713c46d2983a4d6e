package scenario

import (
	"flag"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"time"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/fixtures/refserver"
	"outreach.example/conformance/fixtures/refserver/limiter"
	"outreach.example/conformance/fixtures/refserver/shape"
	"outreach.example/conformance/internal/client"
	"outreach.example/conformance/internal/judge"
	"outreach.example/conformance/internal/sandbox/journal"
	"outreach.example/conformance/loadtest/generate"
	"outreach.example/conformance/reports/load"
	"outreach.example/conformance/spec"
	"outreach.example/conformance/suites/selftest/faults"
)

// slow asks for the tests that take half a minute: go test -args -slow.
var slow = flag.Bool("slow", false, "run the tests that take half a minute")

// middleware is laid around the API of a reference server.
type middleware = func(http.Handler) http.Handler

// rules and data take long to make and do not change.
var (
	rules = sync.OnceValues(judge.NewRules)
	data  = sync.OnceValues(func() (*dataset.Data, error) { return dataset.New(dataset.DefaultOptions()) })
)

// world is a reference server, with faults around it, and what a run brings along.
//
// Its machine may be as busy as it likes: the generator's lag is tolerated, so
// that verdicts depend on figures alone, whose bounds the tests set far away.
func world(t *testing.T, around ...middleware) *Env {
	t.Helper()
	return worldOf(t, refserver.Options{Middleware: around})
}

func worldOf(t *testing.T, options refserver.Options) *Env {
	t.Helper()
	set, err := data()
	if err != nil {
		t.Fatal(err)
	}
	service, err := refserver.New(set, options)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(service.Handler())
	t.Cleanup(server.Close)
	return envOf(t, server.URL, profile.Embedded())
}

// envOf is what a run brings along to the target at the address.
func envOf(t *testing.T, base string, profile *profile.Profile) *Env {
	t.Helper()
	profile.BaseURL = base
	rules, err := rules()
	if err != nil {
		t.Fatal(err)
	}
	budget := NewBudget(0)
	bare := func(concurrency int, _ string) (*client.Client, error) {
		options := client.Options{BaseURL: base, Allow: budget.One, Concurrency: concurrency, MaxThrottle: 10 * time.Second, MaxThrottled: 5}
		for _, k := range profile.Keys {
			options.Keys = append(options.Keys, client.Key{Name: k.Name, Token: k.Token})
		}
		return client.New(options)
	}
	api, err := bare(8, "")
	if err != nil {
		t.Fatal(err)
	}
	generator, err := generate.New(generate.Options{BaseURL: base})
	if err != nil {
		t.Fatal(err)
	}
	book, err := journal.Start(t.TempDir(), "test", base, nil)
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
	return &Env{Profile: profile, BaseURL: base, Rules: rules, Client: api, Bare: bare, Generator: generator, Journal: book,
		Run: "test", Seed: 1, LagLimit: time.Hour, Budget: budget}
}

// builtinScenario is one that comes with the program, changed.
func builtinScenario(t *testing.T, name string, change func(*Scenario)) Scenario {
	t.Helper()
	all := Builtin()
	i := slices.IndexFunc(all, func(s Scenario) bool { return s.Name == name })
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

// with lays a transform around the API.
func with(transform faults.Middleware) middleware {
	return func(next http.Handler) http.Handler { return faults.Listening(transform(faults.Serving(next))) }
}

// defect is one of the defects that every suite is proved with.
func defect(t *testing.T, id string) middleware {
	t.Helper()
	all := faults.Defects()
	i := slices.IndexFunc(all, func(d faults.Defect) bool { return d.ID == id })
	if i < 0 {
		t.Fatalf("there is no defect %s", id)
	}
	return with(all[i].Apply(&faults.Target{Profile: profile.Embedded(), Seed: 1}))
}

// limitedBy is a reference server whose role limited has the limiter.
func limitedBy(t *testing.T, text string, around ...middleware) *Env {
	t.Helper()
	config, err := limiter.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return worldOf(t, refserver.Options{Limiters: map[string]limiter.Config{dataset.Limited: config}, Middleware: around})
}

// violated reports whether the requirement was found broken on the operation,
// with evidence.
func violated(o Outcome, p spec.Pair) bool {
	return slices.ContainsFunc(o.Violations, func(v load.Violation) bool {
		return v.Requirement == p.Requirement && v.Operation == p.Operation && v.Count > 0 && len(v.Examples) > 0
	})
}

// embedded is the profile of the reference server.
var embedded = sync.OnceValue(profile.Embedded)
