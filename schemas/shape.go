package schemas

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"outreach.example/conformance/spec"
)

// fieldTable is the field table of one resource as a tree of shapes, with the
// requirements of the resource.
type fieldTable struct {
	root *shape
	ids  []string // sorted; an idSet holds positions in it
}

// shape is one field, the resource itself, or any item or entry of a field.
type shape struct {
	path  string // begins with the resource's name, as in Judgement.Extra
	field spec.Field
	// Positions of its requirements in fieldTable.ids, or none.
	typ, value, present int

	names       []string // documented fields, in the document's order
	fields      map[string]*shape
	item, entry *shape
}

const none = -1

// newFieldTables returns the tables of all resources by name.
func newFieldTables() map[string]*fieldTable {
	tables := map[string]*fieldTable{}
	for _, f := range spec.Fields() {
		s := tables[f.Resource]
		if s == nil {
			s = &fieldTable{root: &shape{path: f.Resource, typ: none, value: none, present: none}}
			tables[f.Resource] = s
		}
		s.ids = append(s.ids, requirementsOf(f)...)
	}
	for _, s := range tables {
		slices.Sort(s.ids)
	}
	for _, f := range spec.Fields() {
		tables[f.Resource].add(f)
	}
	return tables
}

func requirementsOf(f spec.Field) []string {
	ids := []string{f.Requirement(spec.Type)}
	if f.Value != "" {
		ids = append(ids, f.Requirement(spec.Value))
	}
	if f.Required {
		ids = append(ids, f.Requirement(spec.Present))
	}
	return ids
}

// add adds a field to the tree. Its parent was added before.
func (s *fieldTable) add(f spec.Field) {
	index := func(a spec.Aspect) int {
		if i, found := slices.BinarySearch(s.ids, f.Requirement(a)); found {
			return i
		}
		return none
	}
	leaf := &shape{path: f.Resource + "." + f.Path, field: f,
		typ: index(spec.Type), value: index(spec.Value), present: index(spec.Present)}
	parent, name := s.root, f.Path
	for {
		first, rest, nested := strings.Cut(name, ".")
		if !nested {
			break
		}
		parent, name = parent.child(first), rest
	}
	switch name {
	case "ITEM":
		parent.item = leaf
	case "ENTRY":
		parent.entry = leaf
	default:
		if parent.fields == nil {
			parent.fields = map[string]*shape{}
		}
		parent.fields[name] = leaf
		parent.names = append(parent.names, name)
	}
}

// child returns the shape of the value at a key or an index; nil if it is
// undocumented.
func (s *shape) child(key string) *shape {
	switch {
	case s == nil:
		return nil
	case s.item != nil:
		return s.item
	case s.entry != nil:
		return s.entry
	}
	return s.fields[key]
}

// maxRow is the length of the longest row, in bytes, whose values are all checked: the
// engine needs a kilobyte for each of its findings. maxParts is how many elements of an
// array and undocumented members of an object are checked in a longer row.
const (
	maxRow   = 64 << 10
	maxParts = 500
)

// excerpt returns the value without the elements and members beyond maxParts.
func (s *shape) excerpt(value any) any {
	switch value := value.(type) {
	case map[string]any:
		parts := map[string]any{}
		names := slices.Sorted(maps.Keys(value))
		for _, name := range slices.Concat(s.documented(), names[:min(len(names), maxParts)]) {
			if part, ok := value[name]; ok {
				parts[name] = s.child(name).excerpt(part)
			}
		}
		return parts
	case []any:
		parts := make([]any, min(len(value), maxParts))
		for i := range parts {
			parts[i] = s.child("").excerpt(value[i])
		}
		return parts
	}
	return value
}

// documented returns the names of the documented fields.
func (s *shape) documented() []string {
	if s == nil {
		return nil
	}
	return s.names
}

// idSet is a set of positions in fieldTable.ids, one bit each.
type idSet []uint64

func newIDSet(n int) idSet { return make(idSet, (n+63)/64) }

func (m idSet) set(i int) {
	if i != none {
		m[i/64] |= 1 << (i % 64)
	}
}

func (m idSet) add(other idSet) {
	for i, word := range other {
		m[i] |= word
	}
}

// names appends the requirements of the set.
func (m idSet) names(to []string, s *fieldTable) []string {
	for i, id := range s.ids {
		if m[i/64]&(1<<(i%64)) != 0 {
			to = append(to, id)
		}
	}
	return to
}

// survey collects the requirements that a row exercises, those of its numbers that are
// Unread, and its undocumented fields.
type survey struct {
	seen, unread idSet
	extra        map[string]bool
	// mistyped holds the pointers of fields with a wrong type. Such a field
	// exercises its type alone.
	mistyped map[string]bool
}

func (s *survey) visit(at *shape, value any, pointer string) {
	if value == Unread && !s.mistyped[pointer] {
		s.unread.set(at.typ)
		s.unread.set(at.value)
		return
	}
	s.seen.set(at.typ)
	if s.mistyped[pointer] || value == nil {
		return
	}
	s.seen.set(at.value)
	switch value := value.(type) {
	case map[string]any:
		if at.entry != nil {
			for key, entry := range value {
				s.visit(at.entry, entry, s.below(pointer, key))
			}
			return
		}
		for _, name := range at.names {
			child := at.fields[name]
			s.seen.set(child.present)
			if field, ok := value[name]; ok {
				s.visit(child, field, s.below(pointer, name))
			}
		}
		if len(at.names) > 0 {
			s.noteExtra(at, value)
		}
	case []any:
		if at.item != nil {
			for i, item := range value {
				s.visit(at.item, item, s.below(pointer, strconv.Itoa(i)))
			}
		}
	}
}

func (s *survey) noteExtra(at *shape, object map[string]any) {
	for key := range object {
		if at.fields[key] == nil {
			if s.extra == nil {
				s.extra = map[string]bool{}
			}
			s.extra[at.path+"."+clip(key)] = true
		}
	}
}

// below extends a pointer. It returns "" if no field is mistyped: nobody looks a
// pointer up then, and building them would be most of the work.
func (s *survey) below(pointer, key string) string {
	if len(s.mistyped) == 0 {
		return ""
	}
	return pointer + "/" + escapePointer(key)
}
