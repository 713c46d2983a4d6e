package derive

import (
	"bytes"
	"cmp"
	"fmt"
	goformat "go/format"
	"maps"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
)

// filterKinds are the kinds that x-filter takes, as spec.FilterKind has them.
var filterKinds = []string{"search", "exact", "exact-search", "exclude", "any-of", "from", "until", "from-day", "until-day", "omit"}

// placed is an operation with its method, its path and its place in the document.
type placed struct {
	*openapi3.Operation
	method, path string
	item         *openapi3.PathItem
}

// operationsOf returns the operations in the document's order.
func operationsOf(doc *openapi3.T) []placed {
	var all []placed
	paths := doc.Paths.Map()
	for _, path := range slices.Sorted(maps.Keys(paths)) {
		operations := paths[path].Operations()
		for _, method := range slices.Sorted(maps.Keys(operations)) {
			all = append(all, placed{operations[method], method, path, paths[path]})
		}
	}
	slices.SortStableFunc(all, func(a, b placed) int { return cmp.Compare(lineOf(a.Origin), lineOf(b.Origin)) })
	return all
}

func lineOf(origin *openapi3.Origin) int {
	if origin == nil || origin.Key == nil {
		return 0
	}
	return origin.Key.Line
}

// operationTable returns spec/operations_gen.go: the operations whose shape the document
// shows, and the constants of their ids.
func (d *document) operationTable() ([]byte, error) {
	var constants, rows bytes.Buffer
	for _, op := range operationsOf(d.loaded) {
		if op.Extensions["x-shape-not-shown"] == true {
			continue
		}
		constant := constantOf(op)
		row, err := d.operation(constant, op)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", op.OperationID, err)
		}
		fmt.Fprintf(&constants, "%s = %q\n", constant, op.OperationID)
		rows.WriteString(row)
	}
	return goformat.Source(fmt.Appendf(nil, "// %s\n\npackage spec\n\n// Ids of the operations.\nconst (\n%s)\n\nvar operations = []Operation{\n%s}\n",
		Header, constants.Bytes(), rows.Bytes()))
}

