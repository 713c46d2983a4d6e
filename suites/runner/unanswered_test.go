package runner

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"outreach.example/conformance/fixtures/target"
	"outreach.example/conformance/reports"
	"outreach.example/conformance/spec"
)

// If one input never gets a response, the requirement of that request fails, with a command
// that repeats it. A timeout may have another cause. A creation that was carried out each time
// leaves no row.
func TestInputsWithoutResponse_long(t *testing.T) {
	tooMany := func(r *http.Request, _ []byte) bool { return r.URL.Query().Get("limit") == "101" }
	paused := func(_ *http.Request, body []byte) bool { return bytes.Contains(body, []byte(`"status":2`)) }
	for name, tc := range map[string]struct {
		operation string
		at        func(r *http.Request, body []byte) bool
		arrives   bool // the target acts on the request
		err       error
		fails     string // the start of what does; "" if nothing
	}{
		"an invalid call is lost":           {spec.ListLeadLists, tooMany, false, io.ErrUnexpectedEOF, "STATUS-ALLOWED on lead-lists.list"},
		"an invalid call takes too long":    {spec.ListLeadLists, tooMany, false, os.ErrDeadlineExceeded, ""},
		"a creation makes a row and closes": {spec.CreatePlacementTest, paused, true, io.ErrUnexpectedEOF, "STATE-CREATE-"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := NewWithT(t)
			server := embedded(t)
			before, lost := tests(t, server), 0
			way := roundTripper(func(r *http.Request) (*http.Response, error) {
				var body []byte
				if r.Body != nil {
					body, _ = io.ReadAll(r.Body)
					r.Body = io.NopCloser(bytes.NewReader(body))
				}
				if !tc.at(r, body) {
					return http.DefaultTransport.RoundTrip(r)
				}
				if tc.arrives {
					if err := arrive(r); err != nil {
						return nil, err
					}
				}
				return nil, tc.err
			})
			results := judged(t, t.Context(), Config{Target: server, Transport: way, Selection: Selection{Operations: []string{tc.operation}}})
			for _, c := range results.Checks {
				for _, v := range c.Violations {
					if tc.fails != "" && strings.HasPrefix(c.Requirement+" on "+c.Operation, tc.fails) {
						g.Expect(v.Curl).To(ContainSubstring("curl"))
						lost++
					}
				}
			}
			if tc.fails == "" {
				g.Expect(of(results, reports.Fail)).To(BeEmpty())
				g.Expect(results.Verdict).To(Equal(reports.Inconclusive))
			} else {
				g.Expect(lost).To(BeNumerically(">", 0), "violations of %s", tc.fails)
			}
			g.Expect(tests(t, server)).To(Equal(before), "tests that the run left")
		})
	}
}

// A target may close each connection after a few responses without notice. That is no failure.
func TestConnectionsClosedWithoutNotice_long(t *testing.T) {
	for _, after := range []int{1, 2, 5} {
		t.Run(fmt.Sprint(after), func(t *testing.T) {
			t.Parallel()
			g := NewWithT(t)
			behind := embedded(t)
			subject, err := target.URL(behind.Profile, handWritten{reads: true, closesAfter: after}.start(t, behind.BaseURL))
			g.Expect(err).NotTo(HaveOccurred())
			results := judged(t, t.Context(), Config{Target: subject, Selection: Selection{
				Operations: []string{spec.CreatePlacementTest, spec.DeletePlacementTest, spec.MoveAccounts, spec.ListLeadLists},
				Profiles:   unhurried().Profiles,
			}})
			g.Expect(of(results, reports.Fail)).To(BeEmpty())
			g.Expect(of(results, reports.Pass)).NotTo(BeEmpty())
		})
	}
}
