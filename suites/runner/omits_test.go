package runner

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"testing"

	. "github.com/onsi/gomega"

	"outreach.example/conformance/reports"
	"outreach.example/conformance/schemas"
	"outreach.example/conformance/spec"
)

// leavingOut removes a member of every resource that the operation returns.
func leavingOut(operation, member string) roundTripper {
	op := spec.MustOperation(operation)
	return func(r *http.Request) (*http.Response, error) {
		answer, err := http.DefaultTransport.RoundTrip(r)
		if err != nil || r.Method != op.Method || r.URL.Path != op.URLPath("") || answer.StatusCode != http.StatusOK {
			return answer, err
		}
		defer answer.Body.Close()
		text, err := io.ReadAll(answer.Body)
		if err != nil {
			return nil, err
		}
		body, err := schemas.Decode(text)
		if err != nil {
			return nil, err
		}
		for _, row := range op.Rows(body) {
			delete(row, member)
		}
		if text, err = json.Marshal(body); err != nil {
			return nil, err
		}
		answer.Body, answer.ContentLength = io.NopCloser(bytes.NewReader(text)), int64(len(text))
		return answer, nil
	}
}

// A field that the profile omits may be absent: that is observed. Its parts and its type
// are then not judged either. If it is shown, it is judged as usual.
func TestOmittedFields(t *testing.T) {
	const operation, member, field = spec.ListSubsequences, "conditions", "Subsequence.conditions"
	conditions, known := spec.FindField(field)
	if !known {
		t.Fatal(field)
	}
	for _, tc := range []struct {
		name           string
		omits, shown   bool
		verdict        reports.Verdict
		present, typed bool // whether the run has the check
	}{
		{"listed and absent", true, false, reports.Passed, false, false},
		{"listed and shown", true, true, reports.Passed, false, true},
		{"not listed and absent", false, false, reports.Failed, true, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			g := NewWithT(t)
			server := embedded(t)
			described := *server.Profile
			if tc.omits {
				described.Omits = []string{field}
			}
			server.Profile = &described
			config := Config{Target: server, Selection: Selection{Operations: []string{operation}, Profiles: []spec.Profile{spec.ProfileShape}}}
			if !tc.shown {
				config.Transport = leavingOut(operation, member)
			}
			results := judged(t, t.Context(), config)
			g.Expect(results.Verdict).To(Equal(tc.verdict), "%v", results.Reasons)
			g.Expect(results.Run.Omits).To(Equal(described.Omits))
			has := func(id string) bool {
				return slices.ContainsFunc(results.Checks, func(c reports.Check) bool { return c.Requirement == id })
			}
			g.Expect(has(conditions.Requirement(spec.Present))).To(Equal(tc.present))
			g.Expect(has(conditions.Requirement(spec.Type))).To(Equal(tc.typed))
			g.Expect(has(spec.FieldRequirement("Subsequence", "conditions.crm_status", spec.Type))).To(Equal(tc.typed))
			observed := slices.ContainsFunc(results.Observations, func(o reports.Observation) bool {
				return o.OpenPoint == spec.OpenPointOmitted && o.Value == field
			})
			g.Expect(observed).To(Equal(tc.omits && !tc.shown))
			for _, c := range results.Checks {
				if c.Outcome == reports.Fail {
					g.Expect(c.Violations[0].Expected).To(ContainSubstring("list Subsequence.conditions under omits: in the profile"))
				}
			}
		})
	}
}
