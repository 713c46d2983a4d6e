package spec

import (
	"slices"
	"strings"
	"sync"
)

// Aspect is the part of a field's description that a requirement checks.
type Aspect string

// The aspects of a row of a field table.
const (
	Type    Aspect = "TYPE"    // the stated JSON type; null only if the table says so
	Value   Aspect = "VALUE"   // a closed set of values, a format, a pattern
	Present Aspect = "PRESENT" // present whenever its meaning applies
)

// Field is one row of a field table of the section Resources, or one part of a
// nested object that such a row describes.
type Field struct {
	Resource string // schema component, e.g. "Lead"
	// Path is the dotted path from the resource to the field. ITEM stands for
	// an array item, ENTRY for an entry of an object with free keys:
	// "sequences.ITEM.steps.ITEM.delay", "payload.ENTRY".
	Path        string
	Type        string // the stated type in words: "a string or null"
	Value       string // the stated set of values, format or pattern in words; may be empty
	Required    bool   // must be present if its parent is
	Conditional string // why it may be absent; empty when Required
}

// Requirement returns the permanent id of the requirement for the aspect:
// SHAPE-<RESOURCE>-<PATH>-<ASPECT>.
func (f Field) Requirement(a Aspect) string {
	return FieldRequirement(f.Resource, f.Path, a)
}

// FieldRequirement returns the id that Field.Requirement returns for that field.
func FieldRequirement(resource, path string, a Aspect) string {
	return "SHAPE-" + upperSnake(resource) + "-" + strings.ToUpper(path) + "-" + string(a)
}

// Fields returns the field table in the order of schemas/openapi.yaml.
func Fields() []Field { return append([]Field(nil), fields...) }

// Name returns the resource and the path: "Lead.email".
func (f Field) Name() string { return f.Resource + "." + f.Path }

// FindField returns the field with that name.
func FindField(name string) (Field, bool) {
	return find(fields, func(f Field) bool { return f.Name() == name })
}

// RequiredBy returns the words of the specification that require the field; empty if only
// its meaning does. An implementation may leave out the latter by design.
func (f Field) RequiredBy() string {
	in := func(paths ...string) bool { return slices.Contains(paths, f.Path) }
	within := func(parts ...string) bool {
		return slices.ContainsFunc(parts, func(part string) bool { return strings.Contains("."+f.Path+".", part) })
	}
	switch {
	case !f.Required:
		return ""
	case f.Path == "id":
		return "Results are sorted by id"
	case f.Resource == "AccountMove":
		return "200: {status: success}"
	case f.Resource == "InboxPlacementTest" && in(CreateRequired...):
		return "required"
	case f.Resource == "WebhookEvent" && in("success"):
		return "An attempt is a success or not (success)"
	case within(".ITEM.timing.from.", ".ITEM.timing.to."):
		return "both required"
	case within(".schedules.ITEM."):
		return "all four fields required"
	case within(".schedules."):
		return "at least 1 item, required"
	case within(".sequences.ITEM."):
		return "Required: yes"
	}
	return ""
}

// Documented returns a row of the resource without undocumented fields, at any depth. An
// object whose members the specification does not show keeps them all. The result shares
// memory with the row.
func Documented(resource string, row map[string]any) map[string]any {
	return documentedFields()[resource].of(row).(map[string]any)
}

// fieldTree holds the documented fields of an object or array by the names of their paths.
// An empty one stands for a value whose contents the specification does not show.
type fieldTree map[string]fieldTree

// documentedFields returns the trees of all resources.
var documentedFields = sync.OnceValue(func() fieldTree {
	resources := fieldTree{}
	for _, f := range fields {
		at := resources
		for name := range strings.SplitSeq(f.Name(), ".") {
			if at[name] == nil {
				at[name] = fieldTree{}
			}
			at = at[name]
		}
	}
	return resources
})

// member returns the tree of a member and whether the member is documented.
func (t fieldTree) member(name string) (fieldTree, bool) {
	if child, ok := t[name]; ok {
		return child, true
	}
	child, ok := t["ENTRY"]
	return child, ok
}

// of returns the value without undocumented fields.
func (t fieldTree) of(value any) any {
	if t.shows(value) { // almost always
		return value
	}
	switch value := value.(type) {
	case map[string]any:
		kept := make(map[string]any, len(value))
		for name, member := range value {
			if child, ok := t.member(name); ok {
				kept[name] = child.of(member)
			}
		}
		return kept
	case []any:
		kept := make([]any, len(value))
		for i, item := range value {
			kept[i] = t["ITEM"].of(item)
		}
		return kept
	}
	return value
}

// shows reports whether every field of the value is documented.
func (t fieldTree) shows(value any) bool {
	if len(t) == 0 {
		return true
	}
	switch value := value.(type) {
	case map[string]any:
		for name, member := range value {
			if child, ok := t.member(name); !ok || !child.shows(member) {
				return false
			}
		}
	case []any:
		return !slices.ContainsFunc(value, func(item any) bool { return !t["ITEM"].shows(item) })
	}
	return true
}

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

