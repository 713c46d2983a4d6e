package runner

import (
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	. "github.com/onsi/gomega"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/fixtures/refserver"
	"outreach.example/conformance/internal/client"
	"outreach.example/conformance/internal/pattern"
	"outreach.example/conformance/internal/sandbox"
	"outreach.example/conformance/internal/testbed"
	"outreach.example/conformance/reports"
	"outreach.example/conformance/spec"
)

// A field that the profile omits may be absent: that is observed. Its parts and its type
// are then not judged either. If it is shown, it is judged as usual.
func TestOmittedFields(t *testing.T) {
	const member, field = "conditions", "Subsequence.conditions"
	conditions, _ := spec.FindField(field)
	for name, tc := range map[string]struct {
		omits, shown   bool
		verdict        reports.Verdict
		present, typed bool // whether the run has the check
	}{
		"listed and absent":     {true, false, reports.Passed, false, false},
		"listed and shown":      {true, true, reports.Passed, false, true},
		"not listed and absent": {false, false, reports.Failed, true, true},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			config := Config{Target: embedded(t), Selection: Selection{Operations: []string{spec.ListSubsequences}, Profiles: []spec.Profile{spec.ProfileShape}}}
			if tc.omits {
				config.Target = described(config.Target, func(p *profile.Profile) { p.Omits = []string{field} })
			}
			if !tc.shown {
				config.Transport = changing(func(r *http.Request, _ *http.Response, body any) any {
					if asks(r, spec.ListSubsequences) {
						for _, row := range spec.MustOperation(spec.ListSubsequences).Rows(body) {
							delete(row, member)
						}
					}
					return body
				})
			}
			results := judged(t, t.Context(), config)
			g.Expect(results.Verdict).To(Equal(tc.verdict), "%v", results.Reasons)
			g.Expect(results.Run.Omits).To(Equal(config.Target.Profile.Omits))
			ids := map[string]bool{}
			for _, c := range results.Checks {
				ids[c.Requirement] = true
				if c.Outcome == reports.Fail {
					g.Expect(c.Violations[0].Expected).To(ContainSubstring("list Subsequence.conditions under omits: in the profile"))
				}
			}
			g.Expect(ids[conditions.Requirement(spec.Present)]).To(Equal(tc.present))
			g.Expect(ids[conditions.Requirement(spec.Type)]).To(Equal(tc.typed))
			g.Expect(ids[spec.FieldRequirement("Subsequence", "conditions.crm_status", spec.Type)]).To(Equal(tc.typed))
			observed := slices.ContainsFunc(results.Observations, func(o reports.Observation) bool {
				return o.OpenPoint == spec.OpenPointOmitted && o.Value == field
			})
			g.Expect(observed).To(Equal(tc.omits && !tc.shown))
		})
	}
}

// A run judges what the profile lists, and sends nothing to other operations. Without a list, a
// missing operation is one failure, and what needs it is not assessed.
func TestOperationsThatAreNotServed(t *testing.T) {
	serves := []string{"lead*", "phone-numbers.list", "campaigns.*", "!lead-labels.list"}
	for name, listed := range map[string]bool{"listed": true, "not listed": false} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			var mu sync.Mutex
			absent := map[string]bool{}
			server, err := start(40, refserver.Options{Middleware: []func(http.Handler) http.Handler{func(next http.Handler) http.Handler {
				return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					op, _, ok := spec.MatchOperation(r.Method, r.URL.Path)
					if !ok || pattern.Fits(serves, op.ID) {
						next.ServeHTTP(w, r)
						return
					}
					mu.Lock()
					absent[op.ID] = true
					mu.Unlock()
					http.NotFound(w, r)
				})
			}}})
			server = living(t, server, err)
			if listed {
				server = described(server, func(p *profile.Profile) { p.Operations = serves })
			}
			results := judged(t, t.Context(), Config{Target: server, Selection: Selection{Profiles: []spec.Profile{spec.ProfileShape, spec.ProfileRead}}})
			g.Expect(results.Troubles).To(BeEmpty())
			g.Expect(len(absent) > 0).To(Equal(!listed), "requests to operations that are not served: %v", absent)
			g.Expect(results.Verdict).To(Equal(map[bool]reports.Verdict{true: reports.Passed, false: reports.Failed}[listed]), "%v", results.Reasons)
			for _, c := range results.Checks {
				switch {
				case pattern.Fits(serves, c.Operation):
					g.Expect(c.Outcome).To(BeElementOf(reports.Pass, reports.NotAssessed), "%s on %s", c.Requirement, c.Operation)
				case c.Requirement == string(spec.Served):
					g.Expect(c.Outcome).To(Equal(reports.Fail), c.Operation)
				default:
					g.Expect(c.Missing).To(ContainElement(ContainSubstring("which the target does not serve (it answers 404)")), c.Requirement)
				}
			}
		})
	}
}

