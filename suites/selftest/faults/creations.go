package faults

import (
	"encoding/json"
	"html"
	"net/http"
	"slices"
	"strings"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/schemas/contract"
	"outreach.example/conformance/spec"
)

// creationDefects show a created test differently from what was written (STATE-CREATE-…,
// STATE-READ_ONLY-…, STATE-GET-LIST), and metadata that was not asked for (META-…).
func creationDefects() []Defect {
	return slices.Concat(storedDefects(), textDefects(), readOnlyDefects(), creationMistakes.on("", altered("InboxPlacementTest")),
		onEach(spec.StateCreateDistinct, "also removes the last subsequence", vanish(spec.ListSubsequences)...))
}

const (
	create = spec.CreatePlacementTest
	get    = spec.GetPlacementTest
	tests  = spec.ListPlacementTests
)

// testViews lists the operations that show a created test.
var testViews = []string{create, get, tests}

// noteCreation remembers the body that created a test.
var noteCreation = on(create, always, func(x *exchange) {
	if id := textOf(x.body(), "id"); id != "" {
		x.memory.put("created "+id, x.sent())
	}
})

// creation returns the body that created the test; nil if it is older.
func (x *exchange) creation(id string) fields {
	body, _ := x.memory.get("created " + id)
	members, _ := body.(fields)
	return members
}

// created changes the rows of tests that were created with a value for the field.
func created(view, field string, change func(row fields, sent any)) rule {
	return on(view, served, rows(eachRow, func(x *exchange, row fields) {
		if sent := x.creation(textOf(row, "id"))[field]; sent != nil {
			change(row, sent)
		}
	}))
}

// stored is a defect in how one view shows a field of a created test.
func stored(view, field, doc string, change func(row fields, sent any)) Defect {
	return defect(spec.StateCreate(field), view, "shows the "+field+" of a new test "+doc, created(view, field, change), noteCreation)
}

// another replaces a value with the next one of values.
func another(values ...any) func(any) any {
	return func(v any) any {
		i := slices.IndexFunc(values, func(known any) bool { return equal(known)(v) })
		return values[(i+1)%len(values)]
	}
}

var numbers = []any{json.Number("1"), json.Number("2"), json.Number("3")}

// inside changes what a value shows at a path.
func inside(path string, wrong func(any) any) func(any) any {
	return func(v any) any { damage(v, path, wrong); return v }
}

var (
	firstLost  = ofItems(func(items []any) []any { return items[min(1, len(items)):] })
	emptied    = constant([]any{})
	upperCased = ofText(strings.ToUpper)
	recoded    = ofText(func(s string) string { // reads UTF-8 as Latin-1
		var b strings.Builder
		for _, octet := range []byte(s) {
			b.WriteRune(rune(octet))
		}
		return b.String()
	})
)

// testFields lists the fields of the body that creates a test, with ways to show each wrongly.
var testFields = []struct {
	name string
	ways []fieldDamage
}{
	{"name", []fieldDamage{{"cut short", cutShort}, {"in another case", upperCased}}},
	{"type", []fieldDamage{{"with another value", another(numbers[:2]...)}}},
	{"sending_method", []fieldDamage{{"with another value", another(numbers[:2]...)}}},
	{"email_subject", []fieldDamage{{"cut short", cutShort}, {"in another encoding", recoded}}},
	{"email_body", []fieldDamage{{"with escaped markup", ofText(html.EscapeString)}, {"without line separators", replacing("\u2028", " ")}}},
	{"emails", []fieldDamage{{"without the first", firstLost}, {"without all but ten", ofItems(func(items []any) []any { return items[:min(10, len(items))] })}}},
	{"delivery_mode", []fieldDamage{{"with another value", another(numbers[:2]...)}, {"as null", toNull}}},
	{"description", []fieldDamage{{"in another encoding", recoded}, {"as absent", leftOut}}},
	{"schedule", []fieldDamage{{"in another timezone", inside("timezone", another("Etc/GMT+12", "Asia/Tokyo"))}, {"at another time", inside("timing.from", constant("09:31"))}}},
	{"campaign_id", []fieldDamage{{"as another id", ofText(anotherID)}, {"as null", toNull}}},
	{"test_code", []fieldDamage{{"in another case", upperCased}, {"without leading zeros", ofText(func(s string) string { return strings.TrimLeft(s, "0") })}}},
	{"tags", []fieldDamage{{"without the first", firstLost}, {"as null", toNull}}},
	{"text_only", []fieldDamage{{"negated", another(true, false)}, {"as absent", leftOut}}},
	{"recipients_labels", []fieldDamage{{"without the first", firstLost}, {"empty", emptied}}},
	{"timestamp_next_run", []fieldDamage{{"one hour late", ofText(hourLater)}, {"as null", toNull}}},
	{"automations", []fieldDamage{{"without the first", firstLost}, {"empty", emptied}}},
	{"status", []fieldDamage{{"with another value", another(numbers...)}, {"as null", toNull}}},
	{"not_sending_status", []fieldDamage{{"with another value", another("daily_limits_hit", "other")}, {"as absent", leftOut}}},
}

