//go:build race

package docs

// raceDetector leaves the full run to the tests without it: make check runs
// those too, and with it a full run takes long and shows nothing else.
const raceDetector = true
