package derive

import (
	"bytes"
	"encoding/json"
	"fmt"
	goformat "go/format"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
)

// The types of the table have the names and fields of those in the package spec, so that
// their Go syntax is the table's.

// Operation is a row of the table.
type Operation struct {
	ID, Method, Path, Section, Summary string
	Scope                              Scope
	Answer                             identifier
	Resource, Cursor                   string
	Query                              []Parameter
	Filters                            []Filter
	Owner                              []string
	Body                               string
	Required, Optional                 []string
	Names                              []Named
}

// Scope, Parameter, Filter and Named are parts of a row. A filter is read from x-filter.
type (
	Scope     struct{ Resource, Action string }
	Parameter struct {
		Key, Name string
		NotShown  bool
		Names     string
		Values    []string
	}
	Filter struct {
		Key    string   `json:"key"`
		Name   string   `json:"-"`
		Kind   string   `json:"kind"`
		Word   string   `json:"word"`
		Fields []string `json:"fields"`
		Values []string `json:"-"`
	}
	Named struct{ In, Field, Kind string }
)

// identifier is printed without quotes.
type identifier string

// GoString returns the identifier.
func (i identifier) GoString() string { return string(i) }

// filterKinds are the kinds that x-filter takes.
var filterKinds = []string{"search", "exact", "exact-search", "exclude", "any-of", "from", "until", "from-day", "until-day", "omit"}

// zero matches a member of a row that has no value.
var zero = regexp.MustCompile(`, \w+:(""|false|\[\]\w+\(nil\)|Scope\{Resource:"", Action:""\})`)

// element matches the beginning of a row and of an element of a list, line the members of a
// row that begin a line.
var (
	element = regexp.MustCompile(`(^|\{|, )(Operation|Parameter|Filter|Named)\{`)
	line    = regexp.MustCompile(`, (Scope|Answer|Query|Filters|Owner|Body|Names): ?`)
)

// operationTable returns spec/operations_gen.go: the operations whose shape the document
// shows, in its order, and the constants of their ids.
func operationTable(doc *openapi3.T) ([]byte, error) {
	constants, rows := map[int]string{}, map[int]string{} // by line of the document
	for path, item := range doc.Paths.Map() {
		for method, op := range item.Operations() {
			if op.Extensions["x-shape-not-shown"] == true {
				continue
			}
			row, err := operation(method, path, item.Parameters, op)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", op.OperationID, err)
			}
			text := zero.ReplaceAllString(strings.ReplaceAll(fmt.Sprintf("%#v", row), "derive.", ""), "")
			at := op.Origin.Key.Line
			rows[at] = line.ReplaceAllString(element.ReplaceAllString(text, "$1{"), ",\n$1:") + ",\n"
			constants[at] = fmt.Sprintf("%s = %q\n", constantOf(op), op.OperationID)
		}
	}
	inOrder := func(texts map[int]string) (all string) {
		for _, at := range slices.Sorted(maps.Keys(texts)) {
			all += texts[at]
		}
		return all
	}
	return goformat.Source(fmt.Appendf(nil, "// %s\n\npackage spec\n\n// Ids of the operations.\nconst (\n%s)\n\nvar operations = []Operation{\n%s}\n",
		Header, inOrder(constants), inOrder(rows)))
}

// constantOf returns the Go name of the operation's id: lead-things.list is ListLeadThings.
func constantOf(op *openapi3.Operation) string {
	if name, ok := op.Extensions["x-name"].(string); ok {
		return name
	}
	resource, verb, _ := strings.Cut(op.OperationID, ".")
	var name strings.Builder
	for word := range strings.SplitSeq(verb+"-"+resource, "-") {
		name.WriteString(strings.ToUpper(word[:min(1, len(word))]) + word[min(1, len(word)):])
	}
	return name.String()
}

