package refserver

import (
	"encoding/json"
	"iter"
	"strings"
	"testing"

	"outreach.example/conformance/fixtures/dataset"
)

func nth[R any](rows iter.Seq[R], n int) R {
	for r := range rows {
		if n == 0 {
			return r
		}
		n--
	}
	panic("the data set has too few rows")
}

// TestFilters compares each filter with a predicate on the seed, walked in
// small pages, so that filter and cursor have to work together.
func TestFilters(t *testing.T) {
	s := start(t, Options{})
	w := s.workspace(dataset.Main)
	lists := everyList(t, w)
	check := func(path string, want []string) {
		t.Helper()
		t.Run(path, func(t *testing.T) {
			if all := lists[strings.Split(path, "?")[0]]; len(want) == len(all) {
				t.Fatalf("the filter keeps all %d rows, so this proves nothing", len(want))
			}
			for _, limit := range []int{3, 100} {
				got, _ := s.in(t).walk("main", sprint("%s&limit=%d", path, limit))
				sameRows(t, path, got, want)
			}
		})
	}
	tests := func(keep func(dataset.InboxPlacementTest) bool) []string { return docs(t, w.Tests, keep) }
	for status := 1; status <= 3; status++ {
		check(sprint("/inbox-placement-tests?status=%d", status), tests(func(r dataset.InboxPlacementTest) bool { return r.Status != nil && *r.Status == status }))
	}
	check("/inbox-placement-tests?search=AMBER-otter", tests(func(r dataset.InboxPlacementTest) bool { return strings.Contains(r.Name, "amber-otter") }))
	check("/inbox-placement-tests?search=%C3%BCBERGR%C3%B6&status=1", tests(func(r dataset.InboxPlacementTest) bool {
		return strings.HasPrefix(r.Name, "Übergrö") && r.Status != nil && *r.Status == 1
	}))
	check("/inbox-placement-tests?search=no-such-name", nil)

	reports := func(keep func(dataset.InboxPlacementReport) bool) []string { return docs(t, w.Reports, keep) }
	one, from, to := nth(w.Reports, 10), nth(w.Reports, 50).Created, nth(w.Reports, 90).Created
	check("/inbox-placement-reports?test_id="+strings.ToUpper(one.TestID), reports(func(r dataset.InboxPlacementReport) bool { return r.TestID == one.TestID }))
	check("/inbox-placement-reports?test_id="+unknownID, nil)
	check("/inbox-placement-reports?date_from="+from, docs(t, w.Reports, nil)[50:])
	check("/inbox-placement-reports?date_to="+to, docs(t, w.Reports, nil)[:91])
	check("/inbox-placement-reports?date_from="+from+"&date_to="+to, docs(t, w.Reports, nil)[50:91])
	check("/inbox-placement-reports?date_from="+to+"&date_to="+from, nil)
	check("/inbox-placement-reports?date_from="+from[:10]+"&date_to="+to[:10], reports(func(r dataset.InboxPlacementReport) bool {
		return r.CreatedDate >= from[:10] && r.CreatedDate <= to[:10]
	}))
	check("/inbox-placement-reports?date_from="+strings.Replace(from, "Z", "01Z", 1), docs(t, w.Reports, nil)[51:])
	check("/inbox-placement-reports?date_to="+strings.Replace(to, "Z", "99Z", 1), docs(t, w.Reports, nil)[:91])

	subsequences := func(keep func(dataset.Subsequence) bool) []string { return docs(t, w.Subsequences, keep) }
	sub := nth(w.Subsequences, 5)
	check("/subsequences?parent_campaign="+sub.ParentCampaign, subsequences(func(r dataset.Subsequence) bool { return r.ParentCampaign == sub.ParentCampaign }))
	check("/subsequences?parent_campaign_not="+sub.ParentCampaign, subsequences(func(r dataset.Subsequence) bool { return r.ParentCampaign != sub.ParentCampaign }))
	check("/subsequences?parent_campaign="+sub.ParentCampaign+"&parent_campaign_not="+sub.ParentCampaign, nil)
	check("/subsequences?search=Azure", subsequences(func(r dataset.Subsequence) bool { return strings.Contains(r.Name, "azure") }))

	members := func(keep func(dataset.WorkspaceMember) bool) []string { return docs(t, w.Members, keep) }
	check("/workspace-members?accepted=true", members(func(r dataset.WorkspaceMember) bool { return r.Accepted }))
	check("/workspace-members?accepted=false", members(func(r dataset.WorkspaceMember) bool { return !r.Accepted }))
	member := nth(w.Members, 40)
	check("/workspace-members?search="+strings.ToUpper(member.Email), members(func(r dataset.WorkspaceMember) bool { return r.ID == member.ID }))
	check("/workspace-members?search="+escape(strings.ToLower(member.Name.First+" "+member.Name.Last)), members(func(r dataset.WorkspaceMember) bool {
		return strings.Contains(r.Name.First+" "+r.Name.Last, member.Name.First+" "+member.Name.Last)
	}))
	check("/workspace-members?search=grace&accepted=false", members(func(r dataset.WorkspaceMember) bool { return r.Name.First == "Grace" && !r.Accepted }))

	mappings := func(ids ...string) []string {
		return docs(t, w.TagMappings, func(r dataset.TagMapping) bool { return strings.Contains(strings.Join(ids, " "), r.ResourceID) })
	}
	a, b := nth(w.TagMappings, 0).ResourceID, nth(w.TagMappings, 25).ResourceID
	check("/custom-tag-mappings?resource_ids="+a, mappings(a))
	check("/custom-tag-mappings?resource_ids="+a+","+strings.ToUpper(b), mappings(a, b))
	check("/custom-tag-mappings?resource_ids="+a+"%2C"+b, mappings(a, b))
	check("/custom-tag-mappings?resource_ids="+a+"&resource_ids="+b, mappings(a, b))
	check("/custom-tag-mappings?resource_ids="+unknownID+",", nil)

	labels := func(keep func(dataset.LeadLabel) bool) []string { return docs(t, w.LeadLabels, keep) }
	for _, interest := range []string{"positive", "neutral", "negative"} {
		check("/lead-labels?interest_status="+interest, labels(func(r dataset.LeadLabel) bool { return r.InterestStatusLabel == interest }))
	}
	check("/lead-labels?search=IVORY", labels(func(r dataset.LeadLabel) bool { return strings.Contains(r.Label, "ivory") }))

	leadLists := func(keep func(dataset.LeadList) bool) []string { return docs(t, w.LeadLists, keep) }
	check("/lead-lists?has_enrichment_task=true", leadLists(func(r dataset.LeadList) bool { return r.HasEnrichmentTask }))
	check("/lead-lists?has_enrichment_task=false", leadLists(func(r dataset.LeadList) bool { return !r.HasEnrichmentTask }))
	check("/lead-lists?search=Teal&has_enrichment_task=", leadLists(func(r dataset.LeadList) bool { return strings.Contains(r.Name, "teal") }))

	events := func(keep func(dataset.WebhookEvent) bool) []string { return docs(t, w.Events, keep) }
	check("/webhook-events?success=true", events(func(r dataset.WebhookEvent) bool { return r.Success }))
	check("/webhook-events?success=false", events(func(r dataset.WebhookEvent) bool { return !r.Success }))
	day, later := nth(w.Events, 60).CreatedDate, nth(w.Events, 120).CreatedDate
	check("/webhook-events?from="+day, events(func(r dataset.WebhookEvent) bool { return r.CreatedDate >= day }))
	check("/webhook-events?to="+day, events(func(r dataset.WebhookEvent) bool { return r.CreatedDate <= day }))
	check("/webhook-events?from="+day+"&to="+later+"&success=true", events(func(r dataset.WebhookEvent) bool {
		return r.CreatedDate >= day && r.CreatedDate <= later && r.Success
	}))
	event := first(t, w.Events, func(r dataset.WebhookEvent) bool { return r.LeadEmail != "" })
	check("/webhook-events?search="+escape(event.WebhookURL), events(func(r dataset.WebhookEvent) bool { return r.WebhookURL == event.WebhookURL }))
	check("/webhook-events?search="+escape(event.LeadEmail), events(func(r dataset.WebhookEvent) bool { return r.LeadEmail == event.LeadEmail }))
	check("/webhook-events?search="+escape(event.LeadEmail[1:]), nil)
}

