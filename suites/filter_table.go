package suites

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/spec"
)

// filterTable lists the filters that select rows, as the section Endpoints
// gives them. The flags that leave out parts of a report are in reportFilters.
func filterTable() []filter {
	return []filter{
		nameSearch(spec.ListPlacementTests, "name"),
		nameSearch(spec.ListSubsequences, "name"),
		nameSearch(spec.ListLeadLabels, "label"),
		nameSearch(spec.ListLeadLists, "name"),
		memberSearch(),
		exact(spec.ListPlacementTests, "STATUS", profile.MeaningStatus, "status"),
		exact(spec.ListPlacementReports, "TEST", profile.MeaningTest, "test_id"),
		exact(spec.ListSubsequences, "PARENT", profile.MeaningParentCampaign, "parent_campaign"),
		exact(spec.ListMembers, "ACCEPTED", profile.MeaningAccepted, "accepted"),
		exact(spec.ListLeadLabels, "INTEREST", profile.MeaningInterestStatus, "interest_status_label"),
		exact(spec.ListLeadLists, "ENRICHMENT", profile.MeaningHasEnrichmentTask, "has_enrichment_task"),
		exact(spec.ListWebhookEvents, "SUCCESS", profile.MeaningSuccess, "success"),
		exactText(spec.ListWebhookEvents, "SEARCH_URL", profile.MeaningSearch, "webhook_url"),
		exactText(spec.ListWebhookEvents, "SEARCH_EMAIL", profile.MeaningSearch, "lead_email"),
		resourceIDs(),
		excludedParent(),
		windowStart(), windowEnd(),
		daysStart(), daysEnd(),
	}
}

// exact is a filter by the whole value of one field, whose selection is fully stated.
func exact(op, name, meaning, field string) filter {
	return valued(op, name, meaning, field, func(rows []map[string]any) []string { return distinct(rows, field) })
}

// exactText is exact for texts that a server might match in part: pieces of a
// value that occurs are filtered by, too.
func exactText(op, name, meaning, field string) filter {
	return valued(op, name, meaning, field, func(rows []map[string]any) []string {
		values := distinct(rows, field)
		if len(values) == 0 || utf8.RuneCountInString(values[0]) < 2 {
			return values
		}
		_, first := utf8.DecodeRuneInString(values[0])
		_, last := utf8.DecodeLastRuneInString(values[0])
		return append(values, values[0][:len(values[0])-last], values[0][first:])
	})
}

// valued filters by the values that are made from an unfiltered walk.
func valued(op, name, meaning, field string, values func([]map[string]any) []string) filter {
	missing, extra := "FILTER-"+name+"-MISSING", "FILTER-"+name+"-EXTRA"
	return filter{op, "filters by " + field, []string{missing, extra}, func(rows []map[string]any) []probe {
		var probes []probe
		for _, value := range values(rows) {
			probes = append(probes, probe{map[string]string{meaning: value}, func(row map[string]any) (string, bool) {
				if scalar(row[field]) == value {
					return missing, true
				}
				return extra, false
			}})
		}
		return probes
	}}
}

// nameSearch searches for names that occur, and for a word that does not.
func nameSearch(op, field string) filter {
	missing, extra := "FILTER-SEARCH-MISSING", "FILTER-SEARCH-EXTRA"
	return filter{op, "searches by " + field, []string{missing, extra}, func(rows []map[string]any) []probe {
		return searches(append(distinct(rows, field), absentWord), field, missing, extra)
	}}
}

// memberSearch searches for email addresses and names of members.
func memberSearch() filter {
	missing, extra := "FILTER-SEARCH_MEMBER-MISSING", "FILTER-SEARCH_MEMBER-EXTRA"
	return filter{spec.ListMembers, "searches by name and email", []string{missing, extra}, func(rows []map[string]any) []probe {
		terms := distinct(rows, "email")
		if len(rows) > 0 {
			if name, ok := rows[0]["name"].(map[string]any); ok {
				terms = append(terms, scalar(name["last"]))
			}
		}
		return searches(append(terms, absentWord), "email", missing, extra)
	}}
}