// storedDefects show a field of a created test wrongly in one of its views, hide every test
// with an optional field from it, or refuse one of its values.
func storedDefects() []Defect {
	var defects []Defect
	for _, f := range testFields {
		requirement := spec.StateCreate(f.name)
		for _, view := range testViews {
			for _, wrong := range f.ways {
				defects = append(defects, stored(view, f.name, wrong.words, func(row fields, _ any) { damage(row, f.name, wrong.wrong) }))
			}
		}
		if slices.Contains(spec.CreateOptional, f.name) { // with a required field that would be every test
			unseen := func(x *exchange, id string) bool { return x.creation(id)[f.name] != nil }
			defects = append(defects,
				defect(requirement, get, "does not find a test created with "+f.name,
					when(func(x *exchange) bool { return unseen(x, x.ID) }, refuse(http.StatusNotFound)), noteCreation),
				defect(requirement, tests, "does not list a test created with "+f.name,
					when(served, hide(func(x *exchange, row fields) bool { return unseen(x, textOf(row, "id")) })), noteCreation))
		}
		differs := f.name + " in a get " + f.ways[0].words
		defects = append(defects, defect(spec.StateGetList, get, "shows "+differs, when(served, set(f.name, f.ways[0].wrong))))
		values := contract.Member(create, f.name).Valid
		for i := len(values) - 1; i >= max(0, len(values)-3); i-- { // the last ones: a run sends the first value with most tests
			if v := values[i]; v.Value != nil && v.Value != "" && !v.Open && v.What != usual[f.name] {
				defects = append(defects, defect(requirement, create, "refuses a body with "+v.What+" in "+f.name,
					when(sends(f.name, equal(v.Value)), refuse(http.StatusBadRequest))))
			}
		}
	}
	return append(defects,
		// A value that is lost beside another one, and one that stays from the test before.
		defect(spec.StateCreate("delivery_mode"), get, "shows another delivery_mode of an automated test",
			on(get, served, rows(eachRow, func(x *exchange, row fields) {
				if equal(numbers[1])(x.creation(textOf(row, "id"))["type"]) {
					row["delivery_mode"] = numbers[0]
				}
			})), noteCreation),
		defect(spec.StateCreate("description"), get, "shows the description of the test before for one without",
			on(get, served, rows(eachRow, func(x *exchange, row fields) {
				if before, ok := x.memory.get("inherits " + textOf(row, "id")); ok {
					row["description"] = before
				}
			})), on(create, served, func(x *exchange) {
				before, known := x.memory.take("description")
				if sent := x.sent()["description"]; sent != nil {
					x.memory.put("description", sent)
				} else if known {
					x.memory.put("inherits "+textOf(x.body(), "id"), before)
				}
			})))
}

// usual are values that every body holds: without them nothing is created.
var usual = map[string]string{"type": "1", "sending_method": "2"}

// textClass is a kind of texts that servers stumble over, and how one spoils them.
type textClass struct {
	what, sign string // a text of the class contains the sign
	spoilt     func(any) any
}