func TestSkippedPartsOfReportsAreAbsent(t *testing.T) {
	s := start(t, Options{})
	for query, absent := range map[string][]string{
		"":                                {},
		"&skip_spam_assassin_report=true": {"spam_assassin_report"},
		"&skip_blacklist_report=true":     {"blacklist_report"},
		"&skip_spam_assassin_report=false&skip_blacklist_report=true": {"blacklist_report"},
		"&skip_spam_assassin_report=true&skip_blacklist_report=true":  {"spam_assassin_report", "blacklist_report"},
	} {
		full := s.page("main", "/inbox-placement-reports?limit=100").Items
		for i, item := range s.page("main", "/inbox-placement-reports?limit=100"+query).Items {
			var got, want map[string]json.RawMessage
			if json.Unmarshal(item, &got) != nil || json.Unmarshal(full[i], &want) != nil {
				t.Fatalf("%s: %s", query, item)
			}
			for _, name := range absent {
				delete(want, name)
			}
			if len(got) != len(want) {
				t.Fatalf("%s: %d fields, want %d: %s", query, len(got), len(want), item)
			}
			for name := range want {
				if string(got[name]) != string(want[name]) {
					t.Fatalf("%s: %s is %s", query, name, got[name])
				}
			}
		}
	}
}

// TestReportWithoutParts: the seed's reports have both parts, others need not.
func TestReportWithoutParts(t *testing.T) {
	for _, r := range []dataset.InboxPlacementReport{
		{ID: unknownID}, {ID: unknownID, SpamAssassinReport: &dataset.SpamReport{}}, {ID: unknownID, BlacklistReport: &dataset.BlacklistReport{}},
	} {
		row, err := reportRow(r)
		if err != nil {
			t.Fatal(err)
		}
		want, err := render(r)
		if err != nil || string(row.Doc) != string(want) {
			t.Errorf("%s, want %s (%v)", row.Doc, want, err)
		}
	}
}
