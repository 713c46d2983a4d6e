//go:build race

package main

// raceDetector leaves the documents' command lines to the tests without it (make
// documents): with it they take a minute, and the other scripts run all commands.
const raceDetector = true