func operation(method, path string, shared openapi3.Parameters, op *openapi3.Operation) (row Operation, err error) {
	if len(op.Tags) != 1 || op.Summary == "" {
		return row, fmt.Errorf("it needs one tag, which is its section, and a summary")
	}
	row = Operation{ID: op.OperationID, Method: method, Path: path, Section: op.Tags[0], Summary: strings.ToLower(op.Summary[:1]) + op.Summary[1:]}
	if scopes, ok := op.Extensions["x-scopes"].([]any); ok && len(scopes) > 0 {
		row.Scope.Resource, row.Scope.Action, _ = strings.Cut(fmt.Sprint(scopes[0]), ":")
	}
	form, resource := answer(op)
	if resource == nil || resource.Ref == "" || !extension[bool](resource, "x-resource") {
		return row, fmt.Errorf("its 200 shows no component with x-resource")
	}
	row.Answer, row.Resource = form, componentOf(resource)
	row.Cursor, _ = op.Extensions["x-cursor"].(string)
	for _, p := range inOrder(resource.Value.Properties) {
		if extension[bool](p.SchemaRef, "x-owner") {
			row.Owner = append(row.Owner, p.name)
		}
	}
	for _, ref := range slices.Concat(shared, op.Parameters) {
		if err := row.parameter(ref.Value); err != nil {
			return row, fmt.Errorf("%s: %w", ref.Value.Name, err)
		}
	}
	if op.RequestBody == nil {
		return row, nil
	}
	body := op.RequestBody.Value.Content["application/json"].Schema
	row.Body = componentOf(body)
	for _, p := range inOrder(body.Value.Properties) {
		members := &row.Optional
		if slices.Contains(body.Value.Required, p.name) {
			members = &row.Required
		}
		*members = append(*members, p.name)
		if kind := extension[string](p.SchemaRef, "x-names"); kind != "" {
			row.Names = append(row.Names, Named{"body", p.name, kind})
		}
	}
	return row, nil
}

// answer returns the outer form of the 200 body, and the resource in it.
func answer(op *openapi3.Operation) (form identifier, resource *openapi3.SchemaRef) {
	ok := op.Responses.Value("200")
	if ok == nil || ok.Value.Content["application/json"] == nil {
		return "", nil
	}
	body := ok.Value.Content["application/json"].Schema
	switch items := body.Value.Properties["items"]; {
	case body.Value.Items != nil:
		return "Array", body.Value.Items
	case items != nil && items.Value.Items != nil:
		return "Page", items.Value.Items
	}
	return "One", body
}

// parameter adds a parameter of the query, the filters that it is, or what the path names.
func (row *Operation) parameter(p *openapi3.Parameter) error {
	kind, _ := p.Extensions["x-names"].(string)
	if p.In == openapi3.ParameterInPath {
		if kind == "" {
			return fmt.Errorf("a path parameter needs x-names")
		}
		row.Names = append(row.Names, Named{"path", p.Name, kind})
		return nil
	}
	var values []string
	for _, value := range enum(p.Schema) {
		values = append(values, fmt.Sprint(value))
	}
	if p.Schema.Value.Type.Is(openapi3.TypeBoolean) {
		values = []string{"true", "false"}
	}
	meanings, several := p.Extensions["x-filter"].([]any)
	if one := p.Extensions["x-filter"]; !several && one != nil {
		meanings = []any{one}
	}
	key := p.Name
	for _, meaning := range meanings {
		f := Filter{Key: p.Name, Name: p.Name, Values: values}
		text, _ := json.Marshal(meaning) // it was decoded
		decoder := json.NewDecoder(bytes.NewReader(text))
		decoder.DisallowUnknownFields()
		if err := decoder.Decode(&f); err != nil {
			return fmt.Errorf("x-filter: %w", err)
		}
		if !slices.Contains(filterKinds, f.Kind) || f.Word == "" || len(f.Fields) == 0 {
			return fmt.Errorf("x-filter: it needs word, fields, and one kind of %s", strings.Join(filterKinds, ", "))
		}
		key = f.Key
		row.Filters = append(row.Filters, f)
	}
	row.Query = append(row.Query, Parameter{key, p.Name, p.Extensions["x-name-not-shown"] == true, kind, values})
	return nil
}
