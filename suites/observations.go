package suites

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/internal/client"
	"outreach.example/conformance/schemas"
	"outreach.example/conformance/spec"
)

// observations asks what the specification leaves open. They judge nothing;
// what they see is part of the target's fingerprint.
func observations() []Spec {
	move, accounts := spec.MustOperation(spec.MoveLead), spec.MustOperation(spec.MoveAccounts)
	specs := []Spec{
		{move.ID, "is observed: required fields", nil, func(c *check) {
			k := c.request(dataset.Main, move)
			for _, field := range []string{"id", "subsequence_id"} {
				c.observe(spec.SilenceLeadMoveFields, move.ID, "without %s: %d", field, c.one(k.withoutField(field).open()).Status)
			}
		}},
		{accounts.ID, "is observed: required fields, unknown accounts and workspaces", nil, func(c *check) {
			// Whatever a target makes of these, no account that is there may move.
			k := c.request(dataset.Admin, accounts).withField("emails", []string{c.word() + "@example.com"}).open()
			c.observe(spec.SilenceAccountFields, accounts.ID, "without emails: %d", c.one(c.harmless(dataset.Admin, accounts).withoutField("emails").open()).Status)
			c.observe(spec.SilenceUnknownAccount, accounts.ID, "%d", c.one(k).Status)
			for _, field := range []string{"source_workspace_id", "destination_workspace_id"} {
				c.observe(spec.SilenceAccountFields, accounts.ID, "without %s: %d", field, c.one(k.withoutField(field)).Status)
				c.observe(spec.SilenceUnknownWorkspace, accounts.ID, "unknown %s: %d", field, c.one(k.withField(field, c.freshID())).Status)
			}
		}},
		{spec.CreatePlacementTest, "is observed: email service provider options", nil, func(c *check) { c.options() }},
	}
	for _, op := range bound("PAGE-LIMIT-ABSENT") {
		specs = append(specs, Spec{op.ID, "is observed: unknown and invalid queries", nil, func(c *check) {
			list := c.as(dataset.Main, op)
			c.observe(spec.SilenceUnknownQuery, op.ID, "%d", c.one(list.with("conformance_unknown", "1").open()).Status)
			c.observe(spec.SilenceUnknownCursor, op.ID, "%d", c.one(list.with(c.cursorParameter(op), "conformance").open()).Status)
		}})
	}
	list := spec.MustOperation(spec.ListPlacementTests)
	return append(specs, Spec{list.ID, "is observed: invalid filter values", nil, func(c *check) {
		for name, value := range map[string]string{"status": "9", "sort_order": "sideways"} {
			c.observe(spec.SilenceInvalidQuery, list.ID, "%s=%s: %d", name, value, c.one(c.as(dataset.Main, list).with(name, value).open()).Status)
		}
	}})
}

// options looks at the 19th path, of which only the address is known.
func (c *check) options() {
	ex := c.Client.Do(c.ctx, client.Request{Operation: spec.CreatePlacementTest, Method: http.MethodGet, Path: spec.OptionsPath, Key: c.key(dataset.Main)})
	form := "no JSON"
	if body, err := schemas.Decode(ex.Body); err == nil {
		form = fmt.Sprintf("a JSON %s", outerForm(body))
	}
	c.observe(spec.SilenceESPOptions, spec.CreatePlacementTest, "%d, %s", ex.Status, form)
}

// refusal tells the status of an answer and which members its body has.
func refusal(a answer) string {
	body, err := schemas.Decode(a.Exchange.Body)
	if err != nil {
		return fmt.Sprintf("%d, no JSON", a.Status)
	}
	if object, ok := body.(map[string]any); ok {
		return fmt.Sprintf("%d with %s", a.Status, strings.Join(slices.Sorted(maps.Keys(object)), ", "))
	}
	return fmt.Sprintf("%d, a JSON %s", a.Status, outerForm(body))
}

func outerForm(value any) string {
	switch value.(type) {
	case map[string]any:
		return "object"
	case []any:
		return "array"
	case nil:
		return "null"
	default:
		return "scalar"
	}
}
