//go:build !race

package docs

const raceDetector = false
