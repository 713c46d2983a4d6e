package preflight

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	. "github.com/onsi/gomega"
	"pgregory.net/rapid"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/fixtures/target"
	"outreach.example/conformance/internal/client"
	"outreach.example/conformance/internal/testbed"
	"outreach.example/conformance/spec"
	"outreach.example/conformance/suites/runner"
)

// eachPartial runs the test on stand-ins that serve the operations.
func eachPartial(t *testing.T, serves []string, test func(t *testing.T, on *target.Target, vague bool)) {
	for _, form := range testbed.UnservedForms {
		for _, authFirst := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, authorization first %t", form, authFirst), func(t *testing.T) {
				on := referenceBehind(t, func(api http.Handler) http.Handler {
					return testbed.Partial{Next: api, Serves: serves, AuthorizationFirst: authFirst, Form: form}
				})
				// A served operation may give the same answer for an unknown row.
				test(t, on, form == testbed.Unserved404AsDocumented && authFirst)
			})
		}
	}
}

func TestDiscoverListsWhatIsServed_long(t *testing.T) {
	for i, serves := range [][]string{
		{spec.ListLeadLabels},
		{spec.ListPlacementTests, spec.GetPlacementTest, spec.CreatePlacementTest, spec.DeletePlacementTest, spec.ListLeadLabels, spec.ListWebhookEvents},
		{spec.ListSubsequences, spec.DeleteSubsequence, spec.AddCampaignVariables, spec.MoveLead, spec.MoveAccounts, spec.ListPhoneNumbers},
	} {
		eachPartial(t, serves, func(t *testing.T, on *target.Target, vague bool) {
			g := NewWithT(t)
			p, notes := discovered(t, on, "")
			g.Expect(p.Operations).To(ContainElements(serves), "a served operation is never lost")
			g.Expect(p.Keys[0].Scopes).To(Equal([]string{"all:all"}), "404 does not refuse a key")
			g.Expect(notes).To(ContainSubstring("the server does not implement "))
			for _, id := range p.Operations {
				if !slices.Contains(serves, id) {
					g.Expect(vague).To(BeTrue(), "%s is not served", id)
					g.Expect(spec.MustOperation(id).Answer).To(Equal(spec.One), "a list is always told")
					g.Expect(notes).To(MatchRegexp("harmless requests do not show whether the server implements .*" + id))
				}
			}
			if i > 0 { // the least is served by the first
				return
			}
			report, err := Check(t.Context(), at(t, p, on.BaseURL), runner.Selection{}, nil)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(report.Wrong()).To(BeEmpty())
			g.Expect(report.Assessable()).To(BeNumerically(">", 0))
		})
	}
}

// A server that asks nobody for a key gets no request from which it could make a row.
func TestNothingIsMadeOnAnOpenServer(t *testing.T) {
	g := NewWithT(t)
	var made []string
	var mu sync.Mutex
	on := referenceBehind(t, func(api http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, err := io.ReadAll(r.Body)
			if r.Method != http.MethodPost {
				full, _ := profile.Embedded().FullKey(dataset.Main)
				r.Header.Set("Authorization", "Bearer "+full.Token)
				api.ServeHTTP(w, r)
				return
			}
			if err == nil && json.Valid(body) && r.URL.Path == path(spec.CreatePlacementTest) {
				mu.Lock()
				made = append(made, string(body))
				mu.Unlock()
			}
			http.Error(w, "Bad Request", http.StatusBadRequest)
		})
	})
	p, _ := discovered(t, on, "")
	g.Expect(p.Operations).To(BeEmpty())
	g.Expect(made).To(BeEmpty())
}

// Whatever a server answers, the signs of two responses that differ only in the path
// and its id are the same, and the search does not fail.
func TestSigns(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		body := rapid.OneOf(rapid.String(), rapid.StringMatching(`\{"statusCode": ?404,"error":"Not Found","message":"[A-Za-z ]{0,9}PATH[a-z ]{0,9}"\}`),
			rapid.StringMatching(`<p>[A-Z]{3,6} PATH[^<]{0,9}</p>`)).Draw(t, "body")
		op := rapid.SampledFrom(spec.Operations()).Draw(t, "operation")
		status := rapid.IntRange(200, 599).Draw(t, "status")
		signAt := func(path string) sign {
			return signOf(probe{op: op, path: path}, client.Exchange{Status: status, Header: http.Header{"Content-Type": {"application/json"}},
				Body: []byte(strings.ReplaceAll(body, "PATH", path))})
		}
		one, other := signAt(op.URLPath(unusedID())), signAt("/api/v2/conformance-"+unusedID())
		if !one.same(other) || one.namesRoute != other.namesRoute || one.documented != other.documented {
			t.Fatalf("%+v\n%+v", one, other)
		}
	})
}

