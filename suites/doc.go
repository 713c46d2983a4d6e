// Package suites judges a target: every requirement of the catalogue on every
// operation that it binds.
//
// A Spec is data: the operation, the requirements that it judges and the
// function that judges them. The files follow the specification's table of
// contents; rules that hold for all operations are written once, in loops over
// spec.Operations. What must hold for every answer (shapes, content types,
// error bodies) is judged by package judge on every exchange of every spec and
// charged to its own requirement, never to the spec at hand.
//
// Register turns the specs into a Ginkgo tree, for our own Run, for go test and
// for a vendor's repository alike. The package knows features, not products: it
// must not import refserver, and reaches a target through client alone.
package suites
