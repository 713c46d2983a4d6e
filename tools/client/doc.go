// Package client is what a maintained generator makes of the OpenAPI document. Its test
// drives every operation of the reference server through the generated client. The
// package belongs to the module of the tools, so that the program needs no library of
// the generator.
package client

// go tool would ignore GOFLAGS and compile all that it needs once more.
//
//go:generate go run github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen -config config.yaml ../../schemas/openapi.yaml
