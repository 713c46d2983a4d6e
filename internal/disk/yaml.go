package disk

// This file reads YAML files that people write for the harness. It
// rejects unknown keys and values of another type than the field's. Every error
// names the file and the line.

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// Source is a YAML text to decode. Make one with New.
type Source struct {
	What  string         // what the text is, for errors: "profile"
	Name  string         // the file name in errors
	Lines map[string]int // line of each path, such as "keys[3].state"; Decode fills it
}

// New returns a source with that name.
func New(what, name string) Source { return Source{what, name, map[string]int{}} }

// ErrorAt returns an error that names the line of the path.
func (s Source) ErrorAt(path, format string, args ...any) error {
	return s.ErrorOn(s.Line(path), path, format, args...)
}

// Line returns the line of the path, or of its nearest known parent.
func (s Source) Line(path string) int {
	line, ok := s.Lines[path]
	for at := path; !ok && at != ""; line, ok = s.Lines[at] {
		at = at[:max(0, strings.LastIndexAny(at, ".["))]
	}
	return max(line, 1)
}

// ErrorOn returns an error that names the line and the path.
func (s Source) ErrorOn(line int, path, format string, args ...any) error {
	if path != "" {
		path += ": "
	}
	return fmt.Errorf("%s:%d: %s%s", s.Name, line, path, fmt.Sprintf(format, args...))
}

// byteOrderMark is U+FEFF, which some editors write at the start of a file.
var byteOrderMark = []byte("\uFEFF")

// lineAt returns the line of the byte at an offset, from 1.
func lineAt(data []byte, at int) int { return 1 + bytes.Count(data[:at], []byte("\n")) }

// notUTF8 returns the offset of the first byte that is not UTF-8, or -1.
func notUTF8(data []byte) int {
	for at := 0; at < len(data); {
		r, size := utf8.DecodeRune(data[at:])
		if r == utf8.RuneError && size == 1 {
			return at
		}
		at += size
	}
	return -1
}

// Decode reads one YAML document without anchors into the value that into points
// to. The YAML library alone would cut 1.5 to 1, read 30 as nanoseconds and lose
// the line of a bad duration.
func (s Source) Decode(data []byte, into any) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = s.ErrorOn(1, "", "the YAML reader failed on this text (%v): use plain mappings, lists and scalars", r)
		}
	}()
	data = bytes.TrimPrefix(data, byteOrderMark)
	if at := bytes.IndexByte(data, 0); at >= 0 {
		return s.ErrorOn(lineAt(data, at), "", "a NUL byte (is it text in UTF-8?)")
	}
	if at := notUTF8(data); at >= 0 {
		return s.ErrorOn(lineAt(data, at), "", "the byte %#02x is not UTF-8: save the file as UTF-8", data[at])
	}
	tokens := lexer.Tokenize(string(data))
	if err := s.checkNesting(tokens); err != nil {
		return err
	}
	file, err := parser.Parse(tokens, 0)
	if err != nil {
		return s.located(err)
	}
	docs := slices.DeleteFunc(file.Docs, func(d *ast.DocumentNode) bool { return d.Body == nil })
	if len(docs) == 0 {
		return s.ErrorOn(1, "", "the %s is empty", s.What)
	}
	if len(docs) > 1 {
		return s.ErrorOn(lineOf(docs[1].Body), "", "a second document begins here: keep one %s per file", s.What)
	}
	if err := s.check(docs[0].Body, reflect.TypeOf(into), ""); err != nil {
		return err
	}
	if err := yaml.NodeToValue(docs[0].Body, into, yaml.Strict()); err != nil {
		return s.located(err)
	}
	return nil
}

// deepest is the deepest nesting that is parsed. Written files need 5 levels,
// and the parser's time is quadratic in the depth.
const deepest = 16

