//go:build race

package testbed

// RaceDetector tells that the race detector is on. What only computes takes ten
// times as long with it and holds no races: such tests do a part of their cases
// then, and all of them without it, in CI under make truth or make documents.
const RaceDetector = true
