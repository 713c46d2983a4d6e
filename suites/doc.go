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
// How to read a spec:
//
//   - A call names the requirement that another response breaks: MustBeRefused(id), MustGet(status,
//     id), Breaking(id) for a valid call. Do judges the response when it comes, so a body may have
//     no expectation at all. What MayBeRefused and MayGet allow is never charged.
//   - A valid call that names no requirement, and api.NotAssessed, end the spec: its checks are not
//     assessed. api.For(id).Missing says the same of one requirement, and the spec goes on.
//   - api.Expect charges the only requirement that the node declares with Requires, api.For(id) one
//     of several. A node with Rules only sends requests: package judge sees the responses.
//   - Read reads a whole list, Walk page by page. Shared is a whole list as the run read it last.
//     Ask reads what a generated query asks for. ListShowing reads again until rows show.
//   - Eventually only waits. Expect judges afterwards what was seen last.
//   - Each and Together run what they are given at the same time.
//   - Needs declares which inputs of the target profile a body takes beside those of a valid
//     request. Expends says how many subsequences it may delete if it stands in the container of
//     that operation.
//   - A test is an inbox placement test, the resource.
//
// Specs are written with package api, which has the matchers too. Package tree has Ginkgo run them: it
// selects them by their labels, orders them by the seed, and collects what they found out, as
// report entries. All results come from its report.
package suites