// checkNesting bounds open brackets and the list items that begin on one line. The parser would call
// itself once for each anchor and tag.
func (s Source) checkNesting(tokens token.Tokens) error {
	brackets, items, line := 0, 0, 0
	for _, t := range tokens {
		if t.Position.Line != line {
			line, items = t.Position.Line, 0
		}
		switch t.Type {
		case token.SequenceStartType, token.MappingStartType:
			brackets++
		case token.SequenceEndType, token.MappingEndType:
			brackets--
		case token.SequenceEntryType:
			items++
		case token.TagType:
			return s.ErrorOn(line, "", "tags are not supported: put text that begins with ! in quotes, such as '%s'", t.Value)
		case token.AnchorType, token.AliasType, token.MergeKeyType:
			return s.ErrorOn(line, "", "anchors, aliases and merge keys are not supported: write the value out")
		}
		if brackets > deepest || items > deepest {
			return s.ErrorOn(line, "", "more than %d levels of nesting", deepest)
		}
	}
	return nil
}

// located turns an error of the YAML library into one with file and line.
func (s Source) located(err error) error {
	var syntax yaml.Error
	if errors.As(err, &syntax) && syntax.GetToken() != nil && syntax.GetToken().Position != nil {
		message := strings.Replace(syntax.GetMessage(), "allowed in this context", "allowed here (check the indentation of this line and of the one before)", 1)
		return s.ErrorOn(syntax.GetToken().Position.Line, "", "%s", message)
	}
	return s.ErrorOn(1, "", "%s", err)
}

func lineOf(n ast.Node) int {
	if t := n.GetToken(); t != nil && t.Position != nil {
		return t.Position.Line
	}
	return 1
}

// check checks the type of a node and records its lines.
func (s Source) check(node ast.Node, t reflect.Type, path string) error {
	if _, noted := s.Lines[path]; !noted {
		s.Lines[path] = lineOf(node)
	}
	wrong := func(want string) error {
		return s.ErrorOn(lineOf(node), path, "want %s, found %s", want, describe(node))
	}
	switch {
	case t.Kind() == reflect.Pointer:
		return s.check(node, t.Elem(), path)
	case t == reflect.TypeFor[time.Duration]():
		if text, ok := stringIn(node); !ok {
			return wrong(`a duration such as "30s" or "1m"`)
		} else if _, err := time.ParseDuration(text); err != nil {
			return wrong(`a duration such as "30s" or "1m"`)
		}
	case t.Kind() == reflect.String:
		if _, ok := stringIn(node); !ok {
			return wrong("a string (put it in quotes)")
		}
	case t.Kind() == reflect.Int:
		if _, ok := node.(*ast.IntegerNode); !ok {
			return wrong("a whole number")
		}
	case t.Kind() == reflect.Bool:
		if _, ok := node.(*ast.BoolNode); !ok {
			return wrong("true or false")
		}
	case t.Kind() == reflect.Float64:
		if !isNumber(node) {
			return wrong("a number")
		}
	case t.Kind() == reflect.Interface:
		return s.checkFree(node, path)
	case t.Kind() == reflect.Slice:
		list, ok := node.(*ast.SequenceNode)
		if !ok {
			return wrong("a list")
		}
		for i, item := range list.Values {
			if err := s.check(item, t.Elem(), fmt.Sprintf("%s[%d]", path, i)); err != nil {
				return err
			}
		}
	default:
		return s.checkEntries(node, t, path)
	}
	return nil
}

// checkFree checks a value of any type that JSON has, too.
func (s Source) checkFree(node ast.Node, path string) error {
	switch node.(type) {
	case ast.MapNode:
		return s.checkEntries(node, reflect.TypeFor[map[string]any](), path)
	case *ast.SequenceNode:
		return s.check(node, reflect.TypeFor[[]any](), path)
	case *ast.InfinityNode, *ast.NanNode:
		return s.ErrorOn(lineOf(node), path, "want a value that JSON has, found %s", describe(node))
	}
	return nil
}

// checkEntries checks a mapping for a struct or a map.
func (s Source) checkEntries(node ast.Node, t reflect.Type, path string) error {
	mapping, ok := node.(ast.MapNode)
	if !ok {
		return s.ErrorOn(lineOf(node), path, "want a mapping, found %s", describe(node))
	}
	known := FieldTypes(t)
	entries := mapping.MapRange()
	for entries.Next() {
		keyNode := entries.Key()
		name, ok := stringIn(keyNode)
		if !ok {
			return s.ErrorOn(lineOf(keyNode), path, "want a plain word as key, found %s", describe(keyNode))
		}
		elem := known[name]
		if t.Kind() == reflect.Map {
			elem = t.Elem()
		}
		if elem == nil {
			return s.ErrorOn(lineOf(keyNode), path, "unknown key %q (known keys: %s)", name, strings.Join(slices.Sorted(maps.Keys(known)), ", "))
		}
		below := name
		if path != "" {
			below = path + "." + name
		}
		if _, twice := s.Lines[below]; twice {
			return s.ErrorOn(lineOf(keyNode), below, "duplicate key: keep one")
		}
		s.Lines[below] = lineOf(keyNode)
		if entries.Value() == nil {
			return s.ErrorOn(lineOf(keyNode), below, "has no value: give one or remove the key")
		}
		if err := s.check(entries.Value(), elem, below); err != nil {
			return err
		}
	}
	return nil
}

