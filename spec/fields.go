package spec

import "strings"

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
