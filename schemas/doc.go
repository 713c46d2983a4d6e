// Package schemas holds the shapes of the API and judges bodies by them.
//
// openapi.yaml is the one source of shapes. From it `go generate ./schemas`
// derives the draft-07 JSON Schemas in json/, openapi-3.1.yaml and the field
// table of the package spec; a test fails when one of them is stale. To change
// a shape, change openapi.yaml and generate. A keyword or string format that
// the derivation does not know is an error, and so is a property that is
// neither required nor tells why it may be absent.
//
// The Validator judges bodies. It decodes strictly (Decode), lets gojsonschema
// apply the schemas, and names for each violated rule the requirement of the
// catalogue. It also tells which requirements a body put to the test at all,
// and which fields nobody documented. Documented types are demanded and
// undocumented fields tolerated, except where the specification closes a set
// of keys. Rows that it has seen before and found clean cost a look-up.
//
// Outside tests it is the only home of gojsonschema and kin-openapi. It imports
// spec and nothing else of this module; in particular no client, no suite and
// no server.
package schemas

//go:generate go run ./generate
