package preflight

import (
	"maps"
	"net/http"
	"testing"

	. "github.com/onsi/gomega"

	"outreach.example/conformance/spec"
	"outreach.example/conformance/suites/runner"
)

// Servers name their parameters otherwise, and ignore names that they do not know.
func TestDiscoverTriesOtherNames(t *testing.T) {
	g := NewWithT(t)
	other := map[string]string{"search": "q", "parent_campaign": "campaign_id", "parent_campaign_not": "exclude_campaign", "from": "date_from", "to": "date_to"}
	on := referenceBehind(t, func(api http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			query := r.URL.Query()
			for usual, name := range other {
				if r.URL.Path == "/api/v2/subsequences" || r.URL.Path == "/api/v2/webhook-events" {
					delete(query, usual)
					if query.Has(name) {
						query[usual] = query[name]
						delete(query, name)
					}
				}
			}
			r.URL.RawQuery = query.Encode()
			api.ServeHTTP(w, r)
		})
	})
	p, _ := discovered(t, on, "")
	g.Expect(p.Parameters[spec.ListSubsequences]).To(Equal(map[string]string{"search": "q", "parent_campaign": "campaign_id", "parent_campaign_not": "exclude_campaign"}))
	g.Expect(p.Parameters[spec.ListWebhookEvents]).To(Equal(map[string]string{"search": "q", "success": "success", "window_start": "date_from", "window_end": "date_to"}))
}

// The reference server refuses unknown parameters only if it is told to.
func TestCheckNamesParametersThatAreIgnored(t *testing.T) {
	g := NewWithT(t)
	on := reference(t)
	wrong := map[string]map[string]string{
		spec.ListLeadLists:        {"search": "q", "has_enrichment_task": "enrichment", "starting_after": "after"},
		spec.ListPlacementReports: {"test": "test", "window_start": "from", "window_end": "to", "skip_spam_assassin": "skip"},
		spec.ListTagMappings:      {"resource_ids": "ids"},
		spec.ListLeadLabels:       {"interest_status": "interest"},
		spec.ListSubsequences:     {"parent_campaign": "campaign", "parent_campaign_not": "not_campaign"},
	}
	for list, names := range wrong {
		maps.Copy(on.Profile.Parameters[list], names)
	}
	r, _, err := look(t.Context(), on, runner.Selection{}, nil)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(r.Wrong()).To(HaveLen(1))
	g.Expect(r.Wrong()[0].What).To(Equal("parameters"))
	for list, names := range wrong {
		for meaning, name := range names {
			g.Expect(r.Wrong()[0].Says).To(ContainSubstring(name + " (" + meaning + " of " + list + ")"))
		}
	}
}