// A profile may name what the target does not have: that is no failure, and the reason names
// the entry.
func TestStaleProfiles(t *testing.T) {
	const gone = "01941f29-7c00-7000-8000-000000000000"
	last := func(ids []string, id string) []string { return append(slices.Clone(ids[:len(ids)-1]), id) }
	for _, c := range []struct {
		role, named, requirement string // named is the entry in a reason; "" if no check relies on it
		change                   func(*profile.Workspace)
	}{
		{dataset.Main, "id", "ISOLATION-OWNER", func(w *profile.Workspace) { w.ID = gone }},
		{dataset.Main, "campaigns[4]", "VARIABLES-*", func(w *profile.Workspace) { w.Campaigns = last(w.Campaigns, gone) }},
		{dataset.Main, "campaigns[4]", "STATE-CREATE-CAMPAIGN_ID", func(w *profile.Workspace) { w.Campaigns = last(w.Campaigns, gone) }},
		{dataset.Main, "leads[39]", "LEAD-*", func(w *profile.Workspace) { w.Leads = last(w.Leads, gone) }},
		{dataset.Main, "subsequences[4]", "LEAD-*", func(w *profile.Workspace) { w.Subsequences = last(w.Subsequences, gone) }},
		{dataset.Main, "", "STATE-DELETE-*", func(w *profile.Workspace) { w.ExpendableSubsequences = last(w.ExpendableSubsequences, gone) }}, // runs delete them
		{dataset.Second, "leads[0]", "ISOLATION-*", func(w *profile.Workspace) { w.Leads = []string{gone} }},
		{dataset.Second, "placement_tests[0]", "ISOLATION-*", func(w *profile.Workspace) { w.PlacementTests = []string{gone} }},
		{dataset.SubA, "accounts[5]", "ACCOUNTS-*", func(w *profile.Workspace) { w.Accounts = last(w.Accounts, "gone@senders.example") }},
		{dataset.SubB, "id", "ACCOUNTS-*", func(w *profile.Workspace) { w.ID = gone }},
	} {
		t.Run(c.role+" "+c.named+" "+c.requirement, func(t *testing.T) {
			g := NewWithT(t)
			stale := described(embedded(t), func(p *profile.Profile) {
				w := p.Workspaces[c.role]
				c.change(&w)
				p.Workspaces[c.role] = w
			})
			results := judged(t, t.Context(), Config{Target: stale, Selection: Selection{Requirements: []string{c.requirement}}})
			g.Expect(of(results, reports.Fail)).To(BeEmpty())
			g.Expect(of(results, reports.Error)).To(BeEmpty())
			named := slices.ContainsFunc(results.Checks, func(check reports.Check) bool {
				return check.Outcome == reports.NotAssessed && strings.Contains(strings.Join(check.Missing, " "), "workspaces."+c.role+"."+c.named+" ")
			})
			g.Expect(named).To(Equal(c.named != ""), "%v", results.Reasons)
		})
	}
}

