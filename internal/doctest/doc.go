// Package doctest keeps the documents true: figures and sample output are
// generated, and the links, flags, make targets and ids that they name exist.
//
// It has no code of its own and is imported by nothing.
package doctest
