package derive

import (
	"encoding/json"
	"strings"
	"testing"
)

// documentOf wraps a component Thing, which an answer and a request carry.
func documentOf(thing string) []byte {
	return []byte(`
openapi: 3.0.3
info: {title: t, version: '1'}
paths:
  /things:
    post:
      operationId: things.create
      tags: [Things]
      summary: Create a thing
      requestBody:
        content:
          application/json:
            schema: {$ref: '#/components/schemas/Thing'}
            example: {schema: {nonsense: true}}
      responses:
        '200':
          description: d
          content:
            application/json:
              schema: {$ref: '#/components/schemas/Thing'}
components:
  schemas:
    Unused: {type: string}
    Part:
      type: object
      required: [size]
      properties:
        size: {type: number, format: double, minimum: 0, x-words: at least 0}
    Thing: ` + thing + "\n")
}

const goodThing = `
      x-resource: true
      type: object
      required: [id, parts]
      properties:
        id: {type: string, format: uuid, pattern: '^[0-9A-Fa-f]{8}-[0-9A-Fa-f]{4}-7[0-9A-Fa-f]{3}-[89ABab][0-9A-Fa-f]{3}-[0-9A-Fa-f]{12}$', x-format: uuid-v7, readOnly: true, description: d, example: e}
        secret: {type: boolean, writeOnly: true, x-conditional: why}
        level: {type: number, nullable: true, minimum: 1, maximum: 2, multipleOf: 1, x-enum: [1, 2], x-conditional: why}
        parts:
          type: array
          minItems: 1
          items: {$ref: '#/components/schemas/Part'}
        days:
          type: object
          additionalProperties: false
          x-words: days
          properties: {'0': {type: boolean, x-conditional: any}, '1': {type: boolean, x-conditional: any}}
          x-conditional: why
        free:
          type: object
          additionalProperties: {anyOf: [{type: string, nullable: true}, {type: number}]}
          x-conditional: why
`

func TestJSONSchemaVariants(t *testing.T) {
	files, err := Files(documentOf(goodThing))
	if err != nil {
		t.Fatal(err)
	}
	const head = `"$schema":"http://json-schema.org/draft-07/schema#","$id":"https://outreach.example/schemas/`
	const comment = `","$comment":"` + Header + `",`
	want := map[string]string{
		"Thing.schema.json": `{` + head + `Thing.schema.json` + comment + `"type":"object","required":["id","parts"],"properties":{` +
			`"id":{"type":"string","format":"uuid-v7"},"level":{"type":["number","null"],"enum":[1,2,null]},` +
			`"parts":{"type":"array","minItems":1,"items":{"$ref":"Part.schema.json"}},` +
			`"days":{"type":"object","properties":{"0":{"type":"boolean"},"1":{"type":"boolean"}},"additionalProperties":false},` +
			`"free":{"type":"object","additionalProperties":{"type":["string","number","null"]}}}}`,
		"Thing.request.schema.json": `{` + head + `Thing.request.schema.json` + comment + `"type":"object","required":["parts"],"properties":{` +
			`"secret":{"type":"boolean"},"level":{"type":["number","null"],"enum":[1,2,null]},` +
			`"parts":{"type":"array","minItems":1,"items":{"$ref":"Part.request.schema.json"}},` +
			`"days":{"type":"object","properties":{"0":{"type":"boolean"},"1":{"type":"boolean"}},"additionalProperties":false},` +
			`"free":{"type":"object","additionalProperties":{"type":["string","number","null"]}}},"additionalProperties":false}`,
		"Part.schema.json": `{` + head + `Part.schema.json` + comment + `"type":"object","required":["size"],"properties":{"size":{"type":"number","minimum":0}}}`,
		"Part.request.schema.json": `{` + head + `Part.request.schema.json` + comment + `"type":"object","required":["size"],"properties":{"size":{"type":"number","minimum":0}},` +
			`"additionalProperties":false}`,
	}
	for name, text := range want {
		if got := compact(t, files["schemas/json/"+name]); got != text {
			t.Errorf("%s:\n got %s\nwant %s", name, got, text)
		}
	}
	if len(files) != len(want)+2 {
		t.Errorf("%d files, want the schemas of what is used, and the tables of operations and fields", len(files))
	}
}

