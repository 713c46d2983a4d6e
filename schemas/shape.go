package schemas

import (
	"slices"
	"strconv"
	"strings"

	"outreach.example/conformance/spec"
)

// sheet is the field table of one resource, made ready for judging: a tree of
// shapes, and the requirements that the resource has.
type sheet struct {
	root *shape
	ids  []string // sorted; marks are positions in it
}

// shape is one field, or the resource itself, or any item or entry of one.
type shape struct {
	path  string // from the resource's name on, as in Judgement.Extra
	field spec.Field
	// Positions of its requirements in sheet.ids; none where there is no such requirement.
	typ, value, present int

	names       []string // documented fields, in the document's order
	fields      map[string]*shape
	item, entry *shape
}

const none = -1

// newSheets builds the sheets of all resources.
func newSheets() map[string]*sheet {
	sheets := map[string]*sheet{}
	for _, f := range spec.Fields() {
		s := sheets[f.Resource]
		if s == nil {
			s = &sheet{root: &shape{path: f.Resource, typ: none, value: none, present: none}}
			sheets[f.Resource] = s
		}
		s.ids = append(s.ids, requirementsOf(f)...)
	}
	for _, s := range sheets {
		slices.Sort(s.ids)
	}
	for _, f := range spec.Fields() {
		sheets[f.Resource].add(f)
	}
	return sheets
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

// add hangs a field into the tree; its parent stands before it in the table.
func (s *sheet) add(f spec.Field) {
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

// child returns the shape of what a key or an index leads to; nil for
// something that is not documented.
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

// marks is a set of positions in sheet.ids.
type marks []uint64

func newMarks(n int) marks { return make(marks, (n+63)/64) }

func (m marks) set(i int) {
	if i != none {
		m[i/64] |= 1 << (i % 64)
	}
}

func (m marks) add(other marks) {
	for i, word := range other {
		m[i] |= word
	}
}

// names appends the marked requirements.
func (m marks) names(to []string, s *sheet) []string {
	for i, id := range s.ids {
		if m[i/64]&(1<<(i%64)) != 0 {
			to = append(to, id)
		}
	}
	return to
}

// survey goes over a row and notes which requirements it puts to the test and
// which of its fields are not documented.
type survey struct {
	seen  marks
	extra map[string]bool
	// mistyped are the pointers of fields with a wrong type. Nothing but the
	// type is put to the test there.
	mistyped map[string]bool
}

func (s *survey) visit(at *shape, value any, pointer string) {
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

// below extends a pointer. Where nothing is mistyped no pointer is ever looked
// up, and building them would be most of the work.
func (s *survey) below(pointer, key string) string {
	if len(s.mistyped) == 0 {
		return ""
	}
	return pointer + "/" + escapePointer(key)
}
