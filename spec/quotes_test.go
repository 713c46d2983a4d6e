package spec

import (
	"slices"
	"strings"
	"testing"
)

// Every requirement quotes the specification, each quote stands in it, and no entry is
// misspelt.
func TestQuotes(t *testing.T) {
	for _, r := range Requirements() {
		quotes := Quotes(r)
		if len(quotes) == 0 {
			t.Errorf("%s quotes nothing (add an entry to quoted)", r.ID)
		}
		for _, q := range quotes {
			if q.Section == "" || q.Text == "" {
				t.Errorf("%s: %+v is incomplete", r.ID, q)
			}
		}
		for _, text := range quotedFor(r.ID) {
			if !strings.Contains(specification, text) {
				t.Errorf("%s: the specification does not say %q", r.ID, text)
			}
		}
	}
	for prefix, texts := range quoted {
		for _, text := range texts {
			if quote(text).Section == "" {
				t.Errorf("%s: %q has no section", prefix, text)
			}
		}
	}
}

// The row of a field is its own, also if other tables have a field of the name.
func TestQuotedRows(t *testing.T) {
	for id, want := range map[string]Quote{
		"SHAPE-CAMPAIGN-NAME-TYPE":                                        {"Resources and their fields / Campaign", "name | string |"},
		"SHAPE-CAMPAIGN-CAMPAIGN_SCHEDULE.SCHEDULES.ITEM.TIMING.TO-TYPE":  {"Resources and their fields / Campaign", "timing | object `{from, to}` | both required"},
		"SHAPE-CAMPAIGN-SEQUENCES.ITEM.STEPS-PRESENT":                     {"Resources and their fields / Sequence (used by campaigns and subsequences)", "`sequences` is an array"},
		"SHAPE-SUBSEQUENCE-SEQUENCES.ITEM.STEPS.ITEM.DELAY-TYPE":          {"Resources and their fields / Sequence (used by campaigns and subsequences)", "delay | number | yes"},
		"SHAPE-SUBSEQUENCE-SUBSEQUENCE_SCHEDULE.SCHEDULES.ITEM.NAME-TYPE": {"Resources and their fields / Campaign subsequence", "subsequence_schedule | object"},
		"SHAPE-LEAD-PHONE-TYPE":                                           {"Resources and their fields / Lead", "first_name, last_name, company_name, job_title, phone | string |"},
		"REQUEST-INVALID-DELIVERY_MODE":                                   {"Resources and their fields / Inbox placement test", "delivery_mode | number or null |"},
		"STATE-READ_ONLY-ID":                                              {"Resources and their fields / Inbox placement test", "id | string uuid | read-only"},
		"PAGE-WALK-ONCE":                                                  {"Endpoints / Pagination (list endpoints)", "Results are sorted by id, which is time-ordered."},
		"AUTH-KEY-REVOKED":                                                {"Authentication", "3. When the Authorization header"},
		"SHAPE-ACCOUNT_MOVE-STATUS-VALUE":                                 {"Endpoints / Accounts", "200: `{status: \"success\"}`"},
		"SHAPE-LEAD-ID-VALUE":                                             {"Resources and their fields", "Identifiers (`id`"},
	} {
		r, ok := FindRequirement(id)
		if !ok {
			t.Errorf("no requirement %s", id)
		}
		if !slices.ContainsFunc(Quotes(r), func(q Quote) bool { return q.Section == want.Section && strings.HasPrefix(q.Text, want.Text) }) {
			t.Errorf("%s quotes %q, want %q", id, Quotes(r), want)
		}
	}
}
