package runner

import (
	"bytes"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/fixtures/target"
	"outreach.example/conformance/reports"
	"outreach.example/conformance/spec"
)

// An id that no target has, and such an address.
const (
	gone      = "01941f29-7c00-7000-8000-000000000000"
	goneEmail = "gone@senders.example"
)

// without returns the profile of the reference server with one id that is gone.
func without(g Gomega, role, entry string, at int) *profile.Profile {
	p := profile.Embedded()
	w := p.Workspaces[role]
	switch entry {
	case "id":
		w.ID = gone
	case "admin":
		w.Admin = gone
	case "tags":
		w.Tags = []string{gone}
	}
	if i := slices.IndexFunc(w.Entries(), func(e profile.Entry) bool { return e.Name == entry && e.List }); i >= 0 {
		ids := w.Entries()[i].IDs
		ids[min(at, len(ids)-1)] = gone
		if entry == "accounts" {
			ids[min(at, len(ids)-1)] = goneEmail
		}
	}
	p.Workspaces[role] = w
	return p
}

// tagless is the way to a server that refuses an unknown tag, or leaves it out.
type tagless struct{ refuses bool }

func (t tagless) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body == nil {
		return http.DefaultTransport.RoundTrip(r)
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	if changed := bytes.ReplaceAll(body, []byte(`"`+gone+`"`), nil); t.refuses {
		if len(changed) < len(body) {
			r.URL.Path += "/variables"
		}
	} else {
		body = changed
	}
	r = r.Clone(r.Context())
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	return http.DefaultTransport.RoundTrip(r)
}

// listless is the way to a server that lists no subsequences.
type listless struct{}

func (listless) RoundTrip(r *http.Request) (*http.Response, error) {
	if op := spec.MustOperation(spec.ListSubsequences); r.Method == op.Method && r.URL.Path == op.Path {
		r = r.Clone(r.Context())
		r.URL.Path += "/none"
	}
	return http.DefaultTransport.RoundTrip(r)
}

// A profile may name what the target does not have: that is no failure, and the reason names
// the entry.
func TestStaleProfiles_long(t *testing.T) {
	const last = 1 << 10
	for _, c := range []struct {
		role, entry string
		at          int
		requirement string
		named       string // in a reason; empty if no check relies on it
		way         http.RoundTripper
	}{
		{dataset.Main, "id", 0, "ISOLATION-OWNER", "id", nil},
		{dataset.Main, "admin", 0, "ISOLATION-OWNER", "admin", nil},
		{dataset.Main, "campaigns", 0, "VARIABLES-*", "campaigns[0]", nil},
		{dataset.Main, "campaigns", last, "VARIABLES-*", "campaigns[4]", nil},
		{dataset.Main, "campaigns", 0, "STATE-CREATE-CAMPAIGN_ID", "campaigns[0]", nil},
		{dataset.Main, "campaigns", last, "STATE-CREATE-CAMPAIGN_ID", "campaigns[4]", nil},
		{dataset.Main, "leads", 0, "LEAD-*", "leads[0]", nil},
		{dataset.Main, "leads", last, "LEAD-*", "leads[39]", nil},
		{dataset.Main, "subsequences", 0, "LEAD-*", "subsequences[0]", nil},
		{dataset.Main, "subsequences", last, "LEAD-*", "subsequences[4]", nil},
		{dataset.Main, "subsequences", 0, "LEAD-*", "subsequences[0]", listless{}},
		{dataset.Main, "subsequences", last, "LEAD-*", "subsequences[4]", listless{}},
		{dataset.Main, "leads", 0, "LEAD-*", "leads[0]", listless{}},
		{dataset.Main, "expendable_subsequences", 0, "STATE-DELETE-*", "", nil}, // runs delete them
		{dataset.Main, "placement_tests", 0, "AUTH-*", "placement_tests[0]", nil},
		{dataset.Main, "accounts", 0, "ACCOUNTS-*", "", nil},
		{dataset.Main, "tags", 0, "STATE-CREATE-TAGS", "tags[0]", tagless{refuses: true}},
		{dataset.Main, "tags", 0, "STATE-CREATE-TAGS", "tags[0]", tagless{}},
		{dataset.Second, "id", 0, "ISOLATION-*", "", nil}, // nothing of the workspace is judged by its id
		{dataset.Second, "campaigns", 0, "ISOLATION-*", "campaigns[0]", nil},
		{dataset.Second, "leads", 0, "ISOLATION-*", "leads[0]", nil},
		{dataset.Second, "subsequences", 0, "ISOLATION-*", "subsequences[0]", nil},
		{dataset.Second, "expendable_subsequences", 0, "ISOLATION-*", "", nil},
		{dataset.Second, "placement_tests", 0, "ISOLATION-*", "placement_tests[0]", nil},
		{dataset.Second, "accounts", 0, "ISOLATION-*", "", nil},
		{dataset.Admin, "id", 0, "A*", "", nil}, // the key is that of the admin workspace all the same
		{dataset.SubA, "id", 0, "A*", "id", nil},
		{dataset.SubA, "admin", 0, "ACCOUNTS-*", "admin", nil},
		{dataset.SubA, "accounts", 0, "ACCOUNTS-*", "accounts[0]", nil},
		{dataset.SubA, "accounts", last, "ACCOUNTS-*", "accounts[5]", nil},
		{dataset.SubB, "id", 0, "ACCOUNTS-*", "id", nil},
		{dataset.Outsider, "id", 0, "ADMIN-*", "id", nil},
		{dataset.OutsiderAdmin, "id", 0, "ISOLATION-*", "", nil},
		{dataset.Limited, "id", 0, "ISOLATION-OWNER", "", nil},
	} {
		t.Run(c.role+"."+c.entry+" "+c.requirement, func(t *testing.T) {
			g := NewWithT(t)
			server := embedded(t)
			results := judged(t, t.Context(), Config{Target: &target.Target{BaseURL: server.BaseURL, Kind: server.Kind, Profile: without(g, c.role, c.entry, c.at)},
				Selection: Selection{Requirements: []string{c.requirement}}, Transport: c.way})
			g.Expect(of(results, reports.Fail)).To(BeEmpty())
			g.Expect(of(results, reports.Error)).To(BeEmpty())
			named := 0
			for _, check := range results.Checks {
				missing := strings.Join(check.Missing, " ")
				if check.Outcome == reports.NotAssessed && strings.Contains(missing, "workspaces."+c.role+"."+c.named+" ") {
					named++
				}
			}
			g.Expect(named > 0).To(Equal(c.named != ""), "%v", unproven(results))
		})
	}
}
