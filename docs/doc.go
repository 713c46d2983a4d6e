// Package docs holds the documents that the README leads to. Its tests keep
// what the documents say true: figures and sample output are generated, and
// links, flags, make targets and ids that they name exist.
//
// It has no code of its own and is imported by nothing.
package docs