// absentWord occurs in no row of anybody's.
const absentWord = "zyxgqvkwjqxzzvq"

func searches(terms []string, field, missing, extra string) []probe {
	var probes []probe
	for _, term := range terms {
		if strings.TrimSpace(term) == "" {
			continue
		}
		probes = append(probes, probe{map[string]string{profile.MeaningSearch: term}, func(row map[string]any) (string, bool) {
			switch {
			case scalar(row[field]) == term:
				return missing, true
			case !containsWord(row, term):
				return extra, false
			default:
				return "", false
			}
		}})
	}
	return probes
}

// resourceIDs filters by one resource, and by several in a comma-separated list.
func resourceIDs() filter {
	const missing, extra = "FILTER-RESOURCE_IDS-MISSING", "FILTER-RESOURCE_IDS-EXTRA"
	return filter{spec.ListTagMappings, "filters by resource ids", []string{missing, extra}, func(rows []map[string]any) []probe {
		ids := distinct(rows, "resource_id")
		var probes []probe
		for n := 1; n <= len(ids); n++ {
			wanted := ids[:n]
			probes = append(probes, probe{map[string]string{profile.MeaningResourceIDs: strings.Join(wanted, ",")}, func(row map[string]any) (string, bool) {
				if slices.Contains(wanted, scalar(row["resource_id"])) {
					return missing, true
				}
				return extra, false
			}})
		}
		return probes
	}}
}

// excludedParent excludes a campaign. Which of the others' subsequences are
// "reusable" is left open, so none of them is expected.
func excludedParent() filter {
	const extra = "FILTER-PARENT_NOT-EXTRA"
	return filter{spec.ListSubsequences, "excludes a campaign", []string{extra}, func(rows []map[string]any) []probe {
		var probes []probe
		for _, campaign := range distinct(rows, "parent_campaign") {
			probes = append(probes, probe{map[string]string{profile.MeaningParentCampaignNot: campaign}, func(row map[string]any) (string, bool) {
				if scalar(row["parent_campaign"]) == campaign {
					return extra, false
				}
				return "", false
			}})
		}
		return probes
	}}
}

// windowStart and windowEnd cut the reports' time window at times of rows; the
// other end lies far outside. Rows at the very end are not judged.
func windowStart() filter {
	const missing, extra = "FILTER-WINDOW-START-MISSING", "FILTER-WINDOW-START-EXTRA"
	return filter{spec.ListPlacementReports, "starts a time window", []string{missing, extra}, func(rows []map[string]any) []probe {
		return windows(rows, func(cut time.Time) map[string]string {
			return map[string]string{profile.MeaningWindowStart: timestamp(cut), profile.MeaningWindowEnd: timestamp(farFuture)}
		}, func(row, cut time.Time) (string, bool) {
			switch {
			case row.Before(cut):
				return extra, false
			case row.After(cut):
				return missing, true
			}
			return "", false
		})
	}}
}

func windowEnd() filter {
	const missing, extra = "FILTER-WINDOW-END-MISSING", "FILTER-WINDOW-END-EXTRA"
	return filter{spec.ListPlacementReports, "ends a time window", []string{missing, extra}, func(rows []map[string]any) []probe {
		return windows(rows, func(cut time.Time) map[string]string {
			return map[string]string{profile.MeaningWindowStart: timestamp(farPast), profile.MeaningWindowEnd: timestamp(cut)}
		}, func(row, cut time.Time) (string, bool) {
			switch {
			case row.After(cut):
				return extra, false
			case row.Before(cut):
				return missing, true
			}
			return "", false
		})
	}}
}

var (
	farPast   = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
	farFuture = time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC)
)

// timestamp writes a time as the specification does.
func timestamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }

