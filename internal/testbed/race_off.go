//go:build !race

package testbed

// RaceDetector tells that the race detector is on: see race_on.go.
const RaceDetector = false
