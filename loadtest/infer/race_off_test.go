//go:build !race

package infer

const raceDetector = false
