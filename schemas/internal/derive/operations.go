package derive

import (
	"cmp"
	"fmt"
	goformat "go/format"
	"regexp"
	"slices"
	"strings"
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
		Key    string
		Name   string `yaml:"-"`
		Kind   string
		Word   string
		Fields []string
		Values []string `yaml:"-"`
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

// at is an operation with its place.
type at struct {
	*operation
	method, path string
	shared       []*parameter
}

// operations returns the operations in the document's order.
func (d *document) operations() (all []at) {
	for _, p := range d.Paths {
		for _, m := range []struct {
			method string
			*operation
		}{{"POST", p.value.Post}, {"GET", p.value.Get}, {"PUT", p.value.Put}, {"PATCH", p.value.Patch}, {"DELETE", p.value.Delete}} {
			if m.operation != nil {
				all = append(all, at{m.operation, m.method, p.name, p.value.Parameters})
			}
		}
	}
	return all
}

// operationTable returns spec/operations_gen.go: the operations whose shape the document
// shows, in its order, and the constants of their ids.
func (d *document) operationTable() ([]byte, error) {
	constants, rows := "", ""
	for _, op := range d.operations() {
		if op.NotShown {
			continue
		}
		row, err := d.operation(op)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", op.ID, err)
		}
		text := zero.ReplaceAllString(strings.ReplaceAll(fmt.Sprintf("%#v", row), "derive.", ""), "")
		rows += line.ReplaceAllString(element.ReplaceAllString(text, "$1{"), ",\n$1:") + ",\n"
		constants += fmt.Sprintf("%s = %q\n", constantOf(op.operation), op.ID)
	}
	return goformat.Source(fmt.Appendf(nil, "// %s\n\npackage spec\n\n// Ids of the operations.\nconst (\n%s)\n\nvar operations = []Operation{\n%s}\n",
		Header, constants, rows))
}

// constantOf returns the Go name of the operation's id: lead-things.list is ListLeadThings.
func constantOf(op *operation) string {
	if op.Constant != "" {
		return op.Constant
	}
	resource, verb, _ := strings.Cut(op.ID, ".")
	name := ""
	for word := range strings.SplitSeq(verb+"-"+resource, "-") {
		name += strings.ToUpper(word[:min(1, len(word))]) + word[min(1, len(word)):]
	}
	return name
}

func (d *document) operation(op at) (row Operation, err error) {
	if len(op.Tags) != 1 || op.Summary == "" {
		return row, fmt.Errorf("it needs one tag, which is its section, and a summary")
	}
	row = Operation{ID: op.ID, Method: op.method, Path: op.path, Section: op.Tags[0], Summary: strings.ToLower(op.Summary[:1]) + op.Summary[1:], Cursor: op.Cursor}
	if len(op.Scopes) > 0 {
		row.Scope.Resource, row.Scope.Action, _ = strings.Cut(op.Scopes[0], ":")
	}
	form, resource := d.answer(op.Responses["200"])
	if resource == nil || resource.Ref == "" || d.resolved(resource) == nil || !d.resolved(resource).Resource {
		return row, fmt.Errorf("its 200 shows no component with x-resource")
	}
	row.Answer, row.Resource = form, componentOf(resource)
	for _, p := range d.resolved(resource).Properties {
		if p.value.Owner {
			row.Owner = append(row.Owner, p.name)
		}
	}
	for _, p := range slices.Concat(op.shared, op.Parameters) {
		if p.Ref != "" {
			p = d.Components.Parameters[strings.TrimPrefix(p.Ref, "#/components/parameters/")]
		}
		if err := row.parameter(p); err != nil {
			return row, fmt.Errorf("%s: %w", p.Name, err)
		}
	}
	if op.RequestBody == nil {
		return row, nil
	}
	row.Body = componentOf(op.RequestBody.Content[media].Schema)
	body := d.Components.Schemas.get(row.Body)
	if body == nil {
		return row, fmt.Errorf("its body is no component")
	}
	for _, p := range body.Properties {
		members := &row.Optional
		if slices.Contains(body.Required, p.name) {
			members = &row.Required
		}
		*members = append(*members, p.name)
		if p.value.Names != "" {
			row.Names = append(row.Names, Named{"body", p.name, p.value.Names})
		}
	}
	return row, nil
}

const media = "application/json"

// answer returns the outer form of the 200 body, and the resource in it.
func (d *document) answer(ok *body) (form identifier, resource *schema) {
	if ok == nil || ok.Content[media].Schema == nil {
		return "", nil
	}
	body := d.resolved(ok.Content[media].Schema)
	switch items := body.Properties.get("items"); {
	case body.Items != nil:
		return "Array", body.Items
	case items != nil && items.Items != nil:
		return "Page", items.Items
	}
	return "One", ok.Content[media].Schema
}

// parameter adds a parameter of the query, the filters that it is, or what the path names.
func (row *Operation) parameter(p *parameter) error {
	if p.In == "path" {
		if p.Names == "" {
			return fmt.Errorf("a path parameter needs x-names")
		}
		row.Names = append(row.Names, Named{"path", p.Name, p.Names})
		return nil
	}
	var values []string
	for _, value := range p.Schema.enum() {
		values = append(values, fmt.Sprint(value))
	}
	if p.Schema.Type == "boolean" {
		values = []string{"true", "false"}
	}
	key := p.Name
	for _, f := range p.Filters {
		if !slices.Contains(filterKinds, f.Kind) || f.Word == "" || len(f.Fields) == 0 {
			return fmt.Errorf("x-filter: it needs word, fields, and one kind of %s", strings.Join(filterKinds, ", "))
		}
		f.Key, f.Name, f.Values = cmp.Or(f.Key, p.Name), p.Name, values
		key = f.Key
		row.Filters = append(row.Filters, f)
	}
	row.Query = append(row.Query, Parameter{key, p.Name, p.NotShown, p.Names, values})
	return nil
}

// filters are the meanings of a parameter: one, or a list.
type filters []Filter

// UnmarshalYAML implements yaml.InterfaceUnmarshaler.
func (f *filters) UnmarshalYAML(unmarshal func(any) error) error {
	var all []Filter
	err := unmarshal(&all)
	if err != nil {
		all = make([]Filter, 1)
		err = unmarshal(&all[0])
	}
	*f = all
	return err
}