// shapeRequirements describes every 200 response: rules for all operations,
// then each row of the field tables.
func shapeRequirements() []Requirement {
	table := []Requirement{
		{ID: "SERVED", Level: stated, Group: GroupShape, Profile: ProfileShape,
			Statement: "The server implements the operation.",
			Section:   "Endpoints",
			Method: "An operation is missing if each request gets 404, 405 or 501: without a key, with a key, and for a resource that exists. " +
				"Nothing that needs a missing operation is assessed.", Operations: allOps()},
		{ID: "STATUS-200", Level: stated, Group: GroupShape, Profile: ProfileShape,
			Statement: "A valid request with an authorized key gets status 200.",
			Section:   "Endpoints (each operation: “200: …”)",
			Method:    "Every fully valid request, in any check, must get 200. Any other 2xx status, on any request, is a violation too.", Operations: allOps()},
		{ID: "STATUS-ALLOWED", Level: derived, Group: GroupShape, Profile: ProfileShape,
			Statement: "The status of a response is one that the specification allows for the request. It is never a redirect or a server error.",
			Reasoning: "The specification shows 200 and four errors, and leaves open how invalid requests are refused. Nothing in it allows a redirect or a server error.",
			Section:   "Endpoints; Errors",
			Method: "Each request of a run says in advance which statuses are right. Any other one is a violation, unless another requirement says so. " +
				"Each operation also gets an unknown query parameter.", Operations: allOps()},
		{ID: "BODY-JSON", Level: stated, Group: GroupShape, Profile: ProfileShape,
			Statement: "The body of a 200 response is one JSON value in UTF-8, with no trailing content.",
			Section:   "What the service does (all endpoints return JSON)",
			Method:    "Every 200 body is decoded strictly.", Operations: allOps()},
		{ID: "BODY-TYPE", Level: stated, Group: GroupShape, Profile: ProfileShape,
			Statement: "The 200 body has the documented outer form: an object, or for " + plainLists() + " a plain array of objects.",
			Section:   "Endpoints", Method: "The outermost type of every 200 body is checked.", Operations: allOps()},
		{ID: "CONTENT-TYPE", Level: derived, Group: GroupShape, Profile: ProfileShape,
			Statement: "A 200 response declares JSON in its Content-Type (application/json or a +json type, any parameters).",
			Reasoning: "All endpoints return JSON, and clients rely on the header to recognize it.",
			Section:   "What the service does", Method: "The header of every 200 response is parsed.", Operations: allOps()},
		{ID: "PAGE-ITEMS-PRESENT", Level: stated, Group: GroupPages, Profile: ProfileShape,
			Statement: "A page has the member items.", Section: "Pagination (list endpoints)",
			Method: "Every page seen is checked.", Operations: pagedOps()},
		{ID: "PAGE-ITEMS-TYPE", Level: stated, Group: GroupPages, Profile: ProfileShape,
			Statement: "The items of a page are an array of objects.", Section: "Pagination (list endpoints)",
			Method: "Every page seen is checked.", Operations: pagedOps()},
		{ID: "PAGE-CURSOR-TYPE", Level: stated, Group: GroupPages, Profile: ProfileShape,
			Statement: "If present, next_starting_after is a string, or null at the end of the list.",
			Section:   "Pagination (list endpoints)", Method: "Every page seen is checked.", Operations: pagedOps()},
	}
	return join(table, fieldRequirements())
}

// plainLists names the resources that a plain array lists.
func plainLists() string {
	var sections []string
	for _, id := range plainOps() {
		sections = append(sections, strings.ToLower(MustOperation(id).Section))
	}
	return strings.Join(sections, " and ")
}

// fieldRequirements turns each row of the field tables into its requirements
// on every operation that returns the resource.
func fieldRequirements() []Requirement {
	var table []Requirement
	for _, f := range fields {
		answering := ops(func(o Operation) bool { return o.Resource == f.Resource && shows(o, f) })
		row := func(a Aspect, level Level, statement, reasoning string) {
			table = append(table, Requirement{
				ID: f.Requirement(a), Level: level, Group: GroupShape, Profile: ProfileShape,
				Statement: statement, Reasoning: reasoning,
				Section:    "Resources and their fields / " + f.Resource,
				Method:     "Every object of this resource in any 200 response is validated against the JSON Schema derived from the OpenAPI document.",
				Operations: answering,
			})
		}
		row(Type, stated, "In "+article(f.Resource)+", "+f.Path+", if present, is "+f.Type+".", "")
		if f.Value != "" {
			row(Value, stated, "In "+article(f.Resource)+", the value of "+f.Path+", if present, is "+f.Value+".", "")
		}
		if f.Required {
			row(Present, derived, present(f),
				"The field is documented, its meaning always applies, and the table does not allow null.")
		}
	}
	return table
}

// shows reports whether the operation's responses may hold the field: only a
// get shows metadata (META-ELSEWHERE).
func shows(o Operation, f Field) bool {
	metadata := f.Resource == "InboxPlacementTest" && f.Path == "metadata"
	return !metadata || o.Takes("with_metadata")
}

// article returns the name of a resource with its indefinite article.
func article(resource string) string {
	if strings.ContainsAny(resource[:1], "AEIOU") {
		return "an " + resource
	}
	return "a " + resource
}

// present says that the field is there, unless an optional object around it is not.
func present(f Field) string {
	text := strings.ToUpper(article(f.Resource)[:1]) + article(f.Resource)[1:] + " has " + f.Path
	if strings.Contains(f.Path, ".") {
		text += " if its parent object is present"
	}
	return text + "."
}
