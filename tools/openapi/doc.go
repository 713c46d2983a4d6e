// Package openapi lints the OpenAPI documents with two linters that share no code. It holds
// tests only. It is in the module tools, so that the program needs no library of a linter.
package openapi