// FieldTypes returns the types of a struct's fields by YAML name. It returns an
// empty map for any other type.
func FieldTypes(t reflect.Type) map[string]reflect.Type {
	known := map[string]reflect.Type{}
	if t.Kind() != reflect.Struct {
		return known
	}
	for field := range t.Fields() {
		switch name, options, _ := strings.Cut(field.Tag.Get("yaml"), ","); {
		case options == "inline":
			maps.Copy(known, FieldTypes(field.Type))
		case name != "" && name != "-":
			known[name] = field.Type
		}
	}
	return known
}

func stringIn(node ast.Node) (string, bool) {
	switch n := node.(type) {
	case *ast.StringNode:
		return n.Value, true
	case *ast.LiteralNode:
		return n.Value.Value, true
	default:
		return "", false
	}
}

func isNumber(node ast.Node) bool {
	switch n := node.(type) {
	case *ast.IntegerNode:
		return true
	case *ast.FloatNode:
		return !math.IsInf(n.Value, 0)
	}
	return false
}

// describe names the kind of a node. It hides the text, which may be a token.
func describe(node ast.Node) string {
	switch t := node.GetToken(); {
	case node.Type() == ast.NullType:
		return "nothing"
	case node.Type() == ast.StringType && t != nil && t.Type != token.StringType:
		return "a quoted string"
	}
	if words, ok := kinds[node.Type()]; ok {
		return words
	}
	return "something else"
}

// kinds names each kind of node in plain words.
var kinds = map[ast.NodeType]string{
	ast.BoolType: "true or false", ast.IntegerType: "a whole number",
	ast.FloatType: "a number with a fraction", ast.InfinityType: "infinity", ast.NanType: "not a number (.nan)",
	ast.StringType: "a string", ast.LiteralType: "a block of text",
	ast.MappingType: "a mapping", ast.MappingValueType: "a mapping", ast.SequenceType: "a list",
}

// Marshal writes a value so that Decode reads the same value. The YAML library
// alone omits some necessary quotes, such as before a question mark.
func Marshal(value any, options ...yaml.EncodeOption) ([]byte, error) {
	options = append(options, yaml.IndentSequence(true))
	node, err := yaml.ValueToNode(value, options...)
	if err != nil {
		return nil, err
	}
	ast.Walk(quoting{}, node)
	return yaml.MarshalWithOptions(node, options...)
}

// quoting adds quotes to the texts that need them.
type quoting struct{}

func (q quoting) Visit(node ast.Node) ast.Visitor {
	if text, ok := node.(*ast.StringNode); ok && !bare(text.Value) {
		text.Token.Type = token.DoubleQuoteType
	}
	return q
}

// bare reports whether a text is read correctly without quotes, after a key and
// in brackets. Texts that the library has already quoted begin with a quote.
func bare(s string) bool {
	if strings.HasPrefix(s, `"`) || strings.HasPrefix(s, "'") {
		return true
	}
	if strings.Contains(s, "\n") {
		return bareBlock(s)
	}
	var read struct {
		Key  string
		List []string
	}
	err := yaml.Unmarshal(fmt.Appendf(nil, "key: %[1]s\nlist: [%[1]s, end]\n", s), &read)
	return err == nil && read.Key == s && slices.Equal(read.List, []string{s, "end"})
}

// bareBlock reports whether a multi-line text is read correctly as a block.
func bareBlock(s string) bool {
	var read map[string]string
	written, err := yaml.Marshal(map[string]string{"key": s})
	return err == nil && yaml.Unmarshal(written, &read) == nil && read["key"] == s
}
