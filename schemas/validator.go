package schemas

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"outreach.example/conformance/spec"
)

// Validator checks bodies. It is safe for concurrent use. Use one per process: it
// caches valid rows.
type Validator struct {
	engine *engine
	tables map[string]*fieldTable
	clean  rowCache
}

// New returns a Validator with all schemas compiled.
func New() (*Validator, error) {
	e, err := newEngine()
	if err != nil {
		return nil, err
	}
	return &Validator{engine: e, tables: newFieldTables()}, nil
}

// Finding is one violated shape rule.
type Finding struct {
	Requirement string // id in the catalogue
	// Pointer (RFC 6901) leads from the body's root to the value, or to the place
	// of a missing field.
	Pointer  string
	Expected string
	Actual   string // JSON, or "absent"; at most 120 characters
}

// Judgement is the result of checking a body.
type Judgement struct {
	// Body is the decoded body, with numbers as json.Number; nil if it cannot be
	// decoded. Other judgements may share its rows: do not change it.
	Body     any
	Findings []Finding // in the order of the rows, then of the pointers
	// More counts the findings of each requirement beyond the first maxFindings.
	More map[string]int
	// Seen are the requirements that the body exercised, sorted. A present field
	// exercises TYPE and VALUE; a present parent exercises PRESENT of its fields.
	// A field that is null or has a wrong type exercises TYPE alone.
	Seen []string
	// Unread are the requirements whose value was Unread somewhere, sorted.
	Unread []string
	// Extra are the schema paths of undocumented fields, sorted, at most 100:
	// "Lead.foo", "Campaign.sequences.ITEM.foo", "LeadPage.foo".
	Extra []string
	// Twice are the names of members that an object has more than once, sorted, at most
	// 100. The last of them was judged.
	Twice []string
	// Err is a failure of the Validator itself. The other fields are empty then:
	// the body was not checked.
	Err error
}

// Bounds of a judgement. A page has at most 100 rows.
const (
	maxExtra    = 100
	maxFindings = 100  // of one requirement, with their details
	maxRows     = 2000 // of a list; further rows are not checked
)

// Answer checks the body of a response to op with status 200.
func (v *Validator) Answer(op spec.Operation, body []byte) Judgement {
	s := v.tables[op.Resource]
	if s == nil {
		return Judgement{Err: fmt.Errorf("schemas: operation %s: the resource %q has no field table", op.ID, op.Resource)}
	}
	a := &answer{validator: v, op: op, table: s, fields: newIDSet(len(s.ids)), unread: newIDSet(len(s.ids))}
	a.read(body)
	return a.judgement()
}

// answer collects the judgement of one body.
type answer struct {
	validator *Validator
	op        spec.Operation
	table     *fieldTable

	body     any
	findings []Finding
	found    map[string]int // number of findings of each requirement
	seen     []string
	fields   idSet // requirements of fields that the body exercised
	unread   idSet // those of numbers that are Unread
	extra    []string
	twice    []string
	err      error
}

func (a *answer) judgement() Judgement {
	if a.err != nil {
		return Judgement{Err: a.err}
	}
	seen := a.fields.names(a.seen, a.table)
	slices.Sort(seen)
	slices.Sort(a.extra)
	extra := slices.Compact(a.extra)
	slices.Sort(a.twice)
	var more map[string]int
	for requirement, n := range a.found {
		if n > maxFindings {
			if more == nil {
				more = map[string]int{}
			}
			more[requirement] = n - maxFindings
		}
	}
	return Judgement{Body: a.body, Findings: a.findings, More: more, Seen: seen, Unread: a.unread.names(nil, a.table), Extra: extra[:min(len(extra), maxExtra)], Twice: slices.Compact(a.twice)}
}

func (a *answer) find(requirement, pointer, expected, actual string) {
	a.add(Finding{requirement, pointer, expected, clip(actual)})
}

func (a *answer) add(f Finding) {
	if a.found == nil {
		a.found = map[string]int{}
	}
	if a.found[f.Requirement]++; a.found[f.Requirement] <= maxFindings {
		a.findings = append(a.findings, f)
	}
}

func (a *answer) read(body []byte) {
	a.seen = append(a.seen, "BODY-JSON")
	if a.op.Answer == spec.One {
		if row, ok := a.known(body); ok {
			a.seen = append(a.seen, "BODY-TYPE")
			a.body = row.value
			a.take(row)
			return
		}
	}
	list := &rowReader{inItems: a.op.Answer == spec.Page, find: a.known}
	d := decoder{data: body}
	if a.op.Answer != spec.One {
		d.rows = list
	}
	value, err := d.document()
	if a.err = beyondBounds(err); a.err != nil {
		return
	}
	a.twice = d.twice
	if err != nil {
		a.find("BODY-JSON", "", "one JSON value in UTF-8", err.Error())
		return
	}
	a.body = value
	a.seen = append(a.seen, "BODY-TYPE")
	switch a.op.Answer {
	case spec.One:
		a.one(value, body, d.size)
	case spec.Page:
		a.page(value, list.rows)
	case spec.Array:
		if _, ok := value.([]any); !ok {
			a.find("BODY-TYPE", "", "an array", render(value))
			return
		}
		a.list("BODY-TYPE", "", list.rows)
	}
}

func (a *answer) known(raw []byte) (*cleanRow, bool) {
	return a.validator.clean.find(a.table, int(a.op.Answer), raw)
}

func (a *answer) one(value any, raw []byte, size int) {
	object, ok := value.(map[string]any)
	if !ok {
		a.find("BODY-TYPE", "", "an object", render(value))
		return
	}
	a.row(object, readRow{raw: raw, size: size}, "")
}

