package preflight

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/fixtures/target"
	"outreach.example/conformance/suites/runner"
)

// echoing answers everything with pages that hold the key wherever a text can
// stand, as it is and in another case, and with terminal sequences.
func echoing(t *testing.T) string {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		key := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
		row := map[string]any{"id": key, key: key, "sub_workspace_id": key, "sub_workspace_name": "\x1b[2Jname: x\n" + key,
			"organization_id": strings.ToLower(key), "organization": strings.ToLower(key), "workspace": key, "admin_workspace_id": "00000000-0000-0000-0000-000000000000"}
		page := map[string]any{"items": []any{row}, "next_starting_after": key, "id": key}
		w.Header().Set("Content-Type", "application/json; key="+key)
		_ = json.NewEncoder(w).Encode(page) // a reader that is gone needs none
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// Nothing that is printed or written holds a key that the target repeats, nor
// what would move a reader's cursor.
func TestNoTokenIsShown(t *testing.T) {
	g := NewWithT(t)
	on, err := target.URL(profile.Embedded(), echoing(t))
	g.Expect(err).NotTo(HaveOccurred())
	report, _, err := look(t.Context(), on, runner.Selection{}, nil)
	g.Expect(err).NotTo(HaveOccurred())
	said := fmt.Sprintf("%+v", report)
	g.Expect(said).To(ContainSubstring("subsequences of main"))

	p, notes := discovered(t, on, "")
	p.Keys[0].Token = ""
	text, err := p.YAML(notes)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(string(text)).To(ContainSubstring("this is the admin workspace of"))
	said += string(text)

	g.Expect(said).NotTo(ContainSubstring("\x1b"))
	said = strings.ToLower(said)
	for _, k := range on.Profile.Keys {
		g.Expect(said).NotTo(ContainSubstring(strings.ToLower(k.Token)), "key "+k.Name)
	}
}

// A 200 that is no answer of this API shows nothing: no row is there for it, and
// no profile is written from it.
func TestOtherAnswers(t *testing.T) {
	for _, body := range []string{`<html></html>`, `{"items": {}}`, ``} {
		t.Run(body, func(t *testing.T) {
			g := NewWithT(t)
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(body)) }))
			defer server.Close()
			on, err := target.URL(profile.Embedded(), server.URL)
			g.Expect(err).NotTo(HaveOccurred())
			_, _, err = look(t.Context(), on, runner.Selection{}, nil)
			g.Expect(err).To(MatchError(And(ContainSubstring("subsequences.list"), ContainSubstring("neither a page nor an array"))))

			_, _, err = discover(t, on, "")
			g.Expect(err).To(MatchError(And(ContainSubstring("no list can be read"), ContainSubstring(server.URL))))
		})
	}
}

// A key that every list refuses is the matter, not the address.
func TestDiscoverySaysWhyAKeyIsRefused(t *testing.T) {
	for status, advice := range map[int]string{401: "valid", 402: "paid plan", 403: "all:all"} {
		t.Run(strconv.Itoa(status), func(t *testing.T) {
			g := NewWithT(t)
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) }))
			defer server.Close()
			bare, err := target.URL(&profile.Profile{Name: "found", Pace: profile.DefaultPace()}, server.URL)
			g.Expect(err).NotTo(HaveOccurred())
			_, _, err = Discover(t.Context(), bare, "key", "FOUND_KEY", nil)
			g.Expect(err).To(MatchError(And(ContainSubstring(strconv.Itoa(status)), ContainSubstring(advice))))
		})
	}
}
