package preflight

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	. "github.com/onsi/gomega"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/fixtures/refserver"
	"outreach.example/conformance/fixtures/target"
	"outreach.example/conformance/spec"
	"outreach.example/conformance/suites/runner"
)

// reference starts the reference server behind a proxy that fails the test if a
// request could change something.
func reference(t *testing.T) *target.Target {
	t.Helper()
	return referenceBehind(t, func(api http.Handler) http.Handler { return api })
}

// referenceBehind is reference with a handler in front of it.
func referenceBehind(t *testing.T, front func(http.Handler) http.Handler) *target.Target {
	t.Helper()
	embedded, err := target.Embedded(t.Context(), dataset.DefaultOptions(), refserver.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = embedded.Close(context.WithoutCancel(t.Context())) })
	behind, err := url.Parse(embedded.BaseURL)
	if err != nil {
		t.Fatal(err)
	}
	proxy := httputil.NewSingleHostReverseProxy(behind)
	var changes atomic.Int64
	proxy.ModifyResponse = func(r *http.Response) error {
		if r.Request.Method != http.MethodGet && r.StatusCode/100 != 4 {
			changes.Add(1)
		}
		return nil
	}
	server := httptest.NewServer(front(proxy))
	t.Cleanup(func() {
		server.Close()
		if n := changes.Load(); n > 0 {
			t.Errorf("%d requests changed something", n)
		}
	})
	on, err := target.URL(embedded.Profile, server.URL)
	if err != nil {
		t.Fatal(err)
	}
	return on
}

func TestCheckOfAnHonestProfile(t *testing.T) {
	g := NewWithT(t)
	on := reference(t)
	report, err := Check(t.Context(), on, runner.Selection{}, nil)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(report.Wrong()).To(BeEmpty())
	g.Expect(report.Keys).To(HaveLen(len(on.Profile.Keys)))
	for _, c := range report.Coverage {
		g.Expect(c.Assessable).To(Equal(c.Pairs), "%s: %v", c.Group, c.Missing)
	}
	g.Expect(report.Data).To(ContainElement(HaveField("Says", "all 114 that the profile names exist")))
}

func TestCheckFindsWhatIsNotTrue_long(t *testing.T) {
	on := reference(t)
	for _, tc := range []struct {
		name  string
		spoil func(*profile.Profile)
		want  []string // what and says of the one finding that is wrong
	}{
		{"revoked key given as active", func(p *profile.Profile) { key(p, "main-revoked").State = profile.KeyActive },
			[]string{"key main-revoked", "returns 401", "want 200 for a key with the state active"}},
		{"active key given as revoked", func(p *profile.Profile) { key(p, "main-2").State = profile.KeyRevoked },
			[]string{"key main-2", "want 401 for a key with the state revoked"}},
		{"paid key given as unpaid", func(p *profile.Profile) { key(p, "main-2").State = profile.KeyUnpaid },
			[]string{"key main-2", "want 402"}},
		{"more scopes than it has", func(p *profile.Profile) { key(p, "main-campaigns-update").Scopes = []string{"all:read"} },
			[]string{"key main-campaigns-update", "want 200"}},
		{"workspace of another", func(p *profile.Profile) {
			w := p.Workspaces[dataset.Second]
			w.ID = p.Workspaces[dataset.Outsider].ID
			p.Workspaces[dataset.Second] = w
		},
			[]string{"workspace second", "its key second shows rows of workspace"}},
		{"subsequence that is gone", func(p *profile.Profile) {
			w := p.Workspaces[dataset.Main]
			w.Subsequences = append(w.Subsequences, "01941f29-7c00-7000-8000-000000000000")
			p.Workspaces[dataset.Main] = w
		},
			[]string{"subsequences of main", "1 of 6 that the profile names do not exist: 01941f29-7c00-7000-8000-000000000000"}},
		{"no subsequence left to delete", func(p *profile.Profile) {
			w := p.Workspaces[dataset.Main]
			w.ExpendableSubsequences = []string{"01941f29-7c00-7000-8000-000000000000"}
			p.Workspaces[dataset.Main] = w
		},
			[]string{"expendable subsequences of main", "0 of 1 that the profile names are left", "reset the server's data or list other rows"}},
		{"test that is gone", func(p *profile.Profile) {
			w := p.Workspaces[dataset.Main]
			w.PlacementTests = []string{"01941f29-7c00-7000-8000-000000000000"}
			p.Workspaces[dataset.Main] = w
		},
			[]string{"placement tests of main", "1 of 1 that the profile names do not exist"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			g := NewWithT(t)
			p := profile.Embedded()
			tc.spoil(p)
			spoilt, err := target.URL(p, on.BaseURL)
			g.Expect(err).NotTo(HaveOccurred())
			report, _, err := look(t.Context(), spoilt, runner.Selection{}, nil)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(report.Wrong()).To(HaveLen(1))
			found := report.Wrong()[0]
			for _, want := range tc.want {
				g.Expect(found.What + ": " + found.Says).To(ContainSubstring(want))
			}
		})
	}
}

func key(p *profile.Profile, name string) *profile.Key {
	for i := range p.Keys {
		if p.Keys[i].Name == name {
			return &p.Keys[i]
		}
	}
	panic("no key " + name)
}