func windows(rows []map[string]any, query func(time.Time) map[string]string, says func(row, cut time.Time) (string, bool)) []probe {
	var probes []probe
	for _, text := range spread(distinctAll(rows, "timestamp_created")) {
		cut, err := time.Parse(time.RFC3339Nano, text)
		if err != nil {
			continue
		}
		probes = append(probes, probe{query(cut), func(row map[string]any) (string, bool) {
			created, err := time.Parse(time.RFC3339Nano, scalar(row["timestamp_created"]))
			if err != nil {
				return "", false
			}
			return says(created, cut)
		}})
	}
	return probes
}

// daysStart and daysEnd cut the webhook events' window, which is inclusive and
// counts days.
func daysStart() filter {
	requirements := []string{"FILTER-DAYS-START-EXTRA", "FILTER-DAYS-START-INCLUSIVE", "FILTER-DAYS-START-MISSING"}
	return filter{spec.ListWebhookEvents, "starts a window of days", requirements, func(rows []map[string]any) []probe {
		return days(rows, requirements, 1, func(cut string) map[string]string {
			return map[string]string{profile.MeaningWindowStart: cut, profile.MeaningWindowEnd: farFuture.Format(time.DateOnly)}
		})
	}}
}

func daysEnd() filter {
	requirements := []string{"FILTER-DAYS-END-EXTRA", "FILTER-DAYS-END-INCLUSIVE", "FILTER-DAYS-END-MISSING"}
	return filter{spec.ListWebhookEvents, "ends a window of days", requirements, func(rows []map[string]any) []probe {
		return days(rows, requirements, -1, func(cut string) map[string]string {
			return map[string]string{profile.MeaningWindowStart: farPast.Format(time.DateOnly), profile.MeaningWindowEnd: cut}
		})
	}}
}

// days makes a probe for some days that occur. The requirements speak of rows
// outside, on and inside the cut; inside is the sign of the days' order.
func days(rows []map[string]any, requirements []string, inside int, query func(cut string) map[string]string) []probe {
	const field = "timestamp_created_date"
	var probes []probe
	for _, cut := range spread(distinctAll(rows, field)) {
		probes = append(probes, probe{query(cut), func(row map[string]any) (string, bool) {
			day := scalar(row[field])
			switch strings.Compare(day, cut) * inside {
			case -1:
				return requirements[0], false
			case 0:
				return requirements[1], true
			default:
				return requirements[2], true
			}
		}})
	}
	return probes
}

// distinct returns a handful of the values that occur in a field, the first and
// the last among them; values that are null or absent do not count.
func distinct(rows []map[string]any, field string) []string {
	values := distinctAll(rows, field)
	if len(values) <= handful {
		return values
	}
	picked := make([]string, handful)
	for i := range picked {
		picked[i] = values[i*(len(values)-1)/(handful-1)]
	}
	return picked
}

func distinctAll(rows []map[string]any, field string) []string {
	var values []string
	seen := map[string]bool{}
	for _, row := range rows {
		value := scalar(row[field])
		if value != "" && !seen[value] {
			seen[value] = true
			values = append(values, value)
		}
	}
	return values
}

// spread picks a handful of values from all over the list; of a long list the
// very first and last are left out, so that something lies on either side.
func spread(values []string) []string {
	if len(values) <= handful {
		return values
	}
	picked := make([]string, handful)
	for i := range picked {
		picked[i] = values[(i+1)*len(values)/(handful+1)]
	}
	return picked
}

// scalar writes a JSON scalar as a query parameter would; "" for anything else.
func scalar(value any) string {
	switch value := value.(type) {
	case string:
		return value
	case bool:
		return strconv.FormatBool(value)
	case fmt.Stringer: // json.Number
		if whole, err := strconv.ParseFloat(value.String(), 64); err == nil {
			return strconv.FormatFloat(whole, 'f', -1, 64)
		}
	}
	return ""
}
