package suites

import (
	"net/http"
	"slices"
	"strings"

	"outreach.example/conformance/fixtures"
	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/spec"
)

// placementTestFields creates tests field by field and reads each value back
// from the answer, from a get and from the list: a server that only echoes is
// caught, and so is one that shows a field in one place alone.
func placementTestFields() []Spec {
	create := spec.MustOperation(spec.CreatePlacementTest)
	var required []spec.Pair
	for _, field := range spec.CreateRequired {
		required = append(required, storedPairs(field)...)
	}
	specs := []Spec{{create.ID, "keeps the required fields", required, func(c *check) {
		// Texts are any strings: letters beyond ASCII show how they are kept.
		k := c.request(dataset.Main, create).withField("name", "Prüfung "+c.word()).withField("email_subject", "Grüße – "+c.word())
		c.keeps(k, spec.CreateRequired...)
	}}}
	for _, field := range spec.CreateOptional {
		if field == "run_immediately" { // an instruction, not a field of the resource
			continue
		}
		specs = append(specs, Spec{create.ID, "keeps " + field, storedPairs(field), func(c *check) {
			value, ok := c.optionalValue(field)
			if !ok {
				c.lack("a valid value of %s: one in the profile, or a row that shows one", field)
			}
			c.keeps(c.request(dataset.Main, create).withField(field, value), field)
		}})
	}
	return specs
}

// storedPairs are the requirement that a field is kept, on the three operations that show it.
func storedPairs(field string) []spec.Pair {
	var pairs []spec.Pair
	for _, op := range bound(storedRequirement(field)) {
		pairs = append(pairs, on(op, storedRequirement(field))...)
	}
	return pairs
}

func storedRequirement(field string) string { return "STATE-CREATE-" + strings.ToUpper(field) }

// keeps creates the test and judges that the fields have the values sent,
// wherever the test is shown.
func (c *check) keeps(k call, fields ...string) {
	sent := k.object()
	made := c.must(k)
	c.shows(made, made.row(), "", sent, fields)

	found := c.found(made)
	if found.Status == http.StatusOK {
		c.shows(found, found.row(), "", sent, fields)
	} else {
		for _, field := range fields {
			c.violate(storedRequirement(field), found, "status", "200 and the test that was created", describe(found))
		}
	}

	list := c.walk(c.as(dataset.Main, spec.MustOperation(spec.ListPlacementTests)), pagesOf(maxLimit))
	for p, page := range list.Pages {
		for i, row := range page.Rows {
			if row.Key == foldID(made.text("id")) {
				c.shows(list.at(p), row.Value, pointerIn(i), sent, fields)
				return
			}
		}
	}
	for _, field := range fields {
		c.violate(storedRequirement(field), list.last(), "/items", "the test "+made.text("id")+" that was created", "no page of the walk shows it")
	}
}

func (c *check) shows(a answer, row map[string]any, at string, sent map[string]any, fields []string) {
	for _, field := range fields {
		c.expectAt(storedRequirement(field), a, at+"/"+field, row[field], equalJSON(sent[field]))
	}
}

// optionalValue returns a valid value for an optional field. What only the
// target can know to be valid (a tag's id, an item's shape) comes from rows that
// the target shows.
func (c *check) optionalValue(field string) (any, bool) {
	var inputs fixtures.Inputs
	switch field {
	case "campaign_id":
		if campaigns := c.workspace(dataset.Main).Campaigns; len(campaigns) > 0 {
			inputs.CampaignID = campaigns[0]
		}
	case "tags":
		tag, ok := c.shown(spec.ListTagMappings, "tag_id")
		id, isText := tag.(string)
		if !ok || !isText {
			return nil, false
		}
		inputs.TagIDs = []string{id}
	case "recipients_labels", "automations":
		return c.shown(spec.ListPlacementTests, field)
	}
	values := fixtures.PlacementTestOptional()
	i := slices.IndexFunc(values, func(f fixtures.OptionalField) bool { return f.Name == field })
	return values[i].Value(inputs)
}

// shown returns the first value other than null and the empty array that a
// list's rows show for a field.
func (c *check) shown(list, field string) (any, bool) {
	for _, row := range c.tour(c.as(dataset.Main, spec.MustOperation(list)), pagesOf(maxLimit)).Rows() {
		value := row.Value[field]
		if items, isArray := value.([]any); value != nil && (!isArray || len(items) > 0) {
			return value, true
		}
	}
	return nil, false
}

// withAllOptional adds every optional field for which there is a value.
func (c *check) withAllOptional(k call) call {
	for _, field := range spec.CreateOptional {
		if value, ok := c.optionalValue(field); ok {
			k = k.withField(field, value)
		}
	}
	return k
}
