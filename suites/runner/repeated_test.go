package runner

import (
	"io"
	"maps"
	"net/http"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/fixtures/target"
	"outreach.example/conformance/reports"
	"outreach.example/conformance/spec"
)

// A target that refuses changes fails, unless they may have been made before: the lead may
// be in the only subsequence of the profile.
func TestRefusedChanges(t *testing.T) {
	refusing := func(operation, mention string) roundTripper {
		return func(r *http.Request) (*http.Response, error) {
			response, err := http.DefaultTransport.RoundTrip(r)
			path := strings.TrimSuffix(spec.MustOperation(operation).URLPath(""), "/variables")
			if err != nil || r.Method != http.MethodPost || !strings.HasPrefix(r.URL.Path, path) || response.StatusCode != http.StatusOK {
				return response, err
			}
			body, err := r.GetBody()
			if err != nil {
				return nil, err
			}
			if sent, err := io.ReadAll(body); err != nil || !strings.Contains(string(sent), mention) {
				return response, err
			}
			_ = response.Body.Close()
			return &http.Response{StatusCode: http.StatusConflict, Header: http.Header{"Content-Type": {"application/json"}}, Request: r,
				Body: io.NopCloser(strings.NewReader(`{"statusCode":409,"error":"Conflict","message":"It was done before"}`))}, nil
		}
	}
	const never = "no such text"
	server := embedded(t)
	to := server.Profile.Workspaces[dataset.Main].Subsequences
	for _, tc := range []struct {
		name, operation, mention string
		subsequences             int
		want                     reports.Outcome
	}{
		{"every move to the only subsequence", spec.MoveLead, "", 1, reports.NotAssessed},
		{"every move", spec.MoveLead, "", 2, reports.Fail},
		{"every move to a subsequence", spec.MoveLead, to[0], 2, reports.Fail},
		{"no move", spec.MoveLead, never, 2, reports.Pass},
		{"every variable", spec.AddCampaignVariables, "", 2, reports.Fail},
		{"one variable", spec.AddCampaignVariables, `"conformance"`, 2, reports.Pass},
	} {
		t.Run(tc.name, func(t *testing.T) {
			g := NewWithT(t)
			p := *server.Profile
			p.Workspaces = maps.Clone(p.Workspaces)
			w := p.Workspaces[dataset.Main]
			w.Subsequences = to[:tc.subsequences]
			p.Workspaces[dataset.Main] = w
			described, err := target.URL(&p, server.BaseURL)
			g.Expect(err).NotTo(HaveOccurred())
			results := judged(t, t.Context(), Config{Target: described, Transport: refusing(tc.operation, tc.mention),
				Selection: Selection{Requirements: []string{string(spec.LeadMoveLead), string(spec.Status200)}, Operations: []string{tc.operation}}})
			g.Expect(of(results, tc.want)).To(ContainElement("STATUS-200 on " + tc.operation))
			if tc.want != reports.Fail {
				g.Expect(of(results, reports.Fail)).To(BeEmpty())
			}
			if tc.want == reports.NotAssessed {
				g.Expect(results.Checks).To(ContainElement(HaveField("Missing", ContainElement(HavePrefix("a second entry under subsequences")))))
			}
		})
	}
}