func TestCheckWithoutAnAnswer(t *testing.T) {
	on, err := target.URL(profile.Embedded(), "http://127.0.0.1:1")
	if err != nil {
		t.Fatal(err)
	}
	_, err = Check(t.Context(), on, runner.Selection{}, nil)
	NewWithT(t).Expect(err).To(MatchError(ErrNoAnswer))
}

func TestAssessableNamesTheMissingInput_long(t *testing.T) {
	for _, tc := range []struct {
		name  string
		drop  func(*profile.Profile)
		group spec.Group
		want  string
	}{
		{"revoked key", func(p *profile.Profile) { key(p, "main-revoked").State = profile.KeyActive }, spec.GroupKeys, "a revoked key"},
		{"unpaid workspace", func(p *profile.Profile) { key(p, dataset.Unpaid).Workspace = dataset.Second }, spec.GroupBilling, `a key of the workspace "unpaid"`},
		{"name of a parameter", func(p *profile.Profile) { delete(p.Parameters[spec.ListSubsequences], profile.ParamSearch) }, spec.GroupFilters, `the entry parameters.subsequences.list.search`},
		{"limited key", func(p *profile.Profile) { p.RateLimit = nil }, spec.GroupRate, "the entry rate_limit (a key"},
		{"second workspace", func(p *profile.Profile) { key(p, dataset.Second).State = profile.KeyRevoked }, spec.GroupIsolation, `a key of the workspace "second"`},
		{"permission to change", func(p *profile.Profile) { p.Writes = profile.WritesNone }, spec.GroupState, "writes: none"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			g := NewWithT(t)
			p := profile.Embedded()
			tc.drop(p)
			all, err := Assessable(p, runner.Selection{})
			g.Expect(err).NotTo(HaveOccurred())
			for _, c := range all {
				if c.Group != tc.group {
					continue
				}
				g.Expect(c.Assessable).To(BeNumerically("<", c.Pairs))
				g.Expect(c.Missing).To(ContainElement(HaveField("Input", ContainSubstring(tc.want))))
			}
		})
	}
}

func TestAssessableMakesNoKey_long(t *testing.T) {
	g := NewWithT(t)
	p := profile.Embedded()
	p.Keys, p.RateLimit = nil, nil
	p.Mint = &profile.Mint{Command: []string{"false"}}
	p = p.WithMint(func(string, string) (string, error) {
		t.Error("a key was made")
		return "", nil
	})
	all, err := Assessable(p, runner.Selection{})
	g.Expect(err).NotTo(HaveOccurred())
	for _, c := range all {
		if c.Group == spec.GroupFilters {
			g.Expect(c.Assessable).To(Equal(c.Pairs), "keys would be made: %v", c.Missing)
		}
	}
}

func TestDiscover(t *testing.T) {
	g := NewWithT(t)
	on := reference(t)
	full, _ := on.Profile.FullKey(dataset.Main)
	bare, err := target.URL(&profile.Profile{Name: "found", Pace: on.Profile.Pace}, on.BaseURL)
	g.Expect(err).NotTo(HaveOccurred())
	p, notes, err := Discover(t.Context(), bare, full.Token, "FOUND_KEY", nil)
	g.Expect(err).NotTo(HaveOccurred())

	main := p.Workspaces[dataset.Main]
	g.Expect(main.ID).To(Equal(on.Profile.Workspaces[dataset.Main].ID))
	g.Expect(main.Subsequences).NotTo(BeEmpty())
	g.Expect(main.Campaigns).NotTo(BeEmpty())
	g.Expect(main.PlacementTests).To(HaveLen(mostTests))
	g.Expect(main.ExpendableSubsequences).To(BeEmpty(), "what may be deleted is for people to say")
	g.Expect(p.Writes).To(Equal(profile.WritesOwn))
	g.Expect(p.Keys).To(ConsistOf(profile.Key{Name: "main", TokenEnv: "FOUND_KEY", Workspace: dataset.Main, Scopes: []string{"all:all"}, State: profile.KeyActive}))
	g.Expect(p.Parameters).To(Equal(on.Profile.Parameters), "every customary name is found by what it does")
	g.Expect(strings.Join(notes, "\n")).To(And(ContainSubstring("all:all"), ContainSubstring("a page without a limit shows 10 rows"), Not(ContainSubstring(full.Token))))

	text, err := p.YAML("found")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(string(text)).NotTo(ContainSubstring(full.Token))
	_, err = profile.Parse("found.yaml", text)
	g.Expect(err).NotTo(HaveOccurred())
}

func TestDiscoverWithLittle(t *testing.T) {
	g := NewWithT(t)
	on := reference(t)
	bare, err := target.URL(&profile.Profile{Name: "found", Pace: on.Profile.Pace}, on.BaseURL)
	g.Expect(err).NotTo(HaveOccurred())
	_, _, err = Discover(t.Context(), bare, "no-such-key", "FOUND_KEY", nil)
	g.Expect(err).To(MatchError(ContainSubstring("every list returns 401")))

	narrow, _ := on.Profile.ScopedKey(dataset.Main, "lead_lists:read")
	p, notes, err := Discover(t.Context(), bare, narrow.Token, "FOUND_KEY", nil)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(p.Keys[0].Scopes).To(Equal([]string{"lead_lists:read"}))
	g.Expect(p.Workspaces[dataset.Main].ID).To(Equal(on.Profile.Workspaces[dataset.Main].ID))
	g.Expect(strings.Join(notes, "\n")).To(ContainSubstring("the key is refused for"))
}
