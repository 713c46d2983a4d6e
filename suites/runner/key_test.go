package runner

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/uuid"
	. "github.com/onsi/gomega"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/fixtures/target"
	"outreach.example/conformance/reports"
	"outreach.example/conformance/spec"
)

// wrongKeys is a server of which the profile has wrong keys, or only a wrong main one.
func wrongKeys(t *testing.T, all bool) *target.Target {
	t.Helper()
	server := embedded(t)
	profile := profile.Embedded()
	for i := range profile.Keys {
		if k := &profile.Keys[i]; all || k.Name == dataset.Main {
			k.Token, k.TokenEnv = "wrong-"+uuid.NewString(), "OUTREACH_KEY_"+k.Name // a name in it would be redacted everywhere
		}
	}
	known, err := target.URL(profile, server.BaseURL)
	if err != nil {
		t.Fatal(err)
	}
	return known
}

// A target that takes no key of the profile cannot be judged, nor is it asked for long.
func TestNoKeyIsTaken(t *testing.T) {
	g := NewWithT(t)
	results := judged(t, t.Context(), Config{Target: wrongKeys(t, true)})
	g.Expect(results.Verdict).To(Equal(reports.Inconclusive))
	g.Expect(results.ExitCode()).To(Equal(3))
	g.Expect(results.Reasons[0]).To(And(ContainSubstring(`the key "main" (the variable OUTREACH_KEY_main)`), ContainSubstring("(401)"), ContainSubstring("target check")))
	g.Expect(of(results, reports.NotAssessed)).To(HaveLen(len(spec.Pairs())))
	g.Expect(results.Checks[0].Missing).To(ConsistOf("a key that the target accepts"))
	g.Expect(results.Traffic.Requests).To(BeNumerically("<", 120))
}

// Where only the main key is refused the verdict is what it was, and says first
// what is likely to have caused it.
func TestTheMainKeyIsRefused(t *testing.T) {
	g := NewWithT(t)
	results := judged(t, t.Context(), Config{Target: wrongKeys(t, false), Selection: Selection{Profiles: []spec.Profile{spec.ProfileRead}}})
	g.Expect(results.Verdict).To(Equal(reports.Failed))
	g.Expect(results.Reasons[0]).To(ContainSubstring("probably the cause of the other failures"))
	g.Expect(len(results.Reasons)).To(BeNumerically(">", 1))
}

// An operation that refuses a right key is the target's fault, were it the only
// one that is judged.
func TestAnOperationRefusesARightKey(t *testing.T) {
	g := NewWithT(t)
	for _, op := range []spec.Operation{spec.MustOperation(spec.ListLeadLists), spec.MustOperation(spec.ListLeadLabels)} {
		transport := roundTripper(func(r *http.Request) (*http.Response, error) {
			answer, err := http.DefaultTransport.RoundTrip(r)
			if err == nil && r.URL.Path == op.Path && r.Method == op.Method {
				_ = answer.Body.Close()
				body := `{"statusCode":401,"error":"Unauthorized","message":"no"}`
				answer.StatusCode, answer.Body, answer.ContentLength = http.StatusUnauthorized, io.NopCloser(strings.NewReader(body)), int64(len(body))
			}
			return answer, err
		})
		results := judged(t, t.Context(), Config{Target: embedded(t), Transport: transport, Selection: Selection{Operations: []string{op.ID}}})
		g.Expect(results.Verdict).To(Equal(reports.Failed), op.ID)
		g.Expect(results.Reasons).To(HaveLen(1), op.ID)
		g.Expect(results.Reasons[0]).To(ContainSubstring("checks failed"))
	}
}

// A list that is not served shows nothing about a key: neither that the target
// accepts it, nor that it refuses it.
func TestAnUnservedListShowsNothingAboutKeys(t *testing.T) {
	served := spec.MustOperation(spec.ListWebhookEvents).Path
	for name, tc := range map[string]struct {
		statusOfServed int
		knows          bool
	}{
		"refused where it is served":  {http.StatusUnauthorized, false},
		"accepted where it is served": {http.StatusOK, true},
		"served nowhere":              {http.StatusNotFound, true},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path == served {
					w.WriteHeader(tc.statusOfServed)
					return
				}
				w.WriteHeader(http.StatusNotFound)
			}))
			defer server.Close()
			subject, err := target.URL(profile.Embedded(), server.URL)
			g.Expect(err).NotTo(HaveOccurred())
			why, err := KnowsNoKey(t.Context(), subject, func(what string) { t.Error(what) })
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(why == "").To(Equal(tc.knows), why)
		})
	}
}

// A wrong base path is named before the failures that follow from it.
func TestAWrongBasePathIsNamed(t *testing.T) {
	g := NewWithT(t)
	server := embedded(t)
	wrong, err := target.URL(profile.Embedded(), server.BaseURL+"/base")
	g.Expect(err).NotTo(HaveOccurred())
	results := judged(t, t.Context(), Config{Target: wrong, Selection: Selection{Requirements: []string{"SERVED"}}})
	g.Expect(results.Verdict).To(Equal(reports.Failed))
	g.Expect(results.Reasons[0]).To(Equal("the target serves no list (404): is " + wrong.BaseURL + " the address in front of /api/v2?"))
}

// A key that the target never issued has no scopes to be refused for.
func TestARefusalOfAnUnknownKeySaysNothingAboutScopes(t *testing.T) {
	g := NewWithT(t)
	server := embedded(t)
	p := profile.Embedded()
	scopeless, ok := p.ScopedKey(dataset.Main, "")
	g.Expect(ok).To(BeTrue())
	for i := range p.Keys {
		if p.Keys[i].Name == scopeless.Name {
			p.Keys[i].Token = "never-issued"
		}
	}
	known, err := target.URL(p, server.BaseURL)
	g.Expect(err).NotTo(HaveOccurred())
	results := judged(t, t.Context(), Config{Target: known, Selection: Selection{Requirements: []string{"SCOPE-NONE"}}})
	g.Expect(results.Verdict).To(Equal(reports.Inconclusive))
	g.Expect(of(results, reports.NotAssessed)).To(HaveLen(len(spec.ScopeNone.Operations())))
	for _, c := range results.Checks {
		g.Expect(c.Missing).To(ConsistOf(ContainSubstring("a key without scopes that the target distinguishes from a key that was never issued")))
	}
}

// A refused key is not driven to a rate limit.
func TestARefusedKeyShowsNoRateLimit(t *testing.T) {
	g := NewWithT(t)
	server := embedded(t)
	p := profile.Embedded()
	for i := range p.Keys {
		if p.Keys[i].Name == p.RateLimit.Key {
			p.Keys[i].Token = "never-issued"
		}
	}
	known, err := target.URL(p, server.BaseURL)
	g.Expect(err).NotTo(HaveOccurred())
	results := judged(t, t.Context(), Config{Target: known, Selection: Selection{Requirements: []string{"RATE-429", "RATE-RESUMES"}}})
	g.Expect(of(results, reports.Fail)).To(BeEmpty())
	g.Expect(results.Traffic.Statuses["401"]).To(BeNumerically("<", p.RateLimit.Budget), "all operations together")
	for _, c := range results.Checks {
		g.Expect(c.Outcome).To(Equal(reports.NotAssessed), "%s on %s", c.Requirement, c.Operation)
	}
}
