// Package suites is the Ginkgo tree that judges a target: every requirement of
// the catalogue on every operation that it binds.
//
// There is a file for each resource of the specification, with a Describe for
// each operation, and a file for each rule that cuts across operations
// (authentication, scopes, pagination, filters, errors, isolation, rate limits,
// shapes), which makes its nodes for each operation. What must hold for every
// response is judged by package judge on every exchange of every spec. It fails
// the spec that declares the rule, never the spec that happened to send the
// request. Each call declares which statuses the specification allows, so that no
// response goes without a verdict (verdicts.go).
//
// Ginkgo selects the specs by their labels, orders them by the seed, knows which
// run alone, limits their time and collects what they found out, as report
// entries. All results come from its report (Evidence).
//
// Ginkgo runs one spec at a time in a process. Run therefore asks Ginkgo first
// which specs it selects and in which order (PreviewSpecs), and starts their
// bodies early, as many as the profile's pace allows. Each node then waits for
// its own body, enters what the body found out into Ginkgo's report, and fails or
// skips. Under `go test` and `ginkgo` (Register) a node runs its body itself.
//
// A body depends on nothing but its API: client, random source, profile and time
// come from the Env. The package knows features, not products: it must not import
// the reference server, and it reaches a target through package client alone.
package suites
