package preflight

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	. "github.com/onsi/gomega"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/fixtures/refserver"
	"outreach.example/conformance/fixtures/target"
	"outreach.example/conformance/suites/runner"
)

// data is generated once for all tests.
var data = sync.OnceValues(func() (*refserver.Loaded, error) { return refserver.Generate(dataset.DefaultOptions()) })

// embedded starts the reference server.
func embedded(t *testing.T) *target.Target {
	t.Helper()
	loaded, err := data()
	if err != nil {
		t.Fatal(err)
	}
	server, err := target.EmbeddedWith(t.Context(), loaded, refserver.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Close(context.WithoutCancel(t.Context())) })
	return server
}

// reference starts the reference server behind a proxy that fails the test if a
// request could change something.
func reference(t *testing.T) *target.Target {
	t.Helper()
	return referenceBehind(t, func(api http.Handler) http.Handler { return api })
}

// referenceBehind is reference with a handler in front of it.
func referenceBehind(t *testing.T, front func(http.Handler) http.Handler) *target.Target {
	t.Helper()
	behind := embedded(t)
	address, err := url.Parse(behind.BaseURL)
	if err != nil {
		t.Fatal(err)
	}
	proxy := httputil.NewSingleHostReverseProxy(address)
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
	on, err := target.URL(behind.Profile, server.URL)
	if err != nil {
		t.Fatal(err)
	}
	return on
}

func at(t *testing.T, p *profile.Profile, address string) *target.Target {
	t.Helper()
	on, err := target.URL(p, address)
	if err != nil {
		t.Fatal(err)
	}
	return on
}

// discover does what target init does for a token; "" for that of the main key.
func discover(t *testing.T, on *target.Target, token string) (*profile.Profile, string, error) {
	t.Helper()
	if full, _ := on.Profile.FullKey(dataset.Main); token == "" {
		token = full.Token
	}
	p, notes, err := Discover(t.Context(), at(t, &profile.Profile{Name: "found", Pace: on.Profile.Pace}, on.BaseURL), token, "FOUND_KEY", nil)
	if err == nil {
		p.Keys[0].Token = token
	}
	return p, strings.Join(notes, "\n"), err
}

// discovered is discover for a target that has a profile.
func discovered(t *testing.T, on *target.Target, token string) (*profile.Profile, string) {
	t.Helper()
	p, notes, err := discover(t, on, token)
	if err != nil {
		t.Fatal(err)
	}
	return p, notes
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
	NewWithT(t).Expect(err).To(MatchError(errNoAnswer))
}

func TestDiscover(t *testing.T) {
	g, on := NewWithT(t), reference(t)
	full, _ := on.Profile.FullKey(dataset.Main)
	p, notes := discovered(t, on, "")
	main := p.Workspaces[dataset.Main]
	g.Expect(main.ID).To(Equal(on.Profile.Workspaces[dataset.Main].ID))
	g.Expect(main.Subsequences).NotTo(BeEmpty())
	g.Expect(main.Campaigns).NotTo(BeEmpty())
	g.Expect(main.PlacementTests).To(HaveLen(mostTests))
	g.Expect(main.ExpendableSubsequences).To(BeEmpty(), "what may be deleted is for people to say")
	g.Expect(p.Operations).To(BeEmpty(), "all are served")
	g.Expect(p.Writes).To(Equal(profile.WritesOwn))
	p.Keys[0].Token = ""
	g.Expect(p.Keys).To(ConsistOf(profile.Key{Name: "main", TokenEnv: "FOUND_KEY", Workspace: dataset.Main, Scopes: []string{"all:all"}, State: profile.KeyActive}))
	g.Expect(p.Parameters).To(Equal(on.Profile.Parameters), "every customary name is found by what it does")
	g.Expect(notes).To(And(ContainSubstring("all:all"), ContainSubstring("a page without a limit shows 10 rows"), Not(ContainSubstring(full.Token)), Not(ContainSubstring("implement"))))
	text, err := p.YAML("found")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(string(text)).NotTo(ContainSubstring(full.Token))
	_, err = profile.Parse("found.yaml", text)
	g.Expect(err).NotTo(HaveOccurred())
}

func TestDiscoverWithLittle(t *testing.T) {
	g, on := NewWithT(t), reference(t)
	_, _, err := discover(t, on, "no-such-key")
	g.Expect(err).To(MatchError(ContainSubstring("every list returns 401")))
	narrow, _ := on.Profile.ScopedKey(dataset.Main, "lead_lists:read")
	p, notes := discovered(t, on, narrow.Token)
	g.Expect(p.Keys[0].Scopes).To(Equal([]string{"lead_lists:read"}))
	g.Expect(p.Workspaces[dataset.Main].ID).To(Equal(on.Profile.Workspaces[dataset.Main].ID))
	g.Expect(notes).To(ContainSubstring("the key is refused for"))
}
