// Package testbed holds what the tests of several packages stand on: the built
// program and its image, the Docker engine, the test binary as another process,
// certificates, a server that implements only a part, questions to a reference server,
// a search for keys in what is shown, in any spelling, and whether the race detector is
// on. Its package hostile plays hostile targets.
//
// Only tests may import it. It imports nothing of this module but fixtures and
// spec, so that a test in any package above them can use it.
package testbed
