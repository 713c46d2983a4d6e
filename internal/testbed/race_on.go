//go:build race

package testbed

// RaceDetector is true if the race detector is on. It slows computation down
// tenfold, so that tests of computation leave cases out.
const RaceDetector = true
