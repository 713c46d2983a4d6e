//go:build !race

package testbed

// RaceDetector is false: see race_on.go.
const RaceDetector = false