func (a *answer) page(value any, rows []readRow) {
	page, ok := value.(map[string]any)
	if !ok {
		a.find("BODY-TYPE", "", "an object", render(value))
		return
	}
	a.seen = append(a.seen, "PAGE-ITEMS-PRESENT")
	items, present := page["items"]
	if !present {
		a.find("PAGE-ITEMS-PRESENT", "/items", "an array", "absent")
	} else {
		a.seen = append(a.seen, "PAGE-ITEMS-TYPE")
		if _, ok := items.([]any); !ok {
			a.find("PAGE-ITEMS-TYPE", "/items", "an array", render(items))
		}
		a.list("PAGE-ITEMS-TYPE", "/items", rows)
	}
	if cursor, present := page["next_starting_after"]; present {
		a.seen = append(a.seen, "PAGE-CURSOR-TYPE")
		if _, ok := cursor.(string); !ok && cursor != nil {
			a.find("PAGE-CURSOR-TYPE", "/next_starting_after", "a string or null", render(cursor))
		}
	}
	for key := range page {
		if key != "items" && key != "next_starting_after" {
			a.extra = append(a.extra, a.op.Resource+"Page."+clip(key))
		}
	}
}

// list checks the rows of a list. A row that is not an object violates notObject.
func (a *answer) list(notObject, prefix string, rows []readRow) {
	for i, row := range rows[:min(len(rows), maxRows)] {
		if row.known != nil {
			a.take(row.known)
			continue
		}
		pointer := prefix + "/" + strconv.Itoa(i)
		object, ok := row.value.(map[string]any)
		if !ok {
			a.find(notObject, pointer, "an object", render(row.value))
			continue
		}
		a.row(object, row, pointer)
	}
}

func (a *answer) take(row *cleanRow) {
	a.fields.add(row.seen)
	a.unread.add(row.unread)
	a.extra = append(a.extra, row.extra...)
}

// row checks one resource and caches it if it has no findings.
func (a *answer) row(object map[string]any, read readRow, prefix string) {
	checked := object
	if len(read.raw) > maxRow {
		checked, _ = a.table.root.excerpt(object).(map[string]any)
	}
	findings, mistyped, err := a.judge(checked)
	if err != nil {
		a.err = err
		return
	}
	s := survey{seen: newIDSet(len(a.table.ids)), unread: newIDSet(len(a.table.ids)), mistyped: mistyped}
	s.visit(a.table.root, object, "")
	row := &cleanRow{value: object, size: read.size, seen: s.seen, unread: s.unread}
	for path := range s.extra {
		row.extra = append(row.extra, path)
	}
	a.take(row)
	if len(findings) == 0 {
		a.validator.clean.keep(a.table, int(a.op.Answer), read.raw, row)
	}
	for _, f := range findings {
		f.Pointer = prefix + f.Pointer
		a.add(f)
	}
}

// judge returns the findings of the engine about one resource. mistyped holds
// the pointers of fields with a wrong type.
func (a *answer) judge(object map[string]any) (findings []Finding, mistyped map[string]bool, err error) {
	breaches, err := a.validator.engine.check(a.op.Resource+".schema.json", object)
	if err != nil {
		return nil, nil, err
	}
	for _, b := range breaches {
		if b.kind == wrongValue && b.value == Unread {
			continue
		}
		f, err := a.table.finding(b)
		if err != nil {
			return nil, nil, err
		}
		if b.kind == wrongType {
			if mistyped == nil {
				mistyped = map[string]bool{}
			}
			mistyped[f.Pointer] = true
		}
		findings = append(findings, f)
	}
	// gojsonschema reports in the order of a map. One value may violate a pattern
	// and a length.
	slices.SortFunc(findings, func(x, y Finding) int {
		return cmp.Or(strings.Compare(x.Pointer, y.Pointer), strings.Compare(x.Requirement, y.Requirement), strings.Compare(x.Actual, y.Actual))
	})
	return slices.CompactFunc(findings, func(x, y Finding) bool {
		return x.Pointer == y.Pointer && x.Requirement == y.Requirement
	}), mistyped, nil
}

// finding returns a breach as a finding with its requirement.
func (s *fieldTable) finding(b breach) (Finding, error) {
	tokens := b.tokens
	if b.kind == unknown {
		tokens = tokens[:len(tokens)-1] // the object's set of keys is what is wrong
	}
	at := s.root
	for _, token := range tokens {
		at = at.child(token)
	}
	if at == nil || at == s.root {
		return Finding{}, fmt.Errorf("schemas: %s violates a rule (%s) at %s: the field table has no such field", s.root.path, b.text, pointerTo(b.tokens))
	}
	f := Finding{Pointer: pointerTo(tokens)}
	aspect := spec.Value
	switch b.kind {
	case missing:
		aspect, f.Expected, f.Actual = spec.Present, at.field.Type, "absent"
		if at.field.RequiredBy() == "" {
			f.Expected += " (if your implementation leaves it out by design, list " + at.field.Name() + " under omits: in the profile)"
		}
	case wrongType:
		aspect, f.Expected, f.Actual = spec.Type, at.field.Type, render(b.value)
	case unknown:
		f.Expected, f.Actual = at.field.Value, clip("the key "+strconv.Quote(clip(b.tokens[len(b.tokens)-1])))
	default:
		f.Expected, f.Actual = at.field.Value, render(b.value)
		if strings.Contains(f.Expected, "UUID") {
			f.Actual = RenderID(b.value)
		}
	}
	f.Requirement = at.field.Requirement(aspect)
	return f, nil
}