// docs/qualify-a-release.md says how many subsequences a run may delete.
func TestExpendableSubsequences(t *testing.T) {
	const enough = 23
	for n, lacks := range map[int]bool{enough: false, enough - 1: true} {
		p := profile.Embedded()
		w := p.Workspaces[dataset.Main]
		w.ExpendableSubsequences = w.ExpendableSubsequences[:n]
		p.Workspaces[dataset.Main] = w
		lacking, err := Selection{}.Lacks(p)
		if err != nil || (len(lacking) > 0) != lacks {
			t.Errorf("%d expendable subsequences: %v %v", n, lacking, err)
		}
	}
}

// Workspaces of one group may show the same group members. Those of 2 groups may not.
func TestWorkspacesOfOneGroupShareItsMembers(t *testing.T) {
	for admin, fails := range map[string][]string{dataset.Admin: nil, dataset.OutsiderAdmin: {"ISOLATION-LIST on " + spec.ListGroupMembers}} {
		g, server := NewWithT(t), embedded(t)
		grouped := described(server, func(p *profile.Profile) {
			for role, admin := range map[string]string{dataset.Main: dataset.Admin, dataset.Second: admin} {
				w := p.Workspaces[role]
				w.Admin = admin
				p.Workspaces[role] = w
			}
		})
		results := judged(t, t.Context(), Config{Target: grouped, Selection: Selection{Operations: []string{spec.ListGroupMembers}, Requirements: []string{"ISOLATION-LIST"}},
			Transport: roundTripper(func(r *http.Request) (*http.Response, error) {
				by := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
				if asks(r, spec.ListGroupMembers) && (by == tokenOf(server, dataset.Main) || by == tokenOf(server, dataset.Second)) {
					r = r.Clone(r.Context())
					r.Header.Set("Authorization", "Bearer "+tokenOf(server, dataset.Admin))
				}
				return http.DefaultTransport.RoundTrip(r)
			})})
		g.Expect(of(results, reports.Fail)).To(ConsistOf(fails), admin)
		g.Expect(of(results, reports.NotAssessed)).To(BeEmpty())
	}
}

// What another run uses is not assessed and not touched. What nobody else uses is.
func TestRowsThatAnotherRunClaims(t *testing.T) {
	const other = "01890000-0000-7000-8000-000000000001"
	g, subject := NewWithT(t), embedded(t)
	create := spec.MustOperation(spec.CreatePlacementTest)
	body := `{"name":"` + sandbox.Word(other, 1) + `","type":1,"sending_method":2,"email_subject":"s","email_body":"b","emails":["a@b.example"]}`
	made := testbed.Client(t, subject).Do(t.Context(), client.Request{Method: create.Method, Path: create.Path, Body: []byte(body),
		Key: client.Key{Name: "main", Token: tokenOf(subject, dataset.Main)}})
	g.Expect(made.Status).To(Equal(http.StatusOK))
	shared := Selection{Requirements: []string{"ACCOUNTS-MOVED", "RATE-429", "STATE-DELETE-ANSWER"}, Operations: []string{spec.MoveAccounts, spec.DeleteSubsequence, spec.ListLeadLabels}}
	results := judged(t, t.Context(), Config{Target: subject, Selection: shared})
	g.Expect(of(results, reports.NotAssessed)).To(HaveLen(len(results.Checks)), "%v", results.Reasons)
	g.Expect(results.Checks).To(HaveEach(HaveField("Missing", ContainElement(ContainSubstring("it shows the test "+sandbox.Word(other, 1)+" of another run")))))
	free := Selection{Requirements: []string{"STATE-DELETE-ANSWER", "SCOPE-EXACT"}, Operations: []string{spec.DeletePlacementTest, spec.MoveLead}}
	g.Expect(judged(t, t.Context(), Config{Target: subject, Selection: free}).Verdict).To(Equal(reports.Passed))
}