// constantOf returns the Go name of the operation's id: lead-lists.list is ListLeadLists.
func constantOf(op placed) string {
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

// operation returns the row of the operation.
func (d *document) operation(constant string, op placed) (string, error) {
	var row strings.Builder
	set := func(field, format string, value any) { fmt.Fprintf(&row, field+": "+format+",\n", value) }
	list := func(field, typ string, items []string) {
		if len(items) > 0 {
			fmt.Fprintf(&row, "%s: []%s{%s},\n", field, typ, strings.Join(items, ", "))
		}
	}
	set("ID", "%s", constant)
	set("Method", "%q", op.method)
	set("Path", "%q", op.path)
	if len(op.Tags) != 1 || op.Summary == "" {
		return "", fmt.Errorf("it needs one tag, which is its section, and a summary")
	}
	set("Section", "%q", op.Tags[0])
	set("Summary", "%q", strings.ToLower(op.Summary[:1])+op.Summary[1:])
	if scopes, ok := op.Extensions["x-scopes"].([]any); ok && len(scopes) > 0 {
		resource, action, _ := strings.Cut(fmt.Sprint(scopes[0]), ":")
		fmt.Fprintf(&row, "Scope: Scope{%q, %q},\n", resource, action)
	}
	answer, resource, err := d.answer(op)
	if err != nil {
		return "", err
	}
	set("Answer", "%s", answer)
	set("Resource", "%q", componentOf(resource))
	if cursor, ok := op.Extensions["x-cursor"].(string); ok {
		set("Cursor", "%q", cursor)
	}
	query, filters, names, err := parameters(op)
	if err != nil {
		return "", err
	}
	list("Query", "Parameter", query)
	list("Filters", "Filter", filters)
	list("Owner", "string", propertiesWith(resource.Value, "x-owner"))
	if op.RequestBody != nil {
		body := op.RequestBody.Value.Content["application/json"].Schema
		set("Body", "%q", componentOf(body))
		var required, optional []string
		for _, p := range inOrder(body.Value.Properties) {
			if slices.Contains(body.Value.Required, p.name) {
				required = append(required, fmt.Sprintf("%q", p.name))
			} else {
				optional = append(optional, fmt.Sprintf("%q", p.name))
			}
			if kind := extension[string](p.SchemaRef, "x-names"); kind != "" {
				names = append(names, fmt.Sprintf("{%q, %q, %q}", "body", p.name, kind))
			}
		}
		list("Required", "string", required)
		list("Optional", "string", optional)
	}
	list("Names", "Named", names)
	return "{\n" + row.String() + "},\n", nil
}

// answer returns the outer form of the 200 body, and the resource in it.
func (d *document) answer(op placed) (form string, resource *openapi3.SchemaRef, err error) {
	ok := op.Responses.Value("200")
	if ok == nil || ok.Value.Content["application/json"] == nil {
		return "", nil, fmt.Errorf("no response 200 with JSON")
	}
	body := ok.Value.Content["application/json"].Schema
	switch items := body.Value.Properties["items"]; {
	case body.Value.Items != nil:
		form, resource = "Array", body.Value.Items
	case items != nil && items.Value.Items != nil:
		form, resource = "Page", items.Value.Items
	default:
		form, resource = "One", body
	}
	if !extension[bool](resource, "x-resource") || resource.Ref == "" {
		return "", nil, fmt.Errorf("its 200 shows no component with x-resource")
	}
	return form, resource, nil
}

// propertiesWith returns the properties that have the extension, quoted.
func propertiesWith(s *openapi3.Schema, name string) []string {
	var with []string
	for _, p := range inOrder(s.Properties) {
		if extension[bool](p.SchemaRef, name) {
			with = append(with, fmt.Sprintf("%q", p.name))
		}
	}
	return with
}

// parameters returns the query parameters, the filters among them, and what the path names.
func parameters(op placed) (query, filters, names []string, err error) {
	for _, ref := range slices.Concat(op.item.Parameters, op.Parameters) {
		p := ref.Value
		if p.In == openapi3.ParameterInPath {
			kind, ok := p.Extensions["x-names"].(string)
			if !ok {
				return nil, nil, nil, fmt.Errorf("the path parameter %s needs x-names", p.Name)
			}
			names = append(names, fmt.Sprintf("{%q, %q, %q}", "path", p.Name, kind))
			continue
		}
		key := p.Name
		for _, meaning := range meanings(p.Extensions["x-filter"]) {
			filter, own, err := filterOf(p, meaning)
			if err != nil {
				return nil, nil, nil, fmt.Errorf("%s: x-filter: %w", p.Name, err)
			}
			key = own
			filters = append(filters, filter)
		}
		row := fmt.Sprintf("{Key: %q, Name: %q", key, p.Name)
		if p.Extensions["x-name-not-shown"] == true {
			row += ", NotShown: true"
		}
		if kind, ok := p.Extensions["x-names"].(string); ok {
			row += fmt.Sprintf(", Names: %q", kind)
		}
		query = append(query, row+values(p)+"}")
	}
	return query, filters, names, nil
}

// meanings returns the values of x-filter: it holds one, or a list.
func meanings(filter any) []any {
	switch filter := filter.(type) {
	case nil:
		return nil
	case []any:
		return filter
	default:
		return []any{filter}
	}
}

// filterOf returns a row of the filters, and the key of its parameter.
func filterOf(p *openapi3.Parameter, meaning any) (row, key string, err error) {
	members, _ := meaning.(map[string]any)
	for name := range members {
		if !slices.Contains([]string{"key", "kind", "word", "fields"}, name) {
			return "", "", fmt.Errorf("unknown member %q", name)
		}
	}
	kind, _ := members["kind"].(string)
	word, _ := members["word"].(string)
	fields, _ := members["fields"].([]any)
	if !slices.Contains(filterKinds, kind) || word == "" || len(fields) == 0 {
		return "", "", fmt.Errorf("it needs word, fields, and one kind of %s", strings.Join(filterKinds, ", "))
	}
	key = p.Name
	if own, ok := members["key"].(string); ok {
		key = own
	}
	quoted := make([]string, len(fields))
	for i, field := range fields {
		quoted[i] = fmt.Sprintf("%q", field)
	}
	return fmt.Sprintf("{Key: %q, Name: %q, Kind: %q, Word: %q, Fields: []string{%s}%s}", key, p.Name, kind, word, strings.Join(quoted, ", "), values(p)), key, nil
}

// values returns the member with the closed set of values; "" if it is open.
func values(p *openapi3.Parameter) string {
	all := enum(p.Schema)
	if p.Schema.Value.Type.Is(openapi3.TypeBoolean) {
		all = []any{true, false}
	}
	if all == nil {
		return ""
	}
	texts := make([]string, len(all))
	for i, value := range all {
		texts[i] = fmt.Sprintf("%q", fmt.Sprint(value))
	}
	return ", Values: []string{" + strings.Join(texts, ", ") + "}"
}
