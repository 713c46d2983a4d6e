package traffic

import (
	"context"
	"encoding/pem"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	. "github.com/onsi/gomega"

	"outreach.example/conformance/fixtures/profile"
)

// TestProxy passes a request to a server whose certificate only the profile trusts.
func TestProxy(t *testing.T) {
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, r.URL.RawQuery) }))
	defer server.Close()
	ca := filepath.Join(t.TempDir(), "ca.pem")
	authority := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	NewWithT(t).Expect(os.WriteFile(ca, authority, 0o600)).To(Succeed())
	const query = "limit=%zz&a=1;b=2"
	for name, c := range map[string]struct {
		tls    *profile.TLS
		status int
		body   string
		said   []string
	}{
		"trusted": {&profile.TLS{CAFile: ca}, 200, query, nil},
		"unknown": {nil, 502, "", []string{"the server does not respond: .*certificate", "not judged: 1 request without"}},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			ctx, end := context.WithCancel(t.Context())
			defer end()
			j, err := New(&profile.Profile{TLS: c.tls})
			g.Expect(err).NotTo(HaveOccurred())
			said, ended := make(chan string, 10), make(chan error, 1)
			go func() {
				ended <- Proxy(ctx, j, "127.0.0.1:0", server.URL, func(text string) { said <- text })
				close(said)
			}()
			address := regexp.MustCompile(`http://\S+`).FindString(<-said)
			request, err := http.NewRequestWithContext(ctx, http.MethodGet, address+"/api/v2/lead-lists?"+query, http.NoBody)
			g.Expect(err).NotTo(HaveOccurred())
			response, err := http.DefaultClient.Do(request)
			g.Expect(err).NotTo(HaveOccurred())
			body, err := io.ReadAll(response.Body)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(response.Body.Close()).To(Succeed())
			g.Expect(response.StatusCode).To(Equal(c.status))
			g.Expect(string(body)).To(Equal(c.body))
			end()
			g.Expect(<-ended).To(Succeed())
			for _, want := range c.said {
				g.Expect(<-said).To(MatchRegexp(want))
			}
			g.Expect(said).To(BeClosed())
		})
	}
}
