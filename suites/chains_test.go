package suites

import (
	"cmp"
	"context"
	"maps"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/onsi/gomega"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/fixtures/refserver"
	"outreach.example/conformance/fixtures/refserver/limiter"
	"outreach.example/conformance/fixtures/target"
	"outreach.example/conformance/internal/client"
	"outreach.example/conformance/internal/judge"
)

// longestChain is how many requests a spec may send one after the other: on a server that
// takes a second for each, a spec then takes less than a minute.
const longestChain = 40

// A slow server is asked side by side whatever does not depend on an earlier response.
func TestNoSpecSendsLongChains(t *testing.T) {
	var long []string
	for delay := 20 * time.Millisecond; delay <= 320*time.Millisecond; delay *= 4 {
		if long = longChains(t, delay, long); len(long) == 0 {
			return
		}
	}
	t.Errorf("more than %d requests one after the other: %q", longestChain, long)
}

// longChains runs specs, all if none are named, on a server that is so slow that the requests of a spec
// that are sent together are also answered together, and returns those with long chains. If the machine is
// slower than that, chains seem longer.
func longChains(t *testing.T, delay time.Duration, names []string) (long []string) {
	t.Helper()
	g := gomega.NewWithT(t)
	loaded, err := refserver.Generate(dataset.DefaultOptions())
	g.Expect(err).NotTo(gomega.HaveOccurred())
	period := 60 * delay // of the rate limit, which a slow server could not meet in a second
	server, err := target.EmbeddedWith(t.Context(), loaded, refserver.Options{Limiters: map[string]limiter.Config{dataset.Limited: {
		Layers: []limiter.Layer{{Kind: limiter.FixedWindow, Limit: refserver.LimitedRequests, Per: period}}}}})
	g.Expect(err).NotTo(gomega.HaveOccurred())
	defer func() { g.Expect(server.Close(context.WithoutCancel(t.Context()))).To(gomega.Succeed()) }()

	sent := intervals{of: map[string][]interval{}, delay: delay}
	described, limit := *server.Profile, *server.Profile.RateLimit
	limit.Requests, limit.Per = refserver.LimitedRequests, period
	described.RateLimit = &limit
	env := &Env{Profile: &described, Seed: 1, OutcomesOnly: true}
	env.Rules, err = judge.NewRules()
	g.Expect(err).NotTo(gomega.HaveOccurred())
	env.Client, err = client.New(client.Options{BaseURL: server.BaseURL, Transport: &sent, Concurrency: 10_000, Timeout: time.Minute})
	g.Expect(err).NotTo(gomega.HaveOccurred())
	defer env.Client.Close()

	var order []Spec
	for _, s := range Specs() {
		if names != nil && !slices.Contains(names, s.Name()) {
			continue
		}
		body := s.body
		s.body = func(api *API) {
			api.ctx = context.WithValue(api.ctx, specName{}, s.Name())
			body(api)
		}
		order = append(order, s)
	}
	run := func(specs ...Spec) {
		a := start(t.Context(), env, specs, Plan{})
		a.waitForAll()
		a.close()
	}
	env.begin()
	run(Specs()[slices.IndexFunc(Specs(), func(s Spec) bool { return s.Title == "keeps name" })]) // the first creation looks round for all specs
	run(order...)
	byLength := slices.SortedFunc(maps.Keys(sent.of), func(a, b string) int { return cmp.Compare(chain(sent.of[b]), chain(sent.of[a])) })
	for _, name := range byLength {
		if n := chain(sent.of[name]); n > longestChain {
			t.Logf("%4d of %4d requests one after the other, %s each: %s", n, len(sent.of[name]), delay, name)
			long = append(long, name)
		}
	}
	return long
}

type specName struct{}

type interval struct{ from, to time.Time }

// intervals is a transport that records when each spec waits for responses.
type intervals struct {
	delay time.Duration
	mu    sync.Mutex
	of    map[string][]interval // by spec
}

func (i *intervals) RoundTrip(r *http.Request) (*http.Response, error) {
	from := time.Now()
	response, err := http.DefaultTransport.RoundTrip(r)
	time.Sleep(time.Until(from.Add(i.delay)))
	name, _ := r.Context().Value(specName{}).(string)
	i.mu.Lock()
	defer i.mu.Unlock()
	i.of[name] = append(i.of[name], interval{from, time.Now()})
	return response, err
}

// chain returns the most intervals that follow one another.
func chain(all []interval) (n int) {
	slices.SortFunc(all, func(a, b interval) int { return a.to.Compare(b.to) })
	var last time.Time
	for _, one := range all {
		if !one.from.Before(last) {
			n, last = n+1, one.to
		}
	}
	return n
}
