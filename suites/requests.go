package suites

import (
	"strconv"
	"strings"

	"outreach.example/conformance/fixtures"
	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/spec"
)

// requests sends what must not be accepted.
func requests() []Spec {
	specs := malformed()
	create := spec.MustOperation(spec.CreatePlacementTest)
	for _, field := range spec.CreateRequired {
		requirement := "REQUEST-REQUIRED-" + strings.ToUpper(field)
		specs = append(specs, Spec{create.ID, "does not create a test without " + field, on(create, requirement), func(c *check) {
			c.refuse(requirement, c.request(dataset.Main, create).withoutField(field))
		}})
	}
	for _, invalid := range fixtures.PlacementTestInvalid() {
		requirement := "REQUEST-INVALID-" + strings.ToUpper(invalid.Name)
		specs = append(specs, Spec{create.ID, "does not create a test with " + invalid.Name + ": " + invalid.What, on(create, requirement), func(c *check) {
			c.refuse(requirement, c.request(dataset.Main, create).withField(invalid.Name, invalid.Value))
		}})
	}
	for _, bad := range invalidFields {
		op := spec.MustOperation(bad.op)
		specs = append(specs, Spec{op.ID, "refuses " + bad.title, on(op, bad.requirement), func(c *check) {
			valid := c.request(authorizedRole(op), op)
			for _, value := range bad.values {
				k := valid.withField(bad.field, value)
				if value == absent {
					k = valid.withoutField(bad.field)
				}
				c.refuse(bad.requirement, k)
			}
		}})
	}
	return specs
}

// refuse sends a request that is invalid in one respect. No test may come of
// it, whatever the answer says.
func (c *check) refuse(requirement string, k call) {
	creates := k.op.ID == spec.CreatePlacementTest
	var before map[string]map[string]any
	if creates {
		before = c.newestTests()
	}
	a := c.one(k.open())
	refused := c.expect(requirement, a, beRefused())
	c.observe(spec.SilenceInvalidRequest, k.op.ID, "%s", refusal(a))
	if creates && refused {
		c.notCreated(requirement, a, before)
	}
}

// newest is how many tests are looked through for one that should not be
// there: others may create some meanwhile.
const newest = 25

func (c *check) newestTests() map[string]map[string]any {
	list := c.as(dataset.Main, spec.MustOperation(spec.ListPlacementTests)).with("sort_order", "desc").with("limit", strconv.Itoa(newest))
	rows := map[string]map[string]any{}
	for _, row := range c.valid(list)[0].Rows {
		rows[keyOf(row)] = row
	}
	return rows
}

// notCreated looks for a test that was made of the refused body: it bears its
// name or its subject, of which there is no other.
func (c *check) notCreated(requirement string, refused answer, before map[string]map[string]any) {
	sent := refused.call.object()
	for key, row := range c.newestTests() {
		if before[key] != nil || !sameText(row["name"], sent["name"]) && !sameText(row["email_subject"], sent["email_subject"]) {
			continue
		}
		c.violate(requirement, refused, "", "no test", "the answer "+describe(refused)+", and the list shows the test "+shorten(describe(row)))
		if id, ok := row["id"].(string); ok {
			c.afterwards(c.sandbox().DeleteTest(c.name(), id, c.key(dataset.Main)))
		}
	}
}

// sameText reports whether both values are the same text.
func sameText(a, b any) bool {
	text, ok := a.(string)
	return ok && a == b && text != ""
}

// absentField in a list of values stands for leaving the field out.
type absentField struct{}

var absent = absentField{}

// invalidFields are the damages to bodies other than that of create.
var invalidFields = []struct {
	op, requirement, title, field string
	values                        []any
}{
	{spec.AddCampaignVariables, "REQUEST-REQUIRED-VARIABLES", "a body without variables", "variables", []any{absent}},
	{spec.AddCampaignVariables, "REQUEST-INVALID-VARIABLES", "variables that are not an array of strings", "variables",
		[]any{"conformance", map[string]any{}, []any{"conformance", 7}}},
	{spec.MoveLead, "REQUEST-INVALID-ID", "a lead id that is not a UUID", "id", []any{7, "lead"}},
	{spec.MoveLead, "REQUEST-INVALID-SUBSEQUENCE_ID", "a subsequence_id that is not a UUID", "subsequence_id", []any{7, "subsequence"}},
	{spec.MoveAccounts, "REQUEST-EMAILS-EMPTY", "an empty list of emails", "emails", []any{[]any{}}},
	{spec.MoveAccounts, "REQUEST-INVALID-ACCOUNT_EMAILS", "emails that are not an array of addresses", "emails", []any{"a@example.com", []any{7}}},
	{spec.MoveAccounts, "REQUEST-INVALID-SOURCE_WORKSPACE_ID", "a source_workspace_id that is not a UUID", "source_workspace_id", []any{7, "workspace"}},
	{spec.MoveAccounts, "REQUEST-INVALID-DESTINATION_WORKSPACE_ID", "a destination_workspace_id that is not a UUID", "destination_workspace_id", []any{7, "workspace"}},
}

// malformed sends bodies that are not JSON or no objects, and ids that are no UUIDs.
func malformed() []Spec {
	var specs []Spec
	for _, op := range bound("REQUEST-JSON") {
		specs = append(specs,
			Spec{op.ID, "refuses a body that is not JSON", on(op, "REQUEST-JSON"), func(c *check) {
				k := c.request(authorizedRole(op), op)
				c.refuse("REQUEST-JSON", k.withRaw(`{"name": "breaks o`))
				c.refuse("REQUEST-JSON", k.withRaw(string(k.bytes())+"}"))
			}},
			Spec{op.ID, "refuses a body that is not an object", on(op, "REQUEST-OBJECT"), func(c *check) {
				k := c.request(authorizedRole(op), op)
				c.refuse("REQUEST-OBJECT", k.withRaw(`[]`))
				c.refuse("REQUEST-OBJECT", k.withRaw(`"text"`))
			}})
	}
	for _, op := range bound("REQUEST-PATH-ID") {
		specs = append(specs, Spec{op.ID, "refuses a path id that is not a UUID", on(op, "REQUEST-PATH-ID"), func(c *check) {
			k := c.harmless(dataset.Main, op)
			for _, id := range []string{"not-a-uuid", "123", "01890000-0000-7000-8000-00000000000g"} {
				c.refuse("REQUEST-PATH-ID", k.withID(id))
			}
		}})
	}
	return specs
}
