// Package testbed holds what the tests of several rooms share: the built program and its
// image, the need of a Docker engine, the test binary as another process, a server that
// implements only a part, questions to a reference server, and a search for keys in what is
// shown.
//
// Only tests may import it. It imports nothing of this module but fixtures, spec, the client and small
// helpers, so that a test in any package above them can use it.
package testbed
