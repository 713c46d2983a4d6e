package spec

import (
	"strings"
)

// Aspect is what one requirement says of one field.
type Aspect string

// A row of a field table says up to three things that can be judged.
const (
	Type    Aspect = "TYPE"    // the stated JSON type; null only where the table says so
	Value   Aspect = "VALUE"   // a closed set of values, a format, a pattern
	Present Aspect = "PRESENT" // present whenever its meaning applies
)

// Field is one row of a field table of the section Resources, or one part of a
// nested object that such a row describes.
type Field struct {
	Resource string // schema component, e.g. "Lead"
	// Path leads to the field from the resource, dotted. An item of an array
	// is ITEM, an entry of an object with free keys ENTRY:
	// "sequences.ITEM.steps.ITEM.delay", "payload.ENTRY".
	Path        string
	Type        string // the stated type in words: "a string or null"
	Value       string // the stated set of values, format or pattern in words; empty when there is none
	Required    bool   // must be present wherever its parent is
	Conditional string // why it may be absent; empty when Required
}

// Requirement returns the permanent id of what the row says under the aspect:
// SHAPE-<RESOURCE>-<PATH>-<ASPECT>.
func (f Field) Requirement(a Aspect) string {
	return FieldRequirement(f.Resource, f.Path, a)
}

// FieldRequirement is Field.Requirement for a resource and path that are at hand as strings.
func FieldRequirement(resource, path string, a Aspect) string {
	return "SHAPE-" + upperSnake(resource) + "-" + strings.ToUpper(path) + "-" + string(a)
}

// Fields returns the field table, generated from schemas/openapi.yaml, in the document's order.
func Fields() []Field { return append([]Field(nil), fields...) }

// upperSnake turns InboxPlacementTest into INBOX_PLACEMENT_TEST and
// DFYEmailAccountOrder into DFY_EMAIL_ACCOUNT_ORDER.
func upperSnake(camel string) string {
	var b strings.Builder
	upper := func(i int) bool { return i >= 0 && i < len(camel) && camel[i] >= 'A' && camel[i] <= 'Z' }
	for i := range len(camel) {
		startsWord := upper(i) && i > 0 && (!upper(i-1) || (i+1 < len(camel) && !upper(i+1)))
		if startsWord {
			b.WriteByte('_')
		}
		b.WriteByte(camel[i])
	}
	return strings.ToUpper(b.String())
}

// shapeRequirements are what every 200 answer must look like: the transport
// rules once for all operations, then each row of the resources' field tables.
func shapeRequirements() []Requirement {
	table := []Requirement{
		{ID: "STATUS-200", Level: Stated, Group: GroupShape, Profile: ProfileShape,
			Statement: "A valid request by a key that may make it is answered with status 200.",
			Section:   "Endpoints (each operation: “200: …”)",
			Method:    "Every request that is valid in all respects, in any check, must be answered with 200; any other 2xx status, from any request, is a violation too.", Operations: allOps()},
		{ID: "BODY-JSON", Level: Stated, Group: GroupShape, Profile: ProfileShape,
			Statement: "The body of a 200 answer is one JSON value in UTF-8, with nothing after it and no member name twice in an object.",
			Section:   "What the service does (all endpoints return JSON)",
			Method:    "Every 200 body is decoded strictly.", Operations: allOps()},
		{ID: "BODY-TYPE", Level: Stated, Group: GroupShape, Profile: ProfileShape,
			Statement: "The 200 body is of the documented outer form: an object, or for phone numbers a plain array of objects.",
			Section:   "Endpoints", Method: "Every 200 body's outermost type is compared.", Operations: allOps()},
		{ID: "CONTENT-TYPE", Level: Derived, Group: GroupShape, Profile: ProfileShape,
			Statement: "A 200 answer announces JSON in its Content-Type (application/json or a +json type, any parameters).",
			Reasoning: "All endpoints return JSON; a client that reads the header must be able to tell.",
			Section:   "What the service does", Method: "The header of every 200 answer is parsed.", Operations: allOps()},
		{ID: "PAGE-ITEMS-PRESENT", Level: Stated, Group: GroupPages, Profile: ProfileShape,
			Statement: "A page has a member items.", Section: "Pagination (list endpoints)",
			Method: "Every page seen is judged.", Operations: pagedOps()},
		{ID: "PAGE-ITEMS-TYPE", Level: Stated, Group: GroupPages, Profile: ProfileShape,
			Statement: "items of a page is an array of objects.", Section: "Pagination (list endpoints)",
			Method: "Every page seen is judged.", Operations: pagedOps()},
		{ID: "PAGE-CURSOR-TYPE", Level: Stated, Group: GroupPages, Profile: ProfileShape,
			Statement: "next_starting_after, where a page has it, is a string, or null at the end of the list.",
			Section:   "Pagination (list endpoints)", Method: "Every page seen is judged.", Operations: pagedOps()},
	}
	return join(table, fieldRequirements())
}

// fieldRequirements turns each row of the field tables into its requirements,
// on every operation that answers with the resource.
func fieldRequirements() []Requirement {
	var table []Requirement
	for _, f := range fields {
		answering := ops(func(o Operation) bool { return o.Resource == f.Resource && shows(o, f) })
		row := func(a Aspect, level Level, statement, reasoning string) {
			table = append(table, Requirement{
				ID: f.Requirement(a), Level: level, Group: GroupShape, Profile: ProfileShape,
				Statement: statement, Reasoning: reasoning,
				Section:    "Resources and their fields / " + f.Resource,
				Method:     "Every object of this resource in any 200 answer is judged by the JSON Schema that is derived from the OpenAPI document.",
				Operations: answering,
			})
		}
		row(Type, Stated, "In a "+f.Resource+", "+f.Path+", when present, is "+f.Type+".", "")
		if f.Value != "" {
			row(Value, Stated, "In a "+f.Resource+", the value of "+f.Path+", when present, is "+f.Value+".", "")
		}
		if f.Required {
			row(Present, Derived, "A "+f.Resource+" has "+f.Path+" wherever the object that holds it is present.",
				"The field is documented, its meaning always applies and the table does not allow null.")
		}
	}
	return table
}

// shows reports whether the operation's answers may hold the field: metadata
// is for a get alone (META-ELSEWHERE).
func shows(o Operation, f Field) bool {
	metadata := f.Resource == "InboxPlacementTest" && f.Path == "metadata"
	return !metadata || o.ID == GetPlacementTest
}
