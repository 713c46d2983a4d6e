package faults

import "outreach.example/conformance/spec"

// withMetadata is the query parameter that requests metadata.
const withMetadata = "with_metadata"

// asksMetadata matches requests with that value of the parameter; "" means
// none.
func asksMetadata(value string) func(Request) bool {
	return func(r Request) bool {
		return r.Query.Get(withMetadata) == value && r.Query.Has(withMetadata) == (value != "")
	}
}

func hasCampaign(row map[string]any) bool { return row["campaign_id"] != nil }

func hasNoCampaign(row map[string]any) bool { return row["campaign_id"] == nil }

func addMetadata(row map[string]any) { row["metadata"] = map[string]any{"tags": []any{}} }

func dropMetadata(row map[string]any) { delete(row, "metadata") }

// metadataDefects show metadata in a get that did not request it, or omit it in
// one that did.
func metadataDefects() []Defect {
	const get = spec.GetPlacementTest
	var defects []Defect
	for _, t := range []struct{ requirement, damage, doc, asked, taken string }{
		{"META-TRUE", "metadata-never", "ignores with_metadata", "true", ""},
		{"META-TRUE", "metadata-inverted", "treats with_metadata=true as false", "true", "false"},
		{"META-FALSE", "metadata-at-any-word", "treats with_metadata=false as true", "false", "true"},
		{"META-ABSENT", "metadata-by-default", "shows metadata without being asked", "", "true"},
	} {
		defects = append(defects, breaking(t.requirement, get, t.damage, t.doc, where(get, asksMetadata(t.asked), func(next Handler, r Request) (Response, error) {
			r = r.clone()
			r.Query.Del(withMetadata)
			if t.taken != "" {
				r.Query.Set(withMetadata, t.taken)
			}
			return next(r)
		})))
	}
	for _, t := range []struct {
		requirement, damage, doc, asked string
		fits                            func(row map[string]any) bool
		change                          func(row map[string]any)
	}{
		{"META-TRUE", "no-metadata-with-campaign", "shows no metadata of tests with a campaign", "true", hasCampaign, dropMetadata},
		{"META-TRUE", "no-metadata-without-campaign", "shows no metadata of tests without a campaign", "true", hasNoCampaign, dropMetadata},
		{"META-FALSE", "metadata-with-campaign", "shows metadata of tests with a campaign despite with_metadata=false", "false", hasCampaign, addMetadata},
		{"META-FALSE", "metadata-without-campaign", "shows metadata of tests without a campaign despite with_metadata=false", "false", hasNoCampaign, addMetadata},
		{"META-ABSENT", "unasked-metadata-with-campaign", "shows metadata of tests with a campaign without being asked", "", hasCampaign, addMetadata},
		{"META-ABSENT", "unasked-metadata-without-campaign", "shows metadata of tests without a campaign without being asked", "", hasNoCampaign, addMetadata},
	} {
		defects = append(defects, breaking(t.requirement, get, t.damage, t.doc, onRows(get, func(r Request, rows []map[string]any) {
			for _, row := range rows {
				if asksMetadata(t.asked)(r) && t.fits(row) {
					t.change(row)
				}
			}
		})))
	}
	return defects
}

// metadataElsewhereDefects show metadata in answers that never have it.
func metadataElsewhereDefects() []Defect {
	var defects []Defect
	shows := func(operation, damage, which string, of rowChoice) {
		defects = append(defects, breaking("META-ELSEWHERE", operation, damage, "shows metadata of "+which,
			onRows(operation, func(_ Request, rows []map[string]any) {
				for _, row := range of(rows) {
					addMetadata(row)
				}
			})))
	}
	for _, operation := range []string{spec.CreatePlacementTest, spec.ListPlacementTests, spec.DeletePlacementTest} {
		shows(operation, "metadata-everywhere", "every test", eachRow)
		for _, some := range []struct {
			word string
			fits func(map[string]any) bool
		}{{"with", hasCampaign}, {"without", hasNoCampaign}} {
			shows(operation, "metadata-"+some.word+"-campaign", "tests "+some.word+" a campaign",
				func(rows []map[string]any) []map[string]any { return keepRows(rows, some.fits) })
		}
	}
	shows(spec.ListPlacementTests, "metadata-in-last-row", "the last test of a page", finalRow)
	return defects
}
