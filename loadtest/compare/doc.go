// Package compare tells whether two targets behave differently under load.
//
// The targets are loaded in turns: pairs of blocks, one of A and one of B, which
// of them first being chosen at random. Each block comes down to a few figures,
// and the test asks how often a random choice of the orders would have given
// differences as large as these if A and B were the same. It is exact for this
// design however the requests within a block hang together. Single requests are
// not compared: they are correlated, and tests that take them as independent see
// differences where there are none.
//
// The package is pure and imports no other package of ours.
package compare
