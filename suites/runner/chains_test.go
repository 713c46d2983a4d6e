package runner

import (
	"cmp"
	"context"
	"net/http"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/onsi/gomega"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/fixtures/refserver"
	"outreach.example/conformance/internal/client"
	"outreach.example/conformance/internal/judge"
	"outreach.example/conformance/suites"
	"outreach.example/conformance/suites/selftest/faults"

	. "outreach.example/conformance/suites/api"
)

// longestChain is how many requests a spec may send one after the other: on a server that
// takes a second for each, a spec then takes less than a minute.
const longestChain = 40

// A slow server is asked side by side whatever does not depend on an earlier response.
func TestNoSpecSendsLongChains_long(t *testing.T) {
	for _, rows := range []int{20, dataset.DefaultOptions().Rows} {
		t.Run(strconv.Itoa(rows)+" rows", func(t *testing.T) {
			lengths := chains(t, rows)
			for _, s := range lengths[:10] {
				t.Logf("%d requests one after the other: %s", s.length, s.name)
			}
			for _, s := range lengths {
				if s.length > longestChain {
					t.Errorf("%d requests one after the other: %s", s.length, s.name)
				}
			}
		})
	}
}

// collectEvery is after how many specs the garbage is collected.
const collectEvery = 50

// chain is how many requests a spec sent one after the other.
type chain struct {
	name   string
	length int
}

// chains runs all specs, one at a time, and returns their chains, longest first.
func chains(t *testing.T, rows int) (all []chain) {
	t.Helper()
	g := gomega.NewWithT(t)
	// All other goroutines wait for responses if none can run, or for the garbage collector.
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	options := dataset.DefaultOptions()
	options.Rows = rows
	loaded, err := refserver.Generate(options)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	server, err := loaded.Server(refserver.Options{})
	g.Expect(err).NotTo(gomega.HaveOccurred())
	r := &rounds{server: faults.RoundTripper(faults.Serving(server.Handler()), "")}
	env := &Env{Profile: profile.FromDataset(loaded.Data()), Seed: 1}
	env.Rules, err = judge.NewRules()
	g.Expect(err).NotTo(gomega.HaveOccurred())
	env.Client, err = client.New(client.Options{BaseURL: "http://subject.invalid", Transport: r, Concurrency: 10_000, Observe: env.Observe})
	g.Expect(err).NotTo(gomega.HaveOccurred())

	env.Begin()
	specs := suites.Tree.Specs()
	first := specs[slices.IndexFunc(specs, func(s Spec) bool { return s.Title == "keeps name" })] // it looks round for all
	for i, s := range slices.Insert(specs, 0, first) {
		n := r.during(func() { g.Expect(s.Execute(t.Context(), nil, env, Execution{}).Failures).To(gomega.BeEmpty()) })
		if i%collectEvery == 0 {
			runtime.GC()
		}
		if i > 0 {
			all = append(all, chain{s.Name(), n})
		}
	}
	r.during(func() { env.Sandbox().Close(context.WithoutCancel(t.Context())) })
	t.Log(env.Client.Traffic().Requests, "requests")
	slices.SortFunc(all, func(a, b chain) int { return cmp.Compare(b.length, a.length) })
	return all
}

// rounds is a transport that holds requests until the spec can send no more before a
// response, and then answers all of them.
type rounds struct {
	server http.RoundTripper

	mu   sync.Mutex
	held []chan struct{}
}

func (r *rounds) RoundTrip(request *http.Request) (*http.Response, error) {
	answered := make(chan struct{})
	r.mu.Lock()
	r.held = append(r.held, answered)
	r.mu.Unlock()
	<-answered
	return r.server.RoundTrip(request)
}

// answer answers the held requests, if there are any.
func (r *rounds) answer() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	held := r.held
	r.held = nil
	for _, answered := range held {
		close(answered)
	}
	return len(held) > 0
}

// during returns how many rounds of requests the function sent.
func (r *rounds) during(f func()) (n int) {
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		f()
	}()
	runnable := []metrics.Sample{{Name: "/sched/goroutines/runnable:goroutines"}}
	for {
		select {
		case <-ended:
			return n
		default:
		}
		switch metrics.Read(runnable); {
		case runnable[0].Value.Uint64() > 0:
			runtime.Gosched()
		case r.answer():
			n++
		default:
			time.Sleep(time.Millisecond) // as the spec does after a 429
		}
	}
}
