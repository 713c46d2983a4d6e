package derive

import (
	"strings"
	"testing"

	. "github.com/onsi/gomega"
)

// documentOf returns a document with a list and a get of a thing, and a request for one. The list has the
// query parameter.
func documentOf(thing, parameter string) []byte {
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
    post:
      operationId: things.change
      x-name: ChangeThing
      tags: [Things]
      summary: Change a thing
      parameters: [{name: id, in: path, required: true, schema: {type: string}, x-names: thing}]
      requestBody: {content: {application/json: {schema: {$ref: '#/components/schemas/Thing'}, example: {schema: {nonsense: true}}}}}
      ` + answer + `{$ref: '#/components/schemas/Thing'}}}}}
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

const (
	goodParameter = `{name: on, in: query, schema: {type: boolean}, x-name-not-shown: true, x-filter: [{key: lit, kind: exact, word: LIT, fields: [on]}]}`
	goodThing     = `
      x-resource: true
      type: object
      required: [id, parts]
      properties:
        id: {type: string, format: uuid, pattern: '^[0-9A-Fa-f]{8}-[0-9A-Fa-f]{4}-7[0-9A-Fa-f]{3}-[89ABab][0-9A-Fa-f]{3}-[0-9A-Fa-f]{12}$', x-format: uuid-v7, readOnly: true, description: d, example: e}
        secret: {type: boolean, writeOnly: true, x-conditional: why}
        level: {type: number, nullable: true, minimum: 1, maximum: 2, multipleOf: 1, x-enum: [1, 2], x-conditional: why, x-owner: true}
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
)

func TestFiles(t *testing.T) {
	g := NewWithT(t)
	files, err := Files(documentOf(goodThing, goodParameter))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(files).To(HaveLen(4), "the schemas of what is used, and the tables of operations and fields")
	schema := func(name, rest string) {
		g.Expect(files["schemas/json/"+name]).To(MatchJSON(`{"$schema":"http://json-schema.org/draft-07/schema#","$id":"https://outreach.example/schemas/` + name + `",
			"$comment":"` + Header + `","type":"object",` + rest + `}`))
	}
	const shared = `"level":{"type":["number","null"],"enum":[1,2,null]},
		"days":{"type":"object","properties":{"0":{"type":"boolean"},"1":{"type":"boolean"}},"additionalProperties":false},
		"free":{"type":"object","additionalProperties":{"type":["string","number","null"]}}`
	schema("Thing.schema.json", `"required":["id","parts"],"properties":{"id":{"type":"string","format":"uuid-v7"},
		"parts":{"type":"array","minItems":1,"items":{"$ref":"Part.schema.json"}},`+shared+`}`)
	schema("Part.schema.json", `"required":["size"],"properties":{"size":{"type":"number","minimum":0}}`)

	_, fields, _ := strings.Cut(string(files["spec/fields_gen.go"]), "[]Field{\n")
	g.Expect(strings.ReplaceAll(fields, "\t", "")).To(Equal(`{Resource: "Thing", Path: "id", Type: "a string", Value: "a UUID of version 7", Required: true},
{Resource: "Thing", Path: "level", Type: "a number or null", Value: "1 or 2", Conditional: "why"},
{Resource: "Thing", Path: "parts", Type: "an array", Value: "an array with a length of at least 1", Required: true},
{Resource: "Thing", Path: "parts.ITEM", Type: "an object", Conditional: "An array may be empty."},
{Resource: "Thing", Path: "parts.ITEM.size", Type: "a number", Value: "at least 0", Required: true},
{Resource: "Thing", Path: "days", Type: "an object", Value: "days", Conditional: "why"},
{Resource: "Thing", Path: "days.ENTRY", Type: "a boolean", Conditional: "any"},
{Resource: "Thing", Path: "free", Type: "an object", Conditional: "why"},
{Resource: "Thing", Path: "free.ENTRY", Type: "a string, a number or null", Conditional: "The keys are free."},
}
`))
	operations := strings.Join(strings.Fields(string(files["spec/operations_gen.go"])), " ")
	for _, want := range []string{
		`ListLeadThings = "lead-things.list" ChangeThing = "things.change" )`,
		`{ID: "lead-things.list", Method: "GET", Path: "/things", Section: "Things", Summary: "list things", Scope: Scope{Resource: "things", Action: "read"}, Answer: Page, Resource: "Thing", Cursor: "free",`,
		`Query: []Parameter{{Key: "lit", Name: "on", NotShown: true, Values: []string{"true", "false"}}},`,
		`Filters: []Filter{{Key: "lit", Name: "on", Kind: "exact", Word: "LIT", Fields: []string{"on"}, Values: []string{"true", "false"}}}, Owner: []string{"level"}},`,
		`Names: []Named{{In: "path", Field: "id", Kind: "thing"}}},`,
	} {
		g.Expect(operations).To(ContainSubstring(want))
	}
}

func TestWhatItDoesNotKnowIsAnError(t *testing.T) {
	for thing, want := range map[string]string{
		`{type: string, contentEncoding: base64}`:                                                             `unknown field "contentEncoding"`,
		`{type: string, x-surprise: 1}`:                                                                       `unknown field "x-surprise"`,
		`{type: object, required: [a], properties: {a: {oneOf: []}}}`:                                         `unknown field "oneOf"`,
		`{type: array, items: {const: 1}}`:                                                                    `unknown field "const"`,
		`{type: string, format: ipv4}`:                                                                        `unknown format "ipv4" (known are date`,
		`{type: string, format: uuid-v7}`:                                                                     `unknown format "uuid-v7"`,
		`{type: number, format: date}`:                                                                        `unknown format "date"`,
		`{type: string, format: double}`:                                                                      `unknown format "double"`,
		`{type: string, format: uuid, x-format: uuid}`:                                                        `unknown strict format uuid`,
		`{type: string, format: uuid, pattern: '^7$', x-format: uuid-v7}`:                                     `x-format uuid-v7 needs the format uuid, or none, and the pattern`,
		`{type: object, properties: {a: {$ref: '#/components/schemas/Part'}}}`:                                `a needs either an entry in required or a reason`,
		`{type: object, properties: {a: {type: string}}}`:                                                     `a needs either an entry in required or a reason`,
		`{type: object, required: [a], properties: {a: {x-conditional: b}}}`:                                  `a needs either an entry in required or a reason`,
		`{type: object, x-conditional-refs: {a: why}}`:                                                        `not a property with a $ref`,
		`{type: object, x-conditional-refs: [a]}`:                                                             `sequence was used where mapping is expected`,
		`{type: array, items: {$ref: '#/components/schemas/Nothing'}}`:                                        `names no entry`,
		`{type: array, items: {$ref: 'http://example.com/x'}}`:                                                `names no entry`,
		`{type: array, items: {$ref: '#/components/schemas/Part/x'}}`:                                         `names no entry`,
		`{type: array, items: {$ref: '#/components/schemas/Part', type: array}}`:                              `nothing may stand beside $ref`,
		`{type: number, nullable: true, enum: [1]}`:                                                           `x-enum in place of enum`,
		`{type: object, required: [b]}`:                                                                       `required names "b"`,
		`{type: object, required: [a], properties: {a: {pattern: x}}}`:                                        `Thing.a: its pattern or bounds need x-words`,
		`{anyOf: [{type: string, format: date}]}`:                                                             `an alternative has a type`,
		`{anyOf: [{nullable: true}]}`:                                                                         `an alternative has a type`,
		`{required: [a], properties: {a: {$ref: '#/components/schemas/Thing'}}}`:                              `contains itself`,
		`{type: object, required: [a.b], properties: {a.b: {type: string}}}`:                                  `cannot hold a dot`,
		`{type: number, minimum: x}`:                                                                          `minimum`,
		`{type: string, type: number}`:                                                                        `already`,
		`{additionalProperties: false, required: [a, b], properties: {a: {type: string}, b: {type: number}}}`: `one and the same type`,
	} {
		files, err := Files(documentOf("{x-resource: true, "+thing[1:], ""))
		NewWithT(t).Expect(err).To(MatchError(ContainSubstring(want)), "%s: %d files", thing, len(files))
	}
	for filter, want := range map[string]string{
		`{kind: near, word: W, fields: [a]}`:            "one kind of search, exact",
		`[{kind: exact, fields: [a]}]`:                  "lead-things.list: on: x-filter: it needs word, fields",
		`{kind: exact, word: W, fields: [a], wrong: b}`: `unknown field "wrong"`,
	} {
		_, err := Files(documentOf(goodThing, `{name: on, in: query, schema: {type: boolean}, x-filter: `+filter+`}`))
		NewWithT(t).Expect(err).To(MatchError(ContainSubstring(want)))
	}
	_, err := Files([]byte("a: ["))
	NewWithT(t).Expect(err).To(HaveOccurred())
}
