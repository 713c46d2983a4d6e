// Package suites is the Ginkgo tree that judges a target: every requirement of
// the catalogue on every operation that it binds.
//
// There is a file for each resource of the specification, with a Describe for
// each operation, and a file for each rule that cuts across operations
// (authentication, scopes, pagination, filters, errors, isolation, rate limits,
// shapes), which makes its nodes for each operation. What must hold for every
// response is judged by package judge on every exchange of every spec. It fails
// the spec that declares the rule, never the spec that happened to send the
// request.
//
// Specs are written with package api and package match. Package tree has Ginkgo run them: it
// selects them by their labels, orders them by the seed, and collects what they found out, as
// report entries. All results come from its report.
package suites