var textClasses = []textClass{
	{"a percent sign", "%", replacing("%", "%%")},
	{"a quotation mark", `"`, replacing(`"`, `\"`)},
	{"an apostrophe", "'", replacing("'", "''")},
	{"a backslash", `\`, replacing(`\`, "")},
	{"an entity", "&amp;", ofText(html.UnescapeString)},
	{"a plus sign", "+", replacing("+", " ")},
	{"letters from right to left", "ע", replacing("ע", "?")},
	{"a character beyond U+FFFF", "🚀", replacing("🚀", "?")},
}

// textDefects refuse a text of a class in one field, and spoil it in another view of it.
func textDefects() []Defect {
	var defects []Defect
	names := []string{"name", "email_subject", "email_body", "description"}
	for i, c := range textClasses {
		field, view := names[i%len(names)], testViews[i%len(testViews)]
		has := textThat(func(text string) bool { return strings.Contains(text, c.sign) })
		defects = append(defects,
			defect(spec.StateCreate(field), create, "refuses a body with "+c.what+" in "+field,
				when(sends(field, has), refuse([]int{http.StatusBadRequest, http.StatusInternalServerError}[i%2]))),
			stored(view, field, "wrongly if it has "+c.what, func(row fields, sent any) {
				if has(sent) {
					row[field] = c.spoilt(sent)
				}
			}))
	}
	for _, field := range []string{"email_body", "description"} {
		defects = append(defects, stored(get, field, "cut off after 2,000 characters", func(row fields, sent any) {
			if text, ok := sent.(string); ok && len(text) > 2000 {
				row[field] = text[:2000]
			}
		}))
	}
	return defects
}

// creationMistakes refuse a valid body, store nothing, create not exactly one test, or show
// metadata without being asked.
var creationMistakes = mistakes{
	spec.StateCreateNull: {
		{"refuses null for description", sends("description", isNull), refuse(400)},
		{"refuses null for tags", sends("tags", isNull), refuse(422)},
		{"answers 500 to null for status", sends("status", isNull), refuse(500)},
		{"does not store a test with null for description", sends("description", isNull), inPassing},
	},
	spec.StateCreate("run_immediately"): {
		{"refuses to run a test immediately", sends("run_immediately", equal(true)), refuse(400)},
		{"refuses not to run a test immediately", sends("run_immediately", equal(false)), refuse(400)},
		{"does not store a test that runs immediately", sends("run_immediately", equal(true)), inPassing},
	},
	spec.StateCreateDistinct: {
		{"creates two tests if one is to run immediately", sends("run_immediately", equal(true)), func(x *exchange) { _, _ = x.ask(x.Request) }},
		{"answers a repeated body with the first test", func(x *exchange) bool { return len(x.Body) > 0 }, keepAnswerTo(func(x *exchange) string { return string(x.Body) }, served)},
		{"does not store a test whose body was sent before", func(x *exchange) bool { return x.memory.count("body "+string(x.Body)) > 1 }, inPassing},
		{"puts the name of a created test into the first one of the profile", all(asks(dataset.Main), served), func(x *exchange) {
			x.alter(first(x.Profile.Workspaces[dataset.Main].PlacementTests), "name", x.sent()["name"])
		}},
	},
	spec.MetaTrue: {
		{"ignores with_metadata", with(withMetadata, "true"), dropParam(withMetadata)},
		{"shows no metadata of tests with a campaign", with(withMetadata, "true"), setIn(thatFit(eachRow, inCampaign), "metadata", leftOut)},
	},
	spec.MetaFalse: {
		{"takes with_metadata=false for true", with(withMetadata, "false"), setParam(withMetadata, "true")},
		{"shows metadata of tests with a campaign despite with_metadata=false", with(withMetadata, "false"), rows(thatFit(eachRow, inCampaign), addMetadata)},
	},
	spec.MetaAbsent: {
		{"shows metadata without being asked", not(has(withMetadata)), setParam(withMetadata, "true")},
		{"shows metadata of tests with a campaign without being asked", not(has(withMetadata)), rows(thatFit(eachRow, inCampaign), addMetadata)},
	},
	spec.MetaElsewhere: {
		{"shows metadata of every test", served, rows(eachRow, addMetadata)},
		{"shows metadata of tests with a campaign", served, rows(thatFit(eachRow, inCampaign), addMetadata)},
	},
	spec.StateGetList: {
		{"shows another id in a get", served, set("id", ofText(anotherID))},
		{"shows other recipients in a get", served, set("recipients", firstLost)},
		{"shows another timestamp_created in a get", served, set("timestamp_created", ofText(hourLater))},
		{"shows another name of every other test in a get", served, setIn(thatFit(eachRow, func(row fields) bool { return hashed(textOf(row, "id"))%2 == 0 }), "name", cutShort)},
	},
}

func inCampaign(row fields) bool { return row["campaign_id"] != nil }

func addMetadata(_ *exchange, row fields) { row["metadata"] = fields{"tags": []any{}} }

// readOnlyDefects show, in one view, the body's value of a read-only field.
func readOnlyDefects() []Defect {
	var defects []Defect
	for _, field := range spec.CreateReadOnly {
		for _, view := range testViews {
			defects = append(defects, defect(spec.ID("STATE-READ_ONLY-"+strings.ToUpper(field)), create, "accepts "+field+" from a body and shows it in "+view,
				created(view, field, func(row fields, sent any) { row[field] = sent }), noteCreation,
				when(always, dropped(field))))
		}
	}
	return defects
}

// withMetadata is the query parameter that requests metadata.
const withMetadata = "with_metadata"
