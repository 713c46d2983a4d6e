// Package compare tests whether two targets behave differently under load.
//
// The targets are loaded in turns, in pairs of blocks: one of A and one of B,
// in random order. Each block yields a few figures. The test asks how often
// random orders would give differences as large as the measured ones if A and B
// were the same. It is exact for this design, however correlated the requests
// within a block are. Single requests are not compared: they are correlated,
// and tests that assume independence report false differences.
//
// The package is pure and imports no other package of this module.
package compare