// compact removes the indentation and keeps the order of members.
func compact(t *testing.T, text []byte) string {
	t.Helper()
	if !json.Valid(text) {
		t.Fatalf("not JSON: %s", text)
	}
	var out strings.Builder
	for _, line := range strings.Split(string(text), "\n") {
		out.WriteString(strings.Replace(strings.TrimSpace(line), `": `, `":`, 1))
	}
	return out.String()
}

func TestFieldTable(t *testing.T) {
	files, err := Files(documentOf(goodThing))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		`{Resource: "Thing", Path: "id", Type: "a string", Value: "a UUID of version 7", Required: true},`,
		`{Resource: "Thing", Path: "level", Type: "a number or null", Value: "1 or 2", Conditional: "why"},`,
		`{Resource: "Thing", Path: "parts", Type: "an array", Value: "an array with a length of at least 1", Required: true},`,
		`{Resource: "Thing", Path: "parts.ITEM", Type: "an object", Conditional: "An array may be empty."},`,
		`{Resource: "Thing", Path: "parts.ITEM.size", Type: "a number", Value: "at least 0", Required: true},`,
		`{Resource: "Thing", Path: "days", Type: "an object", Value: "days", Conditional: "why"},`,
		`{Resource: "Thing", Path: "days.ENTRY", Type: "a boolean", Conditional: "any"},`,
		`{Resource: "Thing", Path: "free", Type: "an object", Conditional: "why"},`,
		`{Resource: "Thing", Path: "free.ENTRY", Type: "a string, a number or null", Conditional: "The keys are free."},`,
	}
	var got []string
	for _, line := range strings.Split(string(files["spec/fields_gen.go"]), "\n") {
		if strings.Contains(line, "Resource:") {
			got = append(got, strings.TrimSpace(line))
		}
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// listOf is a document with a list of things that has the query parameter, and a get.
func listOf(parameter string) []byte {
	const answer = "responses: {'200': {description: d, content: {application/json: {schema: "
	return []byte(`
openapi: 3.0.3
info: {title: t, version: '1'}
paths:
  /things:
    get:
      operationId: lead-things.list
      tags: [Things]
      summary: List things
      x-scopes: ['things:read', 'all:all']
      x-cursor: free
      parameters: [` + parameter + `]
      ` + answer + `{type: object, required: [items], properties: {items: {type: array, items: {$ref: '#/components/schemas/Thing'}}}}}}}}
  /options: {get: {operationId: options.list, x-shape-not-shown: true, ` + answer + `{}}}}}}}
  /things/{id}:
    get:
      operationId: things.get
      x-name: GetThing
      tags: [Things]
      summary: Get a thing
      parameters: [{name: id, in: path, required: true, schema: {type: string}, x-names: thing}]
      ` + answer + `{$ref: '#/components/schemas/Thing'}}}}}
components:
  schemas:
    Thing: {x-resource: true, type: object, required: [owner], properties: {owner: {type: string, x-owner: true}}}
`)
}

func TestOperationTable(t *testing.T) {
	files, err := Files(listOf(`{name: on, in: query, schema: {type: boolean}, x-name-not-shown: true, x-filter: [{key: lit, kind: exact, word: LIT, fields: [on]}]}`))
	if err != nil {
		t.Fatal(err)
	}
	got := strings.Join(strings.Fields(string(files["spec/operations_gen.go"])), " ")
	for _, want := range []string{
		`ListLeadThings = "lead-things.list" GetThing = "things.get" )`,
		`{ID: "lead-things.list", Method: "GET", Path: "/things", Section: "Things", Summary: "list things", Scope: Scope{Resource: "things", Action: "read"}, Answer: Page, Resource: "Thing", Cursor: "free",`,
		`Query: []Parameter{{Key: "lit", Name: "on", NotShown: true, Values: []string{"true", "false"}}},`,
		`Filters: []Filter{{Key: "lit", Name: "on", Kind: "exact", Word: "LIT", Fields: []string{"on"}, Values: []string{"true", "false"}}}, Owner: []string{"owner"}},`,
		`Names: []Named{{In: "path", Field: "id", Kind: "thing"}}},`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("the table of operations lacks\n%s\nin\n%s", want, got)
		}
	}
}

