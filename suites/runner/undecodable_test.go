package runner

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"outreach.example/conformance/reports"
	"outreach.example/conformance/spec"
)

// A response in an encoding that the client cannot decode is not judged. An error
// names the encoding.
func TestUndecodableResponsesAreNotJudged(t *testing.T) {
	g := NewWithT(t)
	encoded := roundTripper(func(r *http.Request) (*http.Response, error) {
		answer, err := http.DefaultTransport.RoundTrip(r)
		if err == nil && strings.HasSuffix(r.URL.Path, "/lead-lists") {
			answer.Header.Set("Content-Encoding", "br")
		}
		return answer, err
	})
	results := judged(t, t.Context(), Config{Target: embedded(t), Transport: encoded, Seed: 1,
		Selection: Selection{Operations: []string{spec.ListLeadLists, spec.ListLeadLabels}, Requirements: []string{"STATUS-200", "PAGE-*"}}})
	g.Expect(results.Verdict).To(Equal(reports.Inconclusive))
	g.Expect(of(results, reports.Fail)).To(BeEmpty())
	g.Expect(of(results, reports.Pass)).NotTo(BeEmpty(), "the other operation is judged")
	g.Expect(results.Troubles).To(ContainElement(HaveField("What", ContainSubstring(`Content-Encoding "br" was not offered`))))
	for _, c := range results.Checks {
		if c.Operation == spec.ListLeadLists {
			g.Expect(c.Outcome).NotTo(Equal(reports.Pass), c.Requirement)
		}
	}
}

// answerOf returns a response with a JSON body.
func answerOf(r *http.Request, status int, body any) (*http.Response, error) {
	encoded, err := json.Marshal(body)
	if err != nil {
		return nil, err
	}
	return &http.Response{StatusCode: status, Header: http.Header{"Content-Type": {"application/json"}}, Request: r,
		Body: io.NopCloser(bytes.NewReader(encoded)), ContentLength: int64(len(encoded))}, nil
}

// longValues describes a server whose first rows have long, legal names, or whose
// cursors are long. It refuses long addresses.
type longValues struct{ names, cursor int }

func (long longValues) transport() roundTripper {
	return func(r *http.Request) (*http.Response, error) {
		if len(r.URL.RequestURI()) > 2000 {
			return answerOf(r, http.StatusRequestURITooLong, "too long")
		}
		answer, err := http.DefaultTransport.RoundTrip(r)
		if err != nil || answer.StatusCode != http.StatusOK {
			return answer, err
		}
		defer func() { _ = answer.Body.Close() }()
		var page map[string]any
		if err := json.NewDecoder(answer.Body).Decode(&page); err != nil {
			return nil, err
		}
		if cursor, ok := page["next_starting_after"].(string); ok {
			page["next_starting_after"] = cursor + strings.Repeat("c", long.cursor)
		}
		items, _ := page["items"].([]any)
		for _, item := range items[:min(long.names, len(items))] {
			row := item.(map[string]any)
			row["name"] = fmt.Sprint(row["name"], strings.Repeat("x", 20_000))
		}
		return answerOf(r, answer.StatusCode, page)
	}
}

// Values of the target's data are too long for an address: other rows serve, or the
// check is not assessed. No requirement is broken by the 414 of a server.
func TestLongValuesStayOutOfAddresses_long(t *testing.T) {
	for name, tc := range map[string]struct {
		long    longValues
		check   spec.ID
		outcome reports.Outcome
	}{
		"some rows": {longValues{names: 2}, spec.FilterSearchMissing, reports.Pass},
		"all rows":  {longValues{names: 1000}, spec.FilterSearchMissing, reports.NotAssessed},
		"cursors":   {longValues{cursor: 2000}, spec.PageWalkOnce, reports.NotAssessed}, // each walk has a long one
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			results := judged(t, t.Context(), Config{Target: embedded(t), Transport: tc.long.transport(), Seed: 1,
				Selection: Selection{Operations: []string{spec.ListSubsequences}, Requirements: []string{"STATUS-200", "FILTER-*", "PAGE-WALK-*"}}})
			g.Expect(of(results, reports.Fail)).To(BeEmpty())
			g.Expect(results.Troubles).To(BeEmpty())
			for _, c := range results.Checks {
				if c.Requirement == string(tc.check) {
					g.Expect(c.Outcome).To(Equal(tc.outcome), "%s: %v", c.Requirement, c.Missing)
				}
			}
		})
	}
}
