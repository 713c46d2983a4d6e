// Package schemas holds the shapes of the API and checks JSON bodies against them.
//
// openapi.yaml is the one source of shapes. `go generate ./schemas` derives the
// draft-07 JSON Schemas in json/ and the field table of the package spec from it. A
// test fails if one of them is stale. To change a shape, change openapi.yaml and run
// the command. The derivation refuses an unknown keyword or string format, and a
// property that is neither required nor x-conditional. OpenAPI31 derives the document
// in OpenAPI 3.1 when a user asks for it.
//
// A Validator checks bodies. It decodes them strictly (Decode) and lets
// gojsonschema apply the schemas. It names the requirement of the catalogue for
// each violated rule, the requirements that a body exercised, and the
// undocumented fields. Undocumented fields are no violation, except where the
// specification closes a set of keys. The Validator remembers valid rows, so
// that a row costs one look-up when it returns.
//
// No package outside schemas imports gojsonschema or kin-openapi, except in
// tests. The package imports spec and nothing else of this module.
package schemas

//go:generate go run generate.go