func TestBadFilters(t *testing.T) {
	for filter, want := range map[string]string{
		`{kind: near, word: W, fields: [a]}`:            "one kind of search, exact",
		`{kind: exact, word: W}`:                        "it needs word, fields",
		`{kind: exact, word: W, fields: [a], wrong: b}`: `unknown field "wrong"`,
		`[{kind: exact, fields: [a]}]`:                  "it needs word, fields",
	} {
		_, err := Files(listOf(`{name: on, in: query, schema: {type: boolean}, x-filter: ` + filter + `}`))
		if err == nil || !strings.Contains(err.Error(), "lead-things.list: on: x-filter: ") || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v; want %q", filter, err, want)
		}
	}
}

func TestWhatItDoesNotKnowIsAnError(t *testing.T) {
	cases := []struct{ name, thing, want string }{
		{"a keyword", `{type: string, contentEncoding: base64}`, `unknown keyword "contentEncoding"`},
		{"an extension keyword", `{type: string, x-surprise: 1}`, `unknown keyword "x-surprise"`},
		{"a keyword in a property", `{type: object, required: [a], properties: {a: {type: object, oneOf: []}}}`, `components.schemas.Thing.a: unknown keyword "oneOf"`},
		{"a keyword in items", `{type: array, items: {const: 1}}`, `components.schemas.Thing.items: unknown keyword "const"`},
		{"a format", `{type: string, format: ipv4}`, `unknown format "ipv4"; known are date`},
		{"a strict format as the format", `{type: string, format: uuid-v7}`, `unknown format "uuid-v7"`},
		{"a format of texts for a number", `{type: number, format: date}`, `unknown format "date"`},
		{"a format of numbers for a text", `{type: string, format: double}`, `unknown format "double"`},
		{"a standard format as the strict one", `{type: string, format: uuid, x-format: uuid}`, `unknown strict format uuid`},
		{"a strict format with another pattern", `{type: string, format: uuid, pattern: '^7$', x-format: uuid-v7}`, `x-format uuid-v7 needs the format uuid, or none, and the pattern`},
		{"a strict format without the standard one", `{type: string, x-format: uuid-v7}`, `x-format uuid-v7 needs`},
		{"a reason for no $ref", `{type: object, required: [a], properties: {a: {type: string}}, x-conditional-refs: {a: why}}`, `not a property with a $ref`},
		{"a reason for a required $ref", `{type: object, required: [a], properties: {a: {$ref: '#/components/schemas/Part'}}, x-conditional-refs: {a: why}}`, `either an entry in required or a reason`},
		{"reasons in a list", `{type: object, x-conditional-refs: [a]}`, `x-conditional-refs: wrong type`},
		{"a bad pattern", `{type: string, pattern: '('}`, `missing closing`},
		{"a component", `{type: array, items: {$ref: '#/components/schemas/Nothing'}}`, `"#/components/schemas/Nothing"`},
		{"a foreign $ref", `{type: array, items: {$ref: 'http://example.com/x'}}`, `external reference`},
		{"a keyword beside $ref", `{type: array, items: {$ref: '#/components/schemas/Part', nullable: true}}`, `nullable stands beside $ref`},
		{"a description beside $ref", `{type: array, items: {$ref: '#/components/schemas/Part', description: d}}`, `description stands beside $ref`},
		{"a nullable enum", `{type: number, nullable: true, enum: [1]}`, `x-enum in place of enum`},
		{"an optional property without reason", `{type: object, properties: {a: {type: string}}}`, `components.schemas.Thing.a: it needs either an entry in required or a reason`},
		{"a required property with a reason", `{type: object, required: [a], properties: {a: {type: string, x-conditional: why}}}`, `either an entry in required or a reason in x-conditional`},
		{"a required field that is none", `{type: object, required: [b]}`, `required names "b"`},
		{"a pattern without words", `{type: object, required: [a], properties: {a: {type: string, pattern: x}}}`, `Thing.a: its pattern or bounds need x-words`},
		{"an alternative that is more than a type", `{anyOf: [{type: string, format: date}]}`, `may hold type and nullable`},
		{"a shape inside itself", `{type: object, required: [a], properties: {a: {$ref: '#/components/schemas/Thing'}}}`, `contains itself`},
		{"a property name with a dot", `{type: object, required: [a.b], properties: {a.b: {type: string}}}`, `cannot hold a dot`},
		{"a $ref below a component", `{type: array, items: {$ref: '#/components/schemas/Part/properties/size'}}`, `names no entry`},
		{"a keyword in another letter case", `{type: string, Pattern: x}`, `unknown keyword "Pattern"`},
		{"a keyword of OpenAPI 3.1", `{type: string, const: x}`, `unknown keyword "const"`},
		{"an alternative without a type", `{anyOf: [{nullable: true}]}`, `needs a type`},
		{"an extension of a wrong type", `{type: string, x-words: 7}`, `x-words: wrong type`},
		{"a bound that is no number", `{type: number, minimum: x}`, `minimum`},
		{"a keyword of a wrong type", `{type: [string]}`, `type:`},
		{"entries of different types", `{type: object, additionalProperties: false, required: [a, b], properties: {a: {type: string}, b: {type: number}}}`, `one and the same type`},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			files, err := Files(documentOf("{x-resource: true, " + c.thing[1:]))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%d files, error %v; want %q", len(files), err, c.want)
			}
		})
	}
}

