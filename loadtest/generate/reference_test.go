package generate

import (
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/fixtures/refserver"
	"outreach.example/conformance/internal/client"
	"outreach.example/conformance/internal/judge"
	"outreach.example/conformance/loadtest/inspect"
	"outreach.example/conformance/loadtest/measure"
	"outreach.example/conformance/loadtest/schedule"
	"outreach.example/conformance/reports"
	"outreach.example/conformance/spec"
)

// The reference server under load violates nothing. With a fault around it, the load
// shows the violated requirement.
func TestTheReferenceServerUnderLoad(t *testing.T) {
	data, err := dataset.New(dataset.DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	var key client.Key
	for _, k := range data.Keys {
		if k.Name == dataset.Main {
			key = client.Key{Name: k.Name, Token: k.Token}
		}
	}
	rules, err := judge.NewRules()
	if err != nil {
		t.Fatal(err)
	}
	var n atomic.Int64
	everyFifthFails := func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if n.Add(1)%5 == 0 {
				http.Error(w, "oops", http.StatusBadGateway)
				return
			}
			next.ServeHTTP(w, r)
		})
	}
	for name, tc := range map[string]struct {
		around []func(http.Handler) http.Handler
		broken map[string]int // violations by requirement
	}{
		"honest": {nil, map[string]int{}},
		"faulty": {[]func(http.Handler) http.Handler{everyFifthFails}, map[string]int{"STATUS-200": 10}},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			api, err := refserver.New(data, refserver.Options{Middleware: tc.around})
			g.Expect(err).NotTo(HaveOccurred())
			server := httptest.NewServer(api.Handler())
			defer server.Close()
			in, err := inspect.New(inspect.Options{Rules: rules})
			g.Expect(err).NotTo(HaveOccurred())
			asked := judge.Request{Operation: spec.MustOperation(spec.ListLeadLists), Allowed: client.Only(http.StatusOK)}
			r := run(t, newGenerator(t, Options{BaseURL: server.URL}, fineSleep), Phase{
				Name: "lists", Schedule: schedule.Constant(100, 500*time.Millisecond), LateTolerance: time.Minute, Inspect: in.Take,
				Mix: func(uint64) Request {
					return Request{Label: "startupLead-lists", Path: asked.Operation.Path + "?limit=20", Key: key, Asked: asked}
				},
			})
			in.Close()
			result := in.Result()
			g.Expect(r.Sent).To(BeEquivalentTo(50))
			g.Expect(r.Count(measure.Failed)).To(BeEquivalentTo(tc.broken["STATUS-200"]))
			g.Expect(result.Judged + result.Known).To(Equal(result.Answers))
			g.Expect(result.Troubles).To(BeEmpty())
			broken := map[string]int{}
			for _, c := range result.Checks {
				if c.Outcome != reports.Pass {
					broken[c.Requirement] = c.ViolationCount
				}
			}
			g.Expect(broken).To(Equal(tc.broken))
		})
	}
}
