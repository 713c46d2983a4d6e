//go:build race

package infer

// raceDetector leaves the whole grid to `make truth`: with the detector it takes
// minutes, and a part of it meets all of the code.
const raceDetector = true