func TestBrokenDocuments(t *testing.T) {
	const head = "openapi: 3.0.3\ninfo: {title: t, version: '1'}\n"
	const answer = "components: {schemas: {Thing: {type: string}}}\npaths: {/x: {get: {responses: {'200': {description: d, "
	cases := []struct{ name, source, want string }{
		{"empty", "", "components.schemas is empty"},
		{"no YAML", "a: [", "did not find"},
		{"a list", "[]", "cannot unmarshal"},
		{"no schemas", head + "paths: {}\ncomponents: {}", "components.schemas is empty"},
		{"a schema that is a number", head + "paths: {}\ncomponents: {schemas: {Thing: 7}}", "cannot unmarshal"},
		{"a keyword in a response", head + answer + "content: {a/b: {schema: {surprise: 1}}}}}}}}",
			`paths./x.get.responses.200.content.a/b.schema: unknown keyword "surprise"`},
		{"a description beside a $ref in a response", head + answer + "content: {a/b: {schema: {$ref: '#/components/schemas/Thing', description: d}}}}}}}}",
			"description stands beside $ref"},
		{"a schema in a header", head + answer + "headers: {X: {schema: {type: string}}}}}}}}", "unknown place for a schema"},
		{"a key twice", head + "paths: {}\ncomponents: {schemas: {Thing: {type: string, type: number}}}", "already"},
		{"a document that kin-openapi refuses", head + "components: {schemas: {Thing: {type: string}}}", "invalid paths"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			files, err := Files([]byte(c.source))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%d files, error %v; want %q", len(files), err, c.want)
			}
		})
	}
}