// refusal answers some requests itself.
func refusal(status int, when func(*http.Request) bool) func(http.Handler) http.Handler {
	return func(api http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if when(r) {
				http.Error(w, "no", status)
				return
			}
			api.ServeHTTP(w, r)
		})
	}
}

func path(id string) string { return spec.MustOperation(id).Path }

func TestCheckNamesWhatIsNotServed_long(t *testing.T) {
	g := NewWithT(t)
	on := referenceBehind(t, func(api http.Handler) http.Handler {
		serves := slices.DeleteFunc(spec.OperationIDs(), func(id string) bool { return id == spec.ListLeadLabels || id == spec.MoveLead })
		return testbed.Partial{Next: api, Serves: serves, AuthorizationFirst: true, Form: testbed.Unserved404Page}
	})
	report, err := Check(t.Context(), on, runner.Selection{}, nil)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(report.Wrong()).To(ConsistOf(HaveField("Says",
		"the target does not serve leads.move, lead-labels.list (404): exclude them under `operations`, or implement them")))
	for _, c := range report.Coverage {
		if c.Group == spec.GroupErrors {
			g.Expect(c.Assessable).To(BeNumerically("<", c.Pairs))
			g.Expect(c.Missing).To(ContainElement(HaveField("Input", "the operation leads.move, which the target does not serve")))
		}
	}
	on.Profile.Operations = []string{"!leads.move", "!lead-labels.*"}
	report, err = Check(t.Context(), on, runner.Selection{}, nil)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(report.Wrong()).To(BeEmpty())
}

// A check that no key reaches is not assessable.
func TestCheckWithKeysThatAreRefused_long(t *testing.T) {
	t.Run("everywhere", func(t *testing.T) {
		g := NewWithT(t)
		on := referenceBehind(t, refusal(http.StatusUnauthorized, func(*http.Request) bool { return true }))
		report, err := Check(t.Context(), on, runner.Selection{}, nil)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(report.Wrong()).NotTo(BeEmpty())
		g.Expect(report.Assessable()).To(BeZero(), "%v", report.Coverage)
		g.Expect(report.Lacking().Input).To(HavePrefix("a key of the workspace "))
	})
	t.Run("on one list", func(t *testing.T) {
		g := NewWithT(t)
		on := referenceBehind(t, refusal(http.StatusForbidden, func(r *http.Request) bool { return r.URL.Path == path(spec.ListLeadLabels) }))
		report, err := Check(t.Context(), on, runner.Selection{Operations: []string{spec.ListLeadLabels, spec.ListLeadLists}, Groups: []string{"pages"}}, nil)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(report.Wrong()).To(ContainElement(HaveField("Says", `returns 403 to the key main, whose scopes ["all:all"] allow it`)))
		g.Expect(report.Coverage).To(ConsistOf(And(
			HaveField("Missing", ConsistOf(HaveField("Input", `a key of the workspace "main" that may read lead-labels.list`))),
			HaveField("Assessable", BeNumerically(">", 0)))))
	})
}

// If a run may change nothing, check sends nothing but requests that read.
func TestCheckThatMayOnlyRead_long(t *testing.T) {
	g := NewWithT(t)
	on := referenceBehind(t, func(api http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method != http.MethodGet && r.Method != http.MethodOptions {
				t.Errorf("%s %s", r.Method, r.URL.Path)
			}
			api.ServeHTTP(w, r)
		})
	})
	on.Profile.Writes = profile.WritesNone
	_, err := Check(t.Context(), on, runner.Selection{Operations: []string{"lead*", "inbox-placement-tests.*"}}, nil)
	g.Expect(err).NotTo(HaveOccurred())
}
