// Package match has the Gomega matchers of specs. Gomega's own matchers do the rest: Be puts
// words to one of a JSON value.
package match
