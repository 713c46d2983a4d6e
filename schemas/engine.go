package schemas

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/xeipuuv/gojsonschema"
)

// engine wraps gojsonschema. It compiles the embedded schemas, takes values from
// Decode only, and recovers from the panics of the library.
type engine struct {
	schemas map[string]*gojsonschema.Schema // by file name
}

// newEngine returns an engine with all schemas compiled.
func newEngine() (*engine, error) {
	registerFormats()
	files, err := fs.Glob(JSONSchemas(), "*.schema.json")
	if err != nil {
		return nil, err
	}
	loader := gojsonschema.NewSchemaLoader()
	loader.AutoDetect = false
	loader.Draft = gojsonschema.Draft7
	for _, file := range files {
		text, err := fs.ReadFile(JSONSchemas(), file)
		if err != nil {
			return nil, err
		}
		// Add every schema before compiling one: gojsonschema fetches an
		// unknown $ref over the network.
		if err := loader.AddSchema(schemaURL(file), gojsonschema.NewBytesLoader(text)); err != nil {
			return nil, fmt.Errorf("schemas: %s: %w", file, err)
		}
	}
	e := &engine{schemas: map[string]*gojsonschema.Schema{}}
	for _, file := range files {
		if e.schemas[file], err = loader.Compile(reference(file)); err != nil {
			return nil, fmt.Errorf("schemas: %s: %w", file, err)
		}
	}
	return e, nil
}

const idBase = "https://outreach.example/schemas/"

func schemaURL(file string) string { return idBase + file }

// reference returns a loader for a schema that was added before. It refuses to
// load anything else.
func reference(file string) gojsonschema.JSONLoader {
	return offline{gojsonschema.NewReferenceLoader(schemaURL(file))}
}

type offline struct{ gojsonschema.JSONLoader }

func (o offline) LoadJSON() (any, error) {
	return nil, fmt.Errorf("%v is not an embedded schema", o.JsonSource())
}
func (o offline) LoaderFactory() gojsonschema.JSONLoaderFactory { return offlineFactory{} }

type offlineFactory struct{}

func (offlineFactory) New(source string) gojsonschema.JSONLoader {
	return offline{gojsonschema.NewReferenceLoader(source)}
}

// breach is one violated keyword of a schema.
type breach struct {
	tokens []string // the path below the checked value, unescaped
	kind   breachKind
	text   string // gojsonschema's own description
	value  any    // at that path
}

type breachKind int

const (
	wrongType breachKind = iota
	missing              // tokens lead to the missing field
	unknown              // tokens lead to a forbidden key of a closed object
	wrongValue
)

// check returns the violations of a schema in a decoded value. An error is a
// failure of the engine and says nothing about the value.
func (e *engine) check(file string, value any) (breaches []breach, err error) {
	schema := e.schemas[file]
	if schema == nil {
		return nil, fmt.Errorf("schemas: no schema %s", file)
	}
	defer func() {
		if p := recover(); p != nil {
			breaches, err = nil, fmt.Errorf("schemas: gojsonschema panicked on %s: %v", file, p)
		}
	}()
	result, err := schema.Validate(gojsonschema.NewRawLoader(value))
	if err != nil {
		return nil, fmt.Errorf("schemas: %s: %w", file, err)
	}
	for _, found := range result.Errors() {
		b := breach{tokens: tokensOf(found.Context()), text: found.Description(), value: found.Value()}
		switch found := found.(type) {
		case *gojsonschema.InvalidTypeError:
			b.kind = wrongType
		case *gojsonschema.RequiredError:
			b.kind = missing
			b.tokens = append(b.tokens, detail(found, "property"))
		case *gojsonschema.AdditionalPropertyNotAllowedError:
			b.kind = unknown
			b.tokens = append(b.tokens, detail(found, "property"))
		case *gojsonschema.InternalError:
			return nil, errors.New("schemas: gojsonschema: " + found.Description())
		default:
			b.kind = wrongValue
		}
		breaches = append(breaches, b)
	}
	return breaches, nil
}

func detail(found gojsonschema.ResultError, name string) string {
	s, _ := found.Details()[name].(string)
	return s
}

// tokensOf splits a context into keys. gojsonschema joins keys without escapes,
// so that the delimiter is a byte that UTF-8 never contains.
func tokensOf(context *gojsonschema.JsonContext) []string {
	const delimiter = "\xff"
	return strings.Split(context.String(delimiter), delimiter)[1:] // without "(root)"
}

// pointerTo returns tokens as an RFC 6901 pointer.
func pointerTo(tokens []string) string {
	var b bytes.Buffer
	for _, token := range tokens {
		b.WriteByte('/')
		b.WriteString(escapePointer(token))
	}
	return b.String()
}

var pointerEscapes = strings.NewReplacer("~", "~0", "/", "~1")

func escapePointer(token string) string { return pointerEscapes.Replace(token) }
