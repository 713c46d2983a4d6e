package sandbox

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"outreach.example/conformance/fixtures"
	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/fixtures/target"
	"outreach.example/conformance/internal/client"
	"outreach.example/conformance/internal/testbed"

	"outreach.example/conformance/spec"
)

// careless is a server that looks at the source of a move only: it moves an account
// from a workspace of the key's group to any other. If keeps is true, no account leaves
// the outsider.
type careless struct {
	at    map[string]string // id of the workspace, by account
	keeps bool
}

func (s *careless) start(t *testing.T) *target.Target {
	t.Helper()
	server := embedded(t)
	base, err := url.Parse(server.BaseURL)
	if err != nil {
		t.Fatal(err)
	}
	behind, known := httputil.NewSingleHostReverseProxy(base), server.Profile
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != spec.MustOperation(spec.MoveAccounts).Path {
			behind.ServeHTTP(w, r)
			return
		}
		var body struct {
			Emails []string `json:"emails"`
			From   string   `json:"source_workspace_id"`
			To     string   `json:"destination_workspace_id"`
		}
		_ = json.NewDecoder(r.Body).Decode(&body)
		admin, _ := known.AdminKey(known.Workspaces[dataset.SubA])
		if known.AdminOf(body.From) == known.Workspaces[dataset.OutsiderAdmin].ID {
			admin, _ = known.FullKey(dataset.OutsiderAdmin)
		}
		refused := s.keeps && body.From == known.Workspaces[dataset.Outsider].ID
		w.Header().Set("Content-Type", "application/json")
		if refused || s.at[body.Emails[0]] != body.From || r.Header.Get("Authorization") != "Bearer "+admin.Token {
			w.WriteHeader(http.StatusNotFound)
			_, _ = w.Write([]byte(`{"statusCode":404,"error":"Not Found","message":"no such account"}`))
			return
		}
		s.at[body.Emails[0]] = body.To
		_, _ = w.Write([]byte(`{"status":"success"}`))
	}))
	t.Cleanup(front.Close)
	described, err := target.URL(known, front.URL)
	if err != nil {
		t.Fatal(err)
	}
	return described
}

// The journal has each destination of an account, and cleanup says that an account is at
// home only if it has seen it there.
func TestAnAccountThatWasSentToAnotherGroup(t *testing.T) {
	for _, keeps := range []bool{false, true} {
		g := NewWithT(t)
		s := &careless{keeps: keeps}
		server := s.start(t)
		w := server.Profile.Workspaces
		email, home := w[dataset.SubA].Accounts[0], w[dataset.SubA].ID
		s.at = map[string]string{email: home}
		dir := t.TempDir()
		j, err := StartJournal(dir, thisRun, server.BaseURL)
		g.Expect(err).NotTo(HaveOccurred())
		box := New(Config{Profile: server.Profile, Journal: j})
		admin, _ := server.Profile.FullKey(dataset.Admin)
		for _, leg := range [][2]string{{home, w[dataset.SubB].ID}, {w[dataset.SubB].ID, w[dataset.Outsider].ID}} {
			c := Change{Operation: spec.MustOperation(spec.MoveAccounts), Body: fixtures.MoveAccounts(leg[0], leg[1], email), Key: admin.ForClient()}
			begun, err := box.Before(c)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(moveAccount(t, server, email, leg[0], leg[1])).To(Equal(http.StatusOK))
			_, err = box.After(c, begun, client.Exchange{Status: http.StatusOK}, "")
			g.Expect(err).NotTo(HaveOccurred())
		}
		written, err := os.ReadFile(filepath.Join(dir, "journal-"+thisRun.ID+".jsonl"))
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(string(written)).To(And(ContainSubstring(w[dataset.SubB].ID), ContainSubstring(w[dataset.Outsider].ID)))
		g.Expect(j.Finish()).To(Succeed())

		cleaned, err := Cleanup(t.Context(), testbed.Client(t, server), server.Profile, dir, nil)
		if keeps {
			g.Expect(err).To(MatchError(And(ContainSubstring(email), ContainSubstring("jsonl stays"))))
			g.Expect(strings.Join(cleaned, "\n")).NotTo(ContainSubstring(email))
			g.Expect(s.at[email]).To(Equal(w[dataset.Outsider].ID))
			continue
		}
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(cleaned).To(ConsistOf(And(ContainSubstring(email), ContainSubstring("is in its workspace"))))
		g.Expect(s.at[email]).To(Equal(home))
		g.Expect(os.ReadDir(dir)).To(BeEmpty())
	}
}
